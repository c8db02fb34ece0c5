/*
 * Ends of processes: those of children as whoever waits for them learns of them, and that of the process
 * itself, whose status is in the trace and which tells the manager that it is no crash.
 */
#ifndef FXT_AGENT_PROCESS_EXIT_H
#define FXT_AGENT_PROCESS_EXIT_H

#include <stdbool.h>

/* Once, in the constructor: learns of the end of the process. */
void agent_process_exit_prepare(void);

/* Tells the manager whether the calling thread is about to end the process, or its image by exec: then the
 * calls still open ended in order, its own now, and it is no crash. Taken back if the exec fails. */
void agent_process_ends(bool ends);

#endif
