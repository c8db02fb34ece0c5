/*
 * Calls of functions that modules import (fxtrun --library-calls), in programs that were
 * not compiled for it. Such a call leads through a slot, a word with the function's address
 * that the loader has written. While calls are recorded, the slot has the address of a
 * thunk (agent/hook/thunks.h) instead:
 *
 *     program: call puts@plt --> jmp *slot --> thunk --> puts
 *
 * A function has one thunk, for the slots of all modules. Slots are aligned words, so a
 * thread finds the one address or the other. Calls that are open when a slot changes return
 * as they were entered.
 *
 * Slots and thunks are written through /proc/self/mem (code.h): the loader has made most
 * slots read-only.
 */
#ifndef FXT_AGENT_IMPORTS_H
#define FXT_AGENT_IMPORTS_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/process/modules.h"

/* Finds the imports of a module, if the session records library calls. The module's entries
 * (entries.h) and those of the modules it imports from are known. Writes a notice if they
 * cannot be recorded. Under the engine's lock. */
void agent_imports_examine(const struct agent_module_tables *module);

/* The number of functions with thunks. */
uint32_t agent_imports_count(void);

/* Writes the slots after the recording of calls began or ended. Runs in the helper's
 * thread, or, with `is_helper` false, before there is one. */
void agent_imports_follow_recording(bool is_helper);

/* Whether the call that returns there is of that function's thunk. Under the engine's
 * lock. */
bool agent_imports_call(uint64_t from, uint64_t function);

/* Takes that function out. Runs in the helper's thread, with the memory open and the
 * engine's lock held, as does the next one. */
void agent_imports_exclude(uint64_t from);

/* Puts back all that were taken out. */
void agent_imports_include_all(void);

/* The number of excluded ones. */
uint32_t agent_imports_excluded(void);

/* This code is about to be unmapped, with the module that has it. With the engine's lock
 * held. */
void agent_imports_retire(uint64_t start, uint64_t end);

#endif
