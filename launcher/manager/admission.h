/*
 * Decides which processes that say hello are recorded: those that --follow names, as long
 * as the machine has memory for them. The others run untraced.
 */
#ifndef FXT_LAUNCHER_MANAGER_ADMISSION_H
#define FXT_LAUNCHER_MANAGER_ADMISSION_H

#include <stdbool.h>
#include <sys/types.h>
#include "provider.h"

struct fxt_session;

/*
 * Handles a hello of process `pid`, the peer. Fills in the welcome. Returns the provider of
 * an admitted process, already waiting for packets; the caller sends its two descriptors
 * with the welcome. Returns NULL if the process is refused. Ends the provider that the same
 * process had before an exec.
 */
struct fxt_provider *fxt_session_connect(
        struct fxt_session *session, pid_t pid, const struct fxt_hello *hello, struct fxt_welcome *welcome);

/* Must be called after the welcome was sent or failed to be sent. If `sent` is false, the
 * process runs untraced and its provider is ended. */
void fxt_session_welcomed(struct fxt_session *session, struct fxt_provider *provider, bool sent);

/* Notes that a process of another user said hello; it runs untraced. It is counted if it
 * descends from the program and the session follows children. */
void fxt_session_refuse_other_user(struct fxt_session *session, pid_t pid, uid_t user);

#endif
