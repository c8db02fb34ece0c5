/*
 * Carries out one entry of a plan (writer/shared/plan.h) in the module that has its file in
 * memory: puts the moved instructions to another place near it, and writes a jump there over
 * the first of them. All functions need the engine's lock, and the memory of this process
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

/* Whether the code in memory is what the plan was made for. It may be another file's, or a
 * debugger's breakpoint may be there, or something that was prepared. */
bool agent_moved_fits(const struct agent_module_tables *module, const struct fxt_plan_entry *entry);

/* Puts the entry's moved instructions, from the plan's code, into `to`, as they are to lie at
 * `place`. False: something that they use is too far. */
bool agent_moved_put(const struct agent_module_tables *module, const struct fxt_plan_entry *entry,
        const uint8_t *code, uint8_t *to, uint64_t place);

/* Writes the jump to `place`. False: the system does not allow it. */
bool agent_moved_jump(
        const struct agent_module_tables *module, const struct fxt_plan_entry *entry, uint64_t place);

#endif
