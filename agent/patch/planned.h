/*
 * Functions that nothing was prepared in (--patch). The manager plans how they can be
 * recorded (writer/shared/plan.h); the plan is carried out here, before any thread executes
 * the module's code:
 *
 *     function: jmp --> stub:  jmp *way        way: the thunk, or `moved`
 *               rest <--.      moved: the first instructions
 *                       '------------ jmp
 *     thunk's body = moved
 *
 * The jump stays. Whether calls are recorded is in `way`, a word of data: a thread takes
 * the one or the other, and no code changes under it. So an excluded function costs three
 * jumps.
 *
 * Memory for stubs, moved instructions and ways lies near the module. All functions need
 * the engine's lock; entries.c calls them.
 */
#ifndef FXT_AGENT_PLANNED_H
#define FXT_AGENT_PLANNED_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/process/modules.h"

/* Asks for the module's plan, and carries it out. `is_on`: its calls are recorded. */
void agent_planned_take(const struct agent_module_tables *module, bool is_on);

/* Whether calls of that function are recorded by a plan. */
bool agent_planned_has(uint64_t function);

/* The number of functions that plans record, and of those excluded now. */
uint32_t agent_planned_count(void);
uint32_t agent_planned_excluded(void);

/* Call it after the recording of calls began or ended. */
void agent_planned_follow_recording(bool is_on);

/* As in entries.h: whether that address is in the thunk of that function; excludes the
 * function of a thunk. */
bool agent_planned_call(uint64_t from, uint64_t function);
bool agent_planned_exclude(uint64_t from);
void agent_planned_include_all(bool is_on);

/* This code is about to be unmapped. */
void agent_planned_retire(uint64_t start, uint64_t end);

#endif
