/*
 * Excluded functions cost nothing, and no function does while no calls are recorded: the
 * call of a hook for such a function is patched out of the program (code.h), and put back
 * before the function may be recorded again.
 *
 *     hook                      helper                         the call's site
 *     function is excluded? --> is it to be patched? --------> call -> test
 *     (a mark in the table)     a change, a start, its end <-- test -> call
 *
 * A hook only notes its call site, without a lock. The helper's thread does the rest, for
 * all sites of the code around that one, so only one thread changes code. A site may serve
 * several functions. It is patched if all functions that it may serve, by the code around
 * it, are excluded. Before a function's mark is removed all sites are put back, exit hooks
 * first: a call that was entered with its hook then has its exit's hook.
 *
 * After the first change of the filter an open call ends as it began, so no site of a
 * function is patched while one of its calls is open. Before that change such a call would
 * be unrecorded anyway. A start ends all calls that were open at the stop before it.
 *
 * Sites are patched only while there is a helper that can put them back. A forked child
 * puts back the sites that it inherited, before its first call is recorded.
 */
#ifndef FXT_AGENT_PATCH_H
#define FXT_AGENT_PATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/base/self.h"

/* Sets the hooks. Sites are calls of these. */
void agent_patch_prepare(void (*enter)(void *, void *), void (*leave)(void *, void *));

void agent_patch_note(const void *function, uint64_t stack_pointer, bool is_exit);

/* A hook of an excluded function was called from the frame with that stack pointer. From
 * any context. After a call from a site that stays, the thread skips some calls before it
 * asks again: most of them bring nothing new. */
static inline void agent_patch_later(const void *function, uint64_t stack_pointer, bool is_exit)
{
	if (agent_self.patch_pause > 0)
		agent_self.patch_pause--;
	else
		agent_patch_note(function, stack_pointer, is_exit);
}

/* Patches the sites that hooks have noted, unless a change of the filter is under way. Runs
 * in the helper's thread. Returns after how many nanoseconds to call it again. */
uint64_t agent_patch_work(void);

/* Puts everything back. Runs in the helper's thread, or before there is one. */
void agent_patch_undo(void);

/* Puts everything back at the end of the helper, for good. */
void agent_patch_end(void);

/* The number of hook calls that are patched now. In a forked child: of those that it
 * inherited. */
uint32_t agent_patch_sites(void);

/* Puts the inherited sites back in a forked child, before anything of the child is
 * recorded. False: this is not possible. */
bool agent_patch_undo_inherited(void);

/* This code is about to be unmapped. With the engine's lock held. */
void agent_patch_retire(uint64_t start, uint64_t end);

#endif
