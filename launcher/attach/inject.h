/*
 * Makes a running process load the agent and begin to record, and later stop recording.
 *
 *   thread A        stops where it holds no lock, and calls dlopen()     the others run
 *                   calls dl_iterate_phdr(): inside its callback no
 *                   thread changes the list of modules
 *   the others      stop, wherever they are
 *   thread A        calls fxt_agent_attach() or fxt_agent_detach() inside the callback
 *   all             go on where they were
 *
 * Only thread A must be at a safe place. dlopen() may wait for locks of other threads,
 * which run meanwhile.
 */
#ifndef FXT_LAUNCHER_ATTACH_INJECT_H
#define FXT_LAUNCHER_ATTACH_INJECT_H

#include <stddef.h>
#include <sys/types.h>
#include "waiting.h"

/* Limits of both functions; a process that is not at a safe place by then is left alone. */
#define FXT_INJECT_SECONDS 10

/* Both return 0, or -1 and one line in error[error_bytes]. They must be called by a process
 * that has SIGCHLD blocked and ends soon afterwards: its end releases threads that could
 * not be released before. */

/* `agent` is the path of libfxtagent.so, `settings` are variables for
 * fxt_agent_attach(). `waiting` gets the threads that wait. */
int fxt_inject_attach(pid_t pid, const char *agent, const char *settings, size_t settings_bytes,
        struct fxt_waiting_list *waiting, char *error, size_t error_bytes);
/* A process that a signal has stopped is left as it is. */
int fxt_inject_detach(pid_t pid, const char *agent, char *error, size_t error_bytes);

#endif
