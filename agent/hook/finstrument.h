/*
 * The hooks that the compiler calls (finstrument.c), by the agent's own names: the program
 * or another library may define functions with the compiler's names.
 */
#ifndef FXT_AGENT_FINSTRUMENT_H
#define FXT_AGENT_FINSTRUMENT_H

#include <stdbool.h>

void agent_function_enter(void *function, void *call_site);
void agent_function_leave(void *function, void *call_site);

/* Whether an object of the program's start has code that calls them. */
bool agent_finstrument_is_used(void);

/* Lets calls of the hooks be patched (agent/patch/patch.h). Called by the constructor. */
void agent_finstrument_prepare(void);

#endif
