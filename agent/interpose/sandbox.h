/*
 * Sandboxes: a seccomp filter may kill the program for a system call that it does not make itself. Before one
 * is set the helper thread ends, and from then on no path of ours makes a system call. Threads go on
 * recording into what is left of the buffer; then records are dropped and counted, as are all of new threads.
 * A forked child, or a new image, is not traced. A standalone recording ends here, as nobody could write it
 * later.
 *
 * What one thread may not do concerns that thread alone: strict mode leaves it four system calls and no time
 * stamp counter, PR_SET_TSC takes the counter alone. Its open calls end there, all that it calls later is
 * counted as lost, and other threads go on being recorded.
 */
#ifndef FXT_AGENT_SANDBOX_H
#define FXT_AGENT_SANDBOX_H

#include <stdbool.h>

/* Whether a prctl() sets a seccomp filter; one that is NULL only asks what the kernel can. */
bool agent_prctl_confines(unsigned long operation, unsigned long a, unsigned long b);

/* Before a call that does: afterwards no path of ours makes a system call, or in strict mode none of this
 * thread.
 */
void agent_sandbox_begins(bool is_strict);

/* That call failed: the program is as free as before. */
void agent_sandbox_withdrawn(void);

/* Around a prctl() with PR_SET_TSC, which takes the counter from the calling thread or gives it back. */
void agent_clock_changes(unsigned long mode);
void agent_clock_has_changed(unsigned long mode, bool failed);

#endif
