/*
 * Ends of processes: those of children as whoever waits for them learns of them, and that of the process
 * itself, whose status is in the trace and which tells the manager that it is no crash.
 */
#ifndef FXT_AGENT_PROCESS_EXIT_H
#define FXT_AGENT_PROCESS_EXIT_H

/* Once, in the constructor: learns of the end of the process. */
void agent_process_exit_prepare(void);

#endif
