/*
 * launcher/fxtrun/: the program fxtrun. command_line.c reads its command line, with the
 * options in launcher/option_table.c. target.c checks the program to be traced,
 * calibration.c measures the cost of a call, spawn.c starts the program, and manager.c is
 * the main thread while the program runs. This file puts them together.
 *
 * A run consists of the program, the session that records it, and everything around the
 * two. The order of the steps decides which of them may still fail: everything that can be
 * refused is refused before the output is touched, and everything is ready before the
 * program starts.
 *
 *     session, control socket -> [a controller initializes it] -> buffer -> acceptor, agent -> program
 *         -> [the main thread waits: manager.h] -> all records in the archive -> trace -> summary
 *
 * With --start=idle a controller initializes the session while the main thread waits. The
 * steps from there to the summary are repeated for each recording, and a separate thread
 * makes its trace.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RUN_H
#define FXT_LAUNCHER_FXTRUN_RUN_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include "launcher/control/control.h"
#include "launcher/manager/acceptor.h"
#include "launcher/manager/ledger.h"
#include "launcher/manager/output.h"
#include "launcher/manager/session.h"
#include "launcher/manager/snapshots.h"
#include "attachment.h"
#include "manager.h"
#include "rotation.h"
#include "spawn.h"

struct fxt_run {
	/* Set by the caller, before the session. */
	struct fxt_options options;
	char target[PATH_MAX];              /* path of the program to execute */
	char agent[PATH_MAX];               /* path of the library to preload */
	char mpi[PATH_MAX];                 /* the path of the library that records MPI; "":
	                                     * it is not needed */
	struct fxt_trace_output output;     /* open, unless a controller will name it */
	struct fxt_compressor_queue *queue; /* for a compressed output; or NULL */
	struct fxt_call_cost call_cost;     /* 0 = not measured */
	enum fxt_clock_kind clock;
	struct fxt_clock_pair first; /* read as early as possible */
	struct fxt_inherited_signals inherited;
	sigset_t handled; /* signals; this field and the one above are from
	                   * fxt_signals_take() */
	struct fxt_supervisor supervisor;
	struct fxt_ledger ledger; /* for the supervisor, if the manager is killed */

	/* Private to the run. */
	struct fxt_session session;
	struct fxt_compressor compressor; /* used if the output has a queue */
	struct fxt_totals totals;
	struct fxt_acceptor acceptor;
	struct fxt_snapshots snapshots;
	struct fxt_control_server control;
	char session_name[FXT_SESSION_NAME_BYTES]; /* used if the user gave no name */
	struct fxt_manager manager;
	struct fxt_attachment attachment;
	struct fxt_rotations rotations; /* with --rotate; the first name is the caller's */
	bool has_trace;                 /* a recording was on when the session ended, and made a trace */

	/* For a session of several recordings. */
	struct fxt_options idle_options; /* between recordings, and for settings that a
	                                  * controller does not give */
	uint32_t recordings;             /* number of finished recordings */
	bool is_finishing;               /* a recording has ended, and its trace is being
	                                  * made */
	bool has_finisher;               /* a separate thread makes it */
	pthread_t finisher;
	uint32_t is_finished; /* stored by that thread: `trace` is final */
	struct fxt_trace_result trace;
	char summary[2 * PATH_MAX + 256]; /* of the latest trace: two paths and a sentence */

	int sched_error; /* an errno value: why the trace has no context switches */
};

/* Runs the program until the session is over and all its records are in the archive.
 * Returns 0, or the exit status of fxtrun: the program did not run, an error was printed,
 * and the session is closed. */
int fxt_run_session(struct fxt_run *run);

/* Makes the trace from the archive, prints the result, and closes the session. Returns the
 * exit status of fxtrun: the program's status, or FXT_EXIT_FAILED if that is 0 and the
 * trace is not complete. The program's status counts as 0 if the program goes on, or if it
 * ended on request. */
int fxt_run_finish(struct fxt_run *run);

#endif
