/*
 * The agent in a process that runs already (fxtrun --attach). The launcher stops all
 * threads of the process and has one of them call, in this order:
 *
 *   dlopen("…/libfxtagent.so", RTLD_NOW | RTLD_GLOBAL)   its constructor does nothing
 *   fxt_agent_attach(settings, size)                      recording begins
 *   fxt_agent_detach()                                    later, as often as it attached
 *
 * RTLD_GLOBAL lets modules that are loaded later find __gmon_start__ (load.h). All other
 * names of the library but these three are hidden, so no look-up changes.
 *
 * The other threads are stopped during the last two, wherever they are, and none of them
 * has the loader's lock. These calls take no lock of libc's but that one. The agent's
 * helper, a thread that the agent makes, runs meanwhile. The address where the calling
 * thread was interrupted lies on the stack that it gets for the calls: no code changes
 * under it. After a detach the agent stays loaded and does nothing.
 */
#ifndef FXT_AGENT_ATTACH_H
#define FXT_AGENT_ATTACH_H

#include <stddef.h>

/*
 * Connects to the manager and begins to record for its session. `settings` are consecutive
 * strings "NAME=value", each ended by a zero, of `size` bytes in all: the variables that
 * fxtrun gives to a program. FXT_SOCKET must be among them.
 *
 * Returns 0, or an errno value with nothing changed: EINVAL: no settings, or the agent was
 * preloaded; EALREADY: it is attached; EAGAIN: a thread of an earlier attach has not ended
 * yet; ECONNREFUSED: the manager was not reached or refused the process. Then a notice says
 * why. Takes a second at most if the manager answers.
 */
int fxt_agent_attach(const char *settings, size_t size);

/*
 * Ends recording. Puts all slots and bytes back as they were. Returns 0, or an errno value
 * with recording going on: EINVAL: it is not attached; EAGAIN: a stopped thread is in the
 * middle of something that must be over first. The caller then lets the threads run for a
 * moment, and tries again.
 */
int fxt_agent_detach(void);

#endif
