/*
 * The manager was killed and the supervisor was not: the supervisor finishes the trace. The
 * memories of the providers, which the supervisor has descriptors for
 * (launcher/manager/ledger.h), hold all records that were not saved, and programs go on
 * recording into them. The supervisor takes the records when the program has ended, or when
 * a client of the control socket requests it.
 *
 *     archive  | noted as taken ...... | written since the last notes |
 *                                      '--> dropped, and taken again from the memories
 *
 * No call is in the trace twice. Calls are missing only if the programs counted them as
 * lost, because their buffers were full and not saved. The archive states that it was
 * recovered. Unavailable data (context switches, and memories that were not handed over) is
 * reported.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RECOVERY_H
#define FXT_LAUNCHER_FXTRUN_RECOVERY_H

#include <jansson.h>
#include "launcher/options.h"
#include "launcher/manager/ledger.h"
#include "launcher/manager/output.h"
#include "launcher/manager/session.h"

/* A provider with memories that were handed over. */
struct fxt_heir {
	struct fxt_ledger_entry *entry; /* NULL: it is done, and the descriptors are closed */
	int buffer_fd, control_fd, process_fd;
};

struct fxt_recovery {
	/* Set by the caller before the manager is forked; the rest is the recovery's. */
	const struct fxt_ledger *ledger;
	struct fxt_options *options; /* changed by a controller */
	struct fxt_trace_output *output;
	const struct fxt_call_cost *call_cost;
	enum fxt_clock_kind clock;
	struct fxt_clock_pair first;
	struct fxt_compressor_queue *queue; /* for an output that a controller names; or
	                                     * NULL */
	struct fxt_options idle_options;    /* the settings of a session of several
	                                     * recordings without a controller's changes */

	json_t *config; /* a controller's settings: the options point into it */
	bool has_archive;
	/* of the latest file of a rotated trace, which has `name`; 0: of the first one, or it is
	 * not rotated */
	uint32_t number;
	char name[PATH_MAX];
	int segments[FXT_ENDED_SEGMENTS]; /* files of ended processes */
	unsigned segment_count;
	int program_fd, listener_fd; /* -1: none */
	pid_t program;
	struct fxt_heir *heirs;
	size_t heir_count;

	struct fxt_archive_writer archive;
	struct fxt_wakeup wakeup;
	struct fxt_sched sched; /* not open */
	struct fxt_totals totals;
	struct fxt_image *images; /* images that have recorded */
	uint32_t image_count;
	uint64_t kept_from; /* fxt_control.kept_from, of the providers that are taken */
	uint64_t bytes;     /* size of the finished trace */
	int client;         /* the client that requested the finish (recovery_wait.h); -1:
	                     * none */
	json_t *client_id;
};

/* Takes the descriptors that the manager hands over, and closes those not needed any more.
 * Call it whenever ledger->from_manager is readable; does not wait. */
void fxt_recovery_receive(struct fxt_recovery *recovery);

/* The manager was killed by that signal. Waits until the program has ended or a finish is
 * requested; passes the signals of the signalfd `signals` on to the program in the
 * meantime. Then finishes the trace, and prints the result. Does nothing if recording had
 * not begun. */
void fxt_recovery_run(struct fxt_recovery *recovery, int signals, int signal);

#endif
