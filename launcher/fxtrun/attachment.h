/*
 * The processes that a session is attached to (--attach): the one that the user named, and
 * its descendants unless --follow leaves them out. Runs on the main thread and never waits.
 *
 * The named process takes the place of the program, but it is no child of ours: its exit
 * status is not known, and it goes on after the session.
 */
#ifndef FXT_LAUNCHER_FXTRUN_ATTACHMENT_H
#define FXT_LAUNCHER_FXTRUN_ATTACHMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "launcher/attach/attacher.h"
#include "launcher/manager/session.h"
#include "launcher/watch.h"
#include "earlier_waits.h"

#define FXT_ATTACHMENT_PROCESSES 256

struct fxt_attachment {
	struct fxt_session *session;
	struct fxt_attacher attacher;
	struct fxt_watch replies, process;
	char settings[FXT_ATTACHER_SETTINGS_BYTES];
	pid_t attached[FXT_ATTACHMENT_PROCESSES];
	size_t count;
	struct fxt_earlier_waits waits;
	size_t earlier_waits; /* their number, after fxt_attachment_close() */
	size_t awaited;       /* replies */
	bool is_on;           /* the process that the user named is attached to */
	bool has_failed;      /* it could not be */
	bool has_ended;       /* it has ended */
	bool is_detaching;    /* no further process is attached to */
};

/* Checks the process and describes it as a program: its executable in target[PATH_MAX].
 * Returns 0, or -1 and one line in error[error_bytes]. */
int fxt_attachment_find(pid_t pid, const char *agent, char *target, char *error, size_t error_bytes);

/* Before the session, while the caller is the only thread. Returns 0, or an errno value. */
int fxt_attachment_prepare(struct fxt_attachment *attachment, const char *agent);

/* Begins to attach. Returns 0, or an errno value. */
int fxt_attachment_begin(
        struct fxt_attachment *attachment, struct fxt_session *session, const char *socket_path);

/* True if there is nothing more to wait for: the process could not be attached to, or has
 * ended. */
bool fxt_attachment_is_over(const struct fxt_attachment *attachment);

/* Must be called now and then. */
void fxt_attachment_beat(struct fxt_attachment *attachment);

/* Begins to detach at the first call. True when that is done. */
bool fxt_attachment_leave(struct fxt_attachment *attachment);

/* Completes the records of the session. */
void fxt_attachment_close(struct fxt_attachment *attachment);

#endif
