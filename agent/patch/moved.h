/*
 * Carries out one entry of a plan (writer/shared/plan.h) in a loaded module. Copies the
 * moved instructions to a place near the module, and overwrites the first of them with a
 * jump to that place. All functions need the engine's lock, and the memory of this process
 * open (code.h).
 */
#ifndef FXT_AGENT_MOVED_H
#define FXT_AGENT_MOVED_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/process/modules.h"
#include "writer/shared/plan.h"

/* Whether all offsets of an entry lie in its code. The plan has `code_bytes` of code. */
bool agent_moved_is_valid(const struct fxt_plan_entry *entry, uint32_t code_bytes);

/* Whether the code in memory equals the planned code. It may belong to another file, or
 * contain a debugger's breakpoint or a prepared entry. */
bool agent_moved_fits(const struct agent_module_tables *module, const struct fxt_plan_entry *entry);

/* Stores the entry's moved instructions in `to`, adapted to lie at `place`. `code` is the
 * plan's. False: an address that they use is too far away. */
bool agent_moved_put(const struct agent_module_tables *module, const struct fxt_plan_entry *entry,
        const uint8_t *code, uint8_t *to, uint64_t place);

/* Writes the jump to `place`. False: the system does not allow it. */
bool agent_moved_jump(
        const struct agent_module_tables *module, const struct fxt_plan_entry *entry, uint64_t place);

#endif
