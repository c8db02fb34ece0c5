/* Gives out the room for thunks (thunk_blocks.h), and writes them there. */
#include "thunk_blocks.h"
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include "agent/base/self.h"
#include "agent/hook/argument_plans.h"
#include "agent/hook/returns.h"
#include "agent/hook/thunks.h"
#include "code.h"
#include "writer/shared/sys.h"

#define BLOCKS   512
#define PAGE     AGENT_THUNK_PAGE_BYTES
#define PER_PAGE (PAGE / AGENT_THUNK_BYTES - 1)
#define PAGES    (AGENT_THUNKS_BYTES / PAGE)

static struct agent_thunk_block blocks[BLOCKS];
/* what thunks call */
static struct agent_thunk_code thunk_code;

void agent_thunk_blocks_prepare(const struct agent_thunk_code *code)
{
	thunk_code = *code;
}

uint64_t agent_thunk_of_block(const struct agent_thunk_block *block, uint32_t number)
{
	return (uint64_t)(uintptr_t)agent_thunks + (uint64_t)(block->first_page + number / PER_PAGE) * PAGE +
	       (number % PER_PAGE + 1) * AGENT_THUNK_BYTES;
}

#if ARCH_HAS_THUNKS

/* Consecutive free pages; PAGES: there are none. */
static uint32_t blocks_find_pages(uint32_t pages)
{
	uint32_t first = 0;

	for (unsigned i = 0; i < BLOCKS; i++) {
		if (blocks[i].count && blocks[i].first_page < first + pages &&
		        first < blocks[i].first_page + blocks[i].pages) {
			first = blocks[i].first_page + blocks[i].pages;
			i = (unsigned)-1; /* look at all again */
		}
	}
	return first + pages <= PAGES ? first : PAGES;
}

static struct agent_thunk_block *blocks_find_free(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		if (!blocks[i].count)
			return &blocks[i];
	return NULL;
}

/* Makes the thunk for an address. */
static struct agent_thunk block_thunk(uint64_t address, struct agent_thunk_target to)
{
	bool has_arguments = agent_arguments_planned(to.function).call;

	if (has_arguments)
		add_relaxed(&agent_engine.control->thunks_with_arguments, 1);
	return agent_thunk_for(address, to.body, to.function, &thunk_code, has_arguments);
}

/* Writes the block's pages by way of `scratch`. */
static bool block_write(const struct agent_thunk_block *block, uint8_t *scratch,
        struct agent_thunk_target (*target)(const void *of, uint32_t number), const void *of)
{
	uint64_t first = (uint64_t)(uintptr_t)agent_thunks + (uint64_t)block->first_page * PAGE;
	size_t bytes = (size_t)block->pages * PAGE;

	for (uint32_t page = 0; page < block->pages; page++) {
		struct agent_thunk_page head = agent_thunk_page_for(first + (uint64_t)page * PAGE);

		memcpy(scratch + (size_t)page * PAGE, &head, sizeof(head));
	}
	for (uint32_t i = 0; i < block->count; i++) {
		uint64_t address = agent_thunk_of_block(block, i);
		struct agent_thunk thunk = block_thunk(address, target(of, i));

		memcpy(scratch + (address - first), &thunk, sizeof(thunk));
	}
	return !sys_is_error(sys_call6(SYS_mmap, (long)first, (long)bytes, PROT_READ | PROT_EXEC,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)) &&
	       agent_code_write_bytes(first, scratch, bytes);
}

bool agent_thunk_remake(
        const struct agent_thunk_block *block, uint32_t number, struct agent_thunk_target target)
{
	uint64_t address = agent_thunk_of_block(block, number);
	struct agent_thunk thunk = block_thunk(address, target);

	return agent_code_write_bytes(address, &thunk, sizeof(thunk));
}

struct agent_thunk_block *agent_thunk_block_make(
        uint32_t count, struct agent_thunk_target (*target)(const void *of, uint32_t number), const void *of)
{
	struct agent_thunk_block *block = blocks_find_free(), next = {.count = count};
	uint8_t *scratch;
	bool is_written;

	next.pages = (count + PER_PAGE - 1) / PER_PAGE;
	next.first_page = blocks_find_pages(next.pages);
	if (!block || !count || next.first_page == PAGES || !agent_returns_prepare())
		return NULL;
	scratch = sys_map((size_t)next.pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!scratch)
		return NULL;
	is_written = block_write(&next, scratch, target, of);
	sys_unmap(scratch, (size_t)next.pages * PAGE);
	if (!is_written)
		return NULL;
	*block = next;
	return block;
}

#endif

struct agent_thunk_block *agent_thunk_find_block(uint64_t address, uint32_t *number)
{
	uint64_t offset = address - (uint64_t)(uintptr_t)agent_thunks;
	uint32_t page = (uint32_t)(offset / PAGE), place = (uint32_t)(offset % PAGE / AGENT_THUNK_BYTES);

	if (!agent_is_thunk(address) || !place)
		return NULL;
	for (unsigned i = 0; i < BLOCKS; i++)
		if (blocks[i].count && page - blocks[i].first_page < blocks[i].pages) {
			*number = (page - blocks[i].first_page) * PER_PAGE + place - 1;
			return *number < blocks[i].count ? &blocks[i] : NULL;
		}
	return NULL;
}

void agent_thunk_block_free(struct agent_thunk_block *block)
{
	block->count = 0;
}
