/*
 * Interposes functions in a program that runs already (agent/process/attach.h). An agent
 * that was preloaded precedes libc, and the loader binds the program's calls to it. To one
 * that is loaded late nothing is bound. So it finds the slots through which modules call
 * the functions that it interposes, and writes the addresses of its own there:
 *
 *     program: call fork@plt --> jmp *slot --> the agent's fork --> libc's fork
 *
 * A slot counts only if it leads to the very function that the agent's would call, now or
 * once the loader has bound it. A plugin with an allocator of its own keeps it.
 */
#ifndef FXT_AGENT_REDIRECT_H
#define FXT_AGENT_REDIRECT_H

#include "agent/process/modules.h"

/* Redirects the slots of a module, if the agent was loaded late. Under the engine's lock. A
 * detach puts them back (changes.h). */
void agent_redirect(const struct agent_module_tables *module);

#endif
