/*
 * Sandboxes: a seccomp filter may kill the program for a system call of ours. The helper
 * thread ends before a filter is set, and from then on no path of ours makes a system call.
 * Threads continue recording into the rest of the buffer; after that, records are dropped
 * and counted. All records of new threads are dropped and counted too. A forked child or a
 * new image is not traced. A standalone recording ends here, because it could not be
 * written later.
 *
 * A restriction of one thread concerns that thread alone. Strict mode leaves it four system
 * calls and no time stamp counter; PR_SET_TSC takes only the counter. The thread's open
 * calls end there and all later ones are counted as lost. Other threads continue to be
 * recorded.
 */
#ifndef FXT_AGENT_SANDBOX_H
#define FXT_AGENT_SANDBOX_H

#include <stdbool.h>

/* True if a prctl() sets a seccomp filter. A filter that is NULL only asks what the kernel
 * supports. */
bool agent_prctl_confines(unsigned long operation, unsigned long a, unsigned long b);

/* Before a call that sets a filter. Afterwards no path of ours makes a system call; in
 * strict mode this holds for the calling thread. */
void agent_sandbox_begins(bool is_strict);

/* The call that was to set the filter failed: the program is as free as before. */
void agent_sandbox_withdrawn(void);

/* Before and after a prctl() with PR_SET_TSC, which takes the counter from the calling
 * thread or gives it back. */
void agent_clock_changes(unsigned long mode);
void agent_clock_has_changed(unsigned long mode, bool failed);

#endif
