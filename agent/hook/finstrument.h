/*
 * The hooks that the compiler calls (finstrument.c), by the agent's own names: the program
 * or another library may define functions with the compiler's names.
 */
#ifndef FXT_AGENT_FINSTRUMENT_H
#define FXT_AGENT_FINSTRUMENT_H

void agent_function_enter(void *function, void *call_site);
void agent_function_leave(void *function, void *call_site);

#endif
