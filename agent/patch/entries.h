/*
 * Prepared entries: room that the compiler left at the entry of each function
 * (-fpatchable-function-entry=5 or more). They are found when a module is loaded, before
 * any thread runs its code, and get a jump to a thunk there (agent/hook/prepared.h):
 *
 *     five bytes of no operation   90 90 90 90 90   as it was compiled
 *     test of a number             a9 rel32         not recorded: no effect but on flags
 *     jump to thunk or stub        e9 rel32         recorded
 *
 * From then on only the first byte changes, so it may change under running threads: each
 * executes the one or the other. The flags are free at a function's entry. A breakpoint
 * instruction meanwhile, as the usual protocol for five bytes has it, would kill threads
 * that block SIGTRAP.
 *
 * Sleds (sleds.h) are entries too: there, too, only the first byte changes later.
 *
 * Calls of prepared entries that are open when the byte changes return as they were
 * entered: their way back is on their stack. With sleds an exit is a place of its own, as
 * it is with hooks. So sleds at exits come on before those at entries, and the sleds of a
 * function that has an open call are not taken out (patch.h).
 *
 * All writing goes through /proc/self/mem (code.h). No page is ever writable and
 * executable.
 */
#ifndef FXT_AGENT_ENTRIES_H
#define FXT_AGENT_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/hook/thunks.h"
#include "agent/process/modules.h"
#include "sleds.h"

/* Thunks and sleds will call that code. Called before the first module is examined. */
void agent_entries_prepare(struct agent_thunk_code thunks, struct agent_sled_code sleds);

/* Finds the entries of a module. No thread executes its code yet. Writes a notice if there
 * are some that cannot be recorded. Under the engine's lock. */
void agent_entries_examine(const struct agent_module_tables *module);

/* Whether the function at that address has an entry or a sled. Under the engine's lock. */
bool agent_entries_has(uint64_t function);

/* The number of entries and sleds. */
uint32_t agent_entries_count(void);

/* Writes the entries after the recording of calls began or ended. Runs in the helper's
 * thread, or, with `is_helper` false, before there is one. */
void agent_entries_follow_recording(bool is_helper);

/* Whether the call that returns there is of that function's thunk, or at its sled. Under
 * the engine's lock. */
bool agent_entries_call(uint64_t from, uint64_t function);

/* Takes that entry out, or all sleds of the function. True if it is out. Runs in the
 * helper's thread, with the memory open and the engine's lock held, as does the next one. */
bool agent_entries_exclude(uint64_t from);

/* Puts back what was taken out: first all exits, and then, when all threads see these, all
 * entries. */
void agent_entries_include_all(bool are_exits);

/* The number of excluded ones. */
uint32_t agent_entries_excluded(void);

/* This code is about to be unmapped. With the engine's lock held. */
void agent_entries_retire(uint64_t start, uint64_t end);

#endif
