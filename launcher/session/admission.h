/*
 * Which of the processes that say hello a session records: those that --follow names, as long as the machine
 * has memory for them. The others run untraced.
 */
#ifndef FXT_LAUNCHER_SESSION_ADMISSION_H
#define FXT_LAUNCHER_SESSION_ADMISSION_H

#include <stdbool.h>
#include <sys/types.h>
#include "provider.h"

struct fxt_session;

/*
 * A process says hello, its pid being that of the peer. Fills in the welcome and, if it is welcome, returns
 * its provider, already waiting for packets, whose two descriptors are to be sent along; NULL if it is
 * refused. A provider that the same process had before its exec is ended.
 */
struct fxt_provider *fxt_session_connect(
        struct fxt_session *session, pid_t pid, const struct fxt_hello *hello, struct fxt_welcome *welcome);

/* To be called once the welcome was sent, or could not be (`sent` false): the process then runs untraced, and
 * its provider is ended. */
void fxt_session_welcomed(struct fxt_session *session, struct fxt_provider *provider, bool sent);

/* A process of another user asked: it runs untraced. It is counted if it comes of the program, and if the
 * session follows children. */
void fxt_session_refuse_other_user(struct fxt_session *session, pid_t pid, uid_t user);

#endif
