/*
 * The main thread while the program runs: accepts providers, moves their heartbeat,
 * requests snapshots, passes signals on, and waits for the end of the program.
 */
#ifndef FXT_LAUNCHER_FXTRUN_MANAGER_H
#define FXT_LAUNCHER_FXTRUN_MANAGER_H

#include <signal.h>
#include <stdbool.h>
#include "launcher/control/control.h"
#include "launcher/manager/acceptor.h"
#include "launcher/manager/session.h"
#include "launcher/manager/snapshots.h"
#include "attachment.h"
#include "supervisor.h"

/* grace time for a program to end on SIGTERM */
#define FXT_MANAGER_GRACE_NS UINT64_C(5000000000)
/* and for all processes to be detached from */
#define FXT_MANAGER_DETACH_NS UINT64_C(30000000000)

struct fxt_manager {
	struct fxt_session *session;
	struct fxt_acceptor *acceptor;
	struct fxt_snapshots *snapshots;
	struct fxt_control_server *control;
	const struct fxt_supervisor *supervisor;
	struct fxt_watch signals;
	struct fxt_attachment *attachment;
	void (*recordings)(void *context); /* checks the recordings of a session that makes
	                                    * several; else NULL */
	void *recordings_context;
	void (*rotations)(void *context); /* goes from one file of the trace to the next; or
	                                   * NULL */
	void *rotations_context;
	bool is_over;      /* the session is over */
	bool is_stopped;   /* the program is stopped by a signal */
	bool ended;        /* the program has ended */
	uint64_t leave_ns; /* CLOCK_MONOTONIC when detaching began; 0 = not yet */
	int status;        /* the program's wait status, valid after it has ended */
};

/* Begins to read the signals that fxt_signals_take() blocked, *handled, and becomes the
 * parent of processes that the program leaves behind (--decouple). Returns 0, or an errno
 * value. */
int fxt_manager_open(struct fxt_manager *manager, struct fxt_session *session, struct fxt_acceptor *acceptor,
        struct fxt_snapshots *snapshots, struct fxt_control_server *control,
        struct fxt_attachment *attachment, const struct fxt_supervisor *supervisor, const sigset_t *handled);

/* For a session of several recordings: `look` handles an ended recording, at each turn of
 * the main thread. */
void fxt_manager_watch_recordings(struct fxt_manager *manager, void (*look)(void *context), void *context);

/* For a trace in several files: `look` goes on with what is due, at each turn of the main
 * thread. */
void fxt_manager_watch_rotations(struct fxt_manager *manager, void (*look)(void *context), void *context);

/*
 * Runs until the session is over. It is over when the program, our child, has ended (with
 * --decouple, all of its descendants), or the process of --attach. After a request to end the
 * session, it is over when the program has ended too, is detached, or has ignored the request
 * for FXT_MANAGER_GRACE_NS. Then the manager detaches from all attached processes, and the
 * caller finishes the session.
 *
 * SIGUSR1 requests a snapshot. SIGTERM, SIGHUP and SIGUSR2 sent by a process to fxtrun are
 * passed on to the program. Signals of the terminal reach the program anyway: SIGINT and
 * SIGQUIT are ignored, as by env and time. If the session may end without the program,
 * signals that would end fxtrun end the session, and with it a recording in progress. When
 * the program is stopped, the supervisor stops too; continuing one of them continues the
 * other.
 */
void fxt_manager_run(struct fxt_manager *manager);

void fxt_manager_close(struct fxt_manager *manager);

#endif
