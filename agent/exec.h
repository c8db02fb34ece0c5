/*
 * Processes: what a program does to become another one or to have children, so that these are traced too, and
 * the instants that tell of it.
 */
#ifndef FXT_AGENT_EXEC_H
#define FXT_AGENT_EXEC_H

#include <stdbool.h>

/* Once, in the constructor of a managed process: how a new image finds the agent and the session. */
void agent_process_prepare(const char *socket_path);

/* ---- ends.c ---- */

/* Once, in the constructor: learns of the end of the process. */
void agent_ends_prepare(void);

/* ---- process.c ---- */

/* In the process that set the engine up: not in a forked child, nor in a vfork child that shares its memory.
 */
bool agent_is_own_process(void);

#endif
