/*
 * launcher/fxtrun/: the program fxtrun. Its command line is read by command_line.c, option by option as
 * option_table.c has them; target.c looks at the program to be traced, calibration.c at what a call costs,
 * spawn.c starts the program, and manager.c is the main thread while that runs. All of it is put together
 * here.
 *
 * A run: the program, the session that records it, and all that stands around them. What begins in which
 * order decides what may still fail: whatever can be refused is refused before the output is touched, and all
 * is ready before the program starts.
 *
 *     session, control socket -> [a controller initializes it] -> buffer -> acceptor, agent -> program
 *         -> [the main thread waits: manager.h] -> all records in the archive -> trace -> summary
 *
 * With --start=idle a controller initializes it while the main thread waits, and from there to the summary is
 * gone through with each recording, in which the trace is made by a thread of its own.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RUN_H
#define FXT_LAUNCHER_FXTRUN_RUN_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include "launcher/control/control.h"
#include "launcher/session/acceptor.h"
#include "launcher/session/ledger.h"
#include "launcher/session/output.h"
#include "launcher/session/session.h"
#include "launcher/session/snapshots.h"
#include "manager.h"
#include "spawn.h"

struct fxt_run {
	/* The caller's, before the session. */
	struct fxt_options options;
	char target[PATH_MAX];              /* what is executed */
	char agent[PATH_MAX];               /* what is preloaded */
	struct fxt_trace_output output;     /* open, unless a controller is to say what it is */
	struct fxt_compressor_queue *queue; /* for an output that is compressed; or NULL */
	struct fxt_call_cost call_cost;     /* 0 = not measured */
	enum fxt_clock_kind clock;
	struct fxt_clock_pair first; /* read as early as possible */
	struct fxt_inherited_signals inherited;
	sigset_t handled; /* signals; both from fxt_signals_take() */
	struct fxt_job job;
	struct fxt_ledger ledger; /* what the job needs if the recorder is killed */

	/* The run's own. */
	struct fxt_session session;
	struct fxt_compressor compressor; /* where the output has a queue */
	struct fxt_totals totals;
	struct fxt_acceptor acceptor;
	struct fxt_snapshots snapshots;
	struct fxt_control_server control;
	char session_name[FXT_SESSION_NAME_BYTES]; /* where the user gave none */
	struct fxt_manager manager;
	bool has_trace; /* of what was recorded when the session ended; else there was no recording then */

	/* Of a session that lasts. */
	struct fxt_options idle_options; /* between recordings, and where a controller says nothing else */
	uint32_t recordings;             /* that were finished */
	bool is_finishing;               /* a recording has ended, and its trace is being made */
	bool has_finisher;               /* by that thread */
	pthread_t finisher;
	uint32_t is_finished; /* stored by it: `trace` is final */
	struct fxt_trace_result trace;
	char summary[2 * PATH_MAX + 256]; /* of the latest trace: two paths and a sentence */

	int sched_error; /* an errno value: why the trace has no context switches */
};

/* Runs the program, until the session is over and all its records are in the archive. Returns 0, or the exit
 * status of fxtrun: the program did not run, that was said, and the session is closed. */
int fxt_run_session(struct fxt_run *run);

/* Makes the trace of the archive, says what became of it, and closes the session. Returns what fxtrun has to
 * exit with: the program's status, or FXT_EXIT_FAILED where that is 0 and the trace is not complete. A
 * program that goes on has no status, and one that ended as it was told to did nothing wrong: both count as
 * 0. */
int fxt_run_finish(struct fxt_run *run);

#endif
