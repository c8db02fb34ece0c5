/*
 * The main thread while the program runs: lets providers in, shows them that the manager lives, has
 * snapshots written, passes signals on, and sees the program end.
 */
#ifndef FXT_LAUNCHER_FXTRUN_MANAGER_H
#define FXT_LAUNCHER_FXTRUN_MANAGER_H

#include <signal.h>
#include <stdbool.h>
#include "launcher/control/control.h"
#include "launcher/session/acceptor.h"
#include "launcher/session/session.h"
#include "launcher/session/snapshots.h"
#include "job.h"

#define FXT_MANAGER_GRACE_NS UINT64_C(5000000000) /* for a program to end on SIGTERM */

struct fxt_manager {
	struct fxt_session *session;
	struct fxt_acceptor *acceptor;
	struct fxt_snapshots *snapshots;
	struct fxt_control_server *control;
	const struct fxt_job *job;
	struct fxt_watch signals;
	void (*recordings)(void *context); /* looks after those of a lasting session; else NULL */
	void *recordings_context;
	bool is_over;    /* the session is */
	bool is_stopped; /* the program is, by a signal */
	bool ended;      /* the program has */
	int status;      /* the program's wait status, once it has ended */
};

/* Begins to read the signals that fxt_signals_take() blocked, *handled, and becomes the parent of what the
 * program leaves behind (--decouple). Returns 0, or an errno value. */
int fxt_manager_open(struct fxt_manager *manager, struct fxt_session *session, struct fxt_acceptor *acceptor,
        struct fxt_snapshots *snapshots, struct fxt_control_server *control, const struct fxt_job *job,
        const sigset_t *handled);

/* The session lasts: with each turn of the main thread `look` sees to a recording that has ended. */
void fxt_manager_watch_recordings(struct fxt_manager *manager, void (*look)(void *context), void *context);

/*
 * Returns once the session is over: the program, our child, has ended (with --decouple, all that came of it),
 * or the session was told to end and the program has ended too, is detached, or does not heed that for
 * FXT_MANAGER_GRACE_NS. The caller then finishes the session.
 *
 * SIGUSR1 asks for a snapshot. SIGTERM, SIGHUP and SIGUSR2 that somebody sends to fxtrun are passed on to the
 * program. What the terminal sends reaches it anyway: SIGINT and SIGQUIT are ignored, as by env and time.
 * Where the session may end without the program, signals that would end fxtrun end the session, and a
 * recording that is being made with it. If the program is stopped so is the job; who lets the one go on lets
 * the other.
 */
void fxt_manager_run(struct fxt_manager *manager);

void fxt_manager_close(struct fxt_manager *manager);

#endif
