/* Carries out single entries of plans (moved.h). */
#include "moved.h"
#include <string.h>
#include "changes.h"
#include "code.h"
#include "stopped.h"

bool agent_moved_is_valid(const struct fxt_plan_entry *e, uint32_t code_bytes)
{
	if (e->code > code_bytes || e->code_bytes > code_bytes - e->code ||
	        e->original_bytes < FXT_PLAN_JUMP_BYTES || e->original_bytes > FXT_PLAN_ORIGINAL_BYTES ||
	        (e->constant && e->constant + sizeof(uint64_t) > e->code_bytes))
		return false;
	for (unsigned i = 0; i < FXT_PLAN_FIXUPS && e->fixups[i]; i++)
		if (e->fixups[i] + sizeof(int32_t) > e->code_bytes)
			return false;
	return true;
}

bool agent_moved_fits(const struct agent_module_tables *module, const struct fxt_plan_entry *e)
{
	uint8_t now[FXT_PLAN_ORIGINAL_BYTES];
	uint64_t address = module->base + e->address;

	return address >= module->low && address + e->original_bytes <= module->high &&
	       agent_code_is_of_file(address) && agent_code_read(address, now, e->original_bytes) &&
	       memcmp(now, e->original, e->original_bytes) == 0 &&
	       !agent_stopped_in(address, address + e->original_bytes);
}

bool agent_moved_put(const struct agent_module_tables *module, const struct fxt_plan_entry *e,
        const uint8_t *code, uint8_t *to, uint64_t place)
{
	int64_t moved_by = (int64_t)(place - (module->base + e->address));

	memcpy(to, code + e->code, e->code_bytes);
	for (unsigned i = 0; i < FXT_PLAN_FIXUPS && e->fixups[i]; i++) {
		int32_t distance;
		int64_t now;

		memcpy(&distance, to + e->fixups[i], sizeof(distance));
		now = distance - moved_by;
		distance = (int32_t)now;
		if (distance != now)
			return false;
		memcpy(to + e->fixups[i], &distance, sizeof(distance));
	}
	if (e->constant) {
		uint64_t address;

		memcpy(&address, to + e->constant, sizeof(address));
		address += module->base;
		memcpy(to + e->constant, &address, sizeof(address));
	}
	return true;
}

bool agent_moved_jump(
        const struct agent_module_tables *module, const struct fxt_plan_entry *e, uint64_t place)
{
	uint64_t address = module->base + e->address;
	int32_t distance = (int32_t)(place - (address + FXT_PLAN_JUMP_BYTES));
	uint8_t jump[FXT_PLAN_JUMP_BYTES] = {0xe9};

	memcpy(jump + 1, &distance, sizeof(distance));
	return agent_change_code(address, jump, sizeof(jump));
}
