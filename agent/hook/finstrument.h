/*
 * The hooks that the compiler calls (finstrument.c), as they are here: the program or another library may
 * have functions of the same names.
 */
#ifndef FXT_AGENT_FINSTRUMENT_H
#define FXT_AGENT_FINSTRUMENT_H

void agent_function_enter(void *function, void *call_site);
void agent_function_leave(void *function, void *call_site);

#endif
