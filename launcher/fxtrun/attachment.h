/*
 * The processes that a session is attached to: the one that --attach names, with its
 * descendants unless --follow leaves them out, and those that fxtctl attach adds. Runs on
 * the main thread and never waits.
 *
 * The process of --attach takes the place of the program, but it is no child of ours: its
 * exit status is not known, and it goes on after the session.
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

/* A request of fxtctl. Replies come in the order of the requests. */
struct fxt_attachment_call {
	pid_t pid;      /* of the process that it names; 0: there is no request */
	size_t before;  /* replies to earlier requests that are still to come */
	size_t awaited; /* its own replies that are still to come */
	size_t count;   /* processes that were attached to, or detached from */
	bool has_failed;
	char error[PATH_MAX + 512];
};

struct fxt_attachment {
	struct fxt_session *session; /* NULL: nothing can be attached to */
	const char *agent;
	struct fxt_attacher attacher; /* fd 0: it does not run */
	struct fxt_watch replies, process;
	char settings[FXT_ATTACHER_SETTINGS_BYTES];
	pid_t attached[FXT_ATTACHMENT_PROCESSES];
	size_t count;
	struct fxt_earlier_waits waits;
	size_t earlier_waits; /* their number, after fxt_attachment_close() */
	size_t awaited;       /* replies */
	struct fxt_attachment_call call;
	bool has_main;     /* --attach names a process, and the rest is about that: */
	bool is_on;        /* it is attached to */
	bool has_failed;   /* it could not be */
	bool has_ended;    /* it has ended */
	bool is_detaching; /* no further process is attached to */

	/* Set by the caller: the call has been carried out for `count` processes, or not,
	 * for the reason in `error`. */
	void (*answer)(void *context, const char *error, size_t count);
	void *answer_context;
};

/* Checks the process of --attach and describes it as a program: its executable in
 * target[PATH_MAX]. Returns 0, or -1 and one line in error[error_bytes]. */
int fxt_attachment_find(pid_t pid, const char *agent, char *target, char *error, size_t error_bytes);

/* From now on processes can be attached to. Keeps the pointers. */
void fxt_attachment_open(struct fxt_attachment *attachment, struct fxt_session *session, const char *agent,
        const char *socket_path);

/* Begins to attach to the session's program. Returns 0, or an errno value. */
int fxt_attachment_begin(struct fxt_attachment *attachment);

/* Begins to attach to a process and its descendants, or to the processes of a unit, or to
 * detach from them. Later there is an answer. Returns 0, or -1 and one line in
 * error[error_bytes]. */
int fxt_attachment_call(struct fxt_attachment *attachment, bool is_detach, const char *target, char *error,
        size_t error_bytes);

/* True if there is nothing more to wait for: the process of --attach could not be attached
 * to, or has ended. */
bool fxt_attachment_is_over(const struct fxt_attachment *attachment);

/* True until the process of --attach is attached to. */
bool fxt_attachment_is_beginning(const struct fxt_attachment *attachment);

/* Must be called now and then. */
void fxt_attachment_beat(struct fxt_attachment *attachment);

/* Begins to detach at the first call. True when that is done. */
bool fxt_attachment_leave(struct fxt_attachment *attachment);

/* Completes the records of the session. */
void fxt_attachment_close(struct fxt_attachment *attachment);

#endif
