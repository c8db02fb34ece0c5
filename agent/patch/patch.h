/*
 * Excluded functions cost nothing, and no function does while no calls are recorded: where a hook is
 * called for one, the call is taken out of the program (code.h), and put back before the function may be
 * recorded again.
 *
 *     hook                      helper                         the call's site
 *     function is left out? --> is it to be taken out? ------> call -> test
 *     (a mark in the table)     a change, a start, its end <-- test -> call
 *
 * A hook only notes where it was called from, without a lock, and the helper's thread does the rest, for all
 * sites of the code around that one: so there is one who changes code at a time. A site may serve several
 * functions; it is taken out if all that it may serve, by the code around it, are left out. Before a
 * function's mark is taken away all sites are put back, those of exits first: a call that was entered with
 * its hook has its exit's hook.
 *
 * After the first change of the filter a call that is open ends as it began, so no site of a function is
 * taken out while one of its calls is open. Before that it would be left out anyway; and a start ends all
 * calls that were open at the stop before it.
 *
 * Sites are taken out only while a helper is there that can put them back. A forked child puts back what it
 * inherited, before its first call is recorded.
 */
#ifndef FXT_AGENT_PATCH_H
#define FXT_AGENT_PATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/base/self.h"

/* The hooks, for which sites are looked for. */
void agent_patch_prepare(void (*enter)(void *, void *), void (*leave)(void *, void *));

void agent_patch_note(const void *function, uint64_t stack_pointer, bool is_exit);

/* A hook of an excluded function was called from the frame with that stack pointer. From any context.
 * A thread that came from a site that stays does not ask for a while: there is nothing new to most of them.
 */
static inline void agent_patch_later(const void *function, uint64_t stack_pointer, bool is_exit)
{
	if (agent_self.patch_pause > 0)
		agent_self.patch_pause--;
	else
		agent_patch_note(function, stack_pointer, is_exit);
}

/* In the helper's thread: takes out what hooks have noted, unless a change of the filter is under way.
 * Returns after how many nanoseconds to call it again. */
uint64_t agent_patch_work(void);

/* Puts everything back. In the helper's thread, or before there is one. */
void agent_patch_undo(void);

/* The same at the end of the helper, for good. */
void agent_patch_end(void);

/* How many calls of hooks are taken out now. In a forked child: of what it inherited. */
uint32_t agent_patch_sites(void);

/* In a forked child, before anything of it is recorded. False: it cannot be put back. */
bool agent_patch_undo_inherited(void);

/* That code is about to be unmapped. With the engine's lock held. */
void agent_patch_retire(uint64_t start, uint64_t end);

#endif
