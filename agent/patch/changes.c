/* Notes changes and undoes them (changes.h), on the threads that make them. */
#include "changes.h"
#include <string.h>
#include <sys/mman.h>
#include "agent/base/symbols.h"
#include "code.h"
#include "stopped.h"
#include "writer/shared/sys.h"

struct change {
	uint64_t address; /* 0: forgotten */
	uint8_t bytes;
	bool is_slot;
	uint8_t before[AGENT_CHANGE_BYTES], after[AGENT_CHANGE_BYTES];
};

#define BLOCK_BYTES (UINT64_C(64) << 10)
#define PER_BLOCK   (BLOCK_BYTES / sizeof(struct change) - 1)

static struct block {
	struct block *next;
	uint64_t count;
	struct change changes[];
} * newest;

static struct change *change_new(void)
{
	struct block *block = newest;

	if (!block || block->count == PER_BLOCK) {
		block = sys_map(BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (!block)
			return NULL;
		block->next = newest;
		newest = block;
	}
	return &block->changes[block->count++];
}

/* Calls the function for each change, the newest first. Returns whether it was true once. */
static bool changes_each(bool (*function)(struct change *change))
{
	bool is_any = false;

	for (struct block *block = newest; block; block = block->next)
		for (uint64_t i = block->count; i-- > 0;)
			is_any = (block->changes[i].address && function(&block->changes[i])) || is_any;
	return is_any;
}

static bool change_write(uint64_t address, const void *bytes, size_t count, bool is_slot)
{
	struct change *change = agent_is_late() ? change_new() : NULL;

	if (change && !agent_code_read(address, change->before, count))
		return false;
	if (!agent_code_write_bytes(address, bytes, count))
		return false;
	if (!change)
		return !agent_is_late();
	memcpy(change->after, bytes, count);
	change->bytes = (uint8_t)count;
	change->is_slot = is_slot;
	change->address = address;
	return true;
}

bool agent_change_code(uint64_t address, const void *bytes, size_t count)
{
	return change_write(address, bytes, count, false);
}

bool agent_change_slot(uint64_t address, uint64_t function)
{
	return change_write(address, &function, sizeof(function), true);
}

static bool change_is_entered(struct change *change)
{
	return !change->is_slot && agent_stopped_in(change->address, change->address + change->bytes);
}

bool agent_changes_are_entered(void)
{
	return changes_each(change_is_entered);
}

/* One byte of changed code switches recording on and off. */
static bool change_is_ours(const struct change *change, const uint8_t *now)
{
	unsigned others = 0;

	for (unsigned i = 0; i < change->bytes; i++)
		others += now[i] != change->after[i];
	return others <= !change->is_slot;
}

static bool change_put_back(struct change *change)
{
	uint8_t now[AGENT_CHANGE_BYTES];

	if (agent_code_read(change->address, now, change->bytes) && change_is_ours(change, now) &&
	        agent_code_write_bytes(change->address, change->before, change->bytes))
		memcpy(change->after, now, change->bytes);
	else
		change->address = 0;
	if (change->is_slot)
		change->address = 0;
	return false;
}

void agent_changes_put_back(void)
{
	changes_each(change_put_back);
}

static bool change_repeat(struct change *change)
{
	uint8_t now[AGENT_CHANGE_BYTES];

	if (!agent_code_read(change->address, now, change->bytes) ||
	        memcmp(now, change->before, change->bytes) != 0 || change_is_entered(change) ||
	        !agent_code_write_bytes(change->address, change->after, change->bytes))
		change->address = 0;
	return false;
}

void agent_changes_repeat(void)
{
	changes_each(change_repeat);
}

void agent_changes_retire(uint64_t start, uint64_t end)
{
	for (struct block *block = newest; block; block = block->next)
		for (uint64_t i = 0; i < block->count; i++)
			if (block->changes[i].address - start < end - start)
				block->changes[i].address = 0;
}
