/* Ends of processes. A child's end is recorded when the program waits for it. The process's
 * own end is recorded with its status, and is reported to the manager so that it is not
 * taken for a crash. */
#ifndef FXT_AGENT_PROCESS_EXIT_H
#define FXT_AGENT_PROCESS_EXIT_H

#include <stdbool.h>

/* Once, in the constructor: registers the handler for the end of the process. */
void agent_process_exit_prepare(void);

/* Reports to the manager whether the calling thread is about to end the process by an exit,
 * or its image by exec. Then the end is no crash: the calls still open ended in order,
 * those of this thread now. Taken back if the exec fails. */
void agent_process_ends(bool ends);

#endif
