/*
 * The recorder was killed, and the job was not: the job finishes the trace. The memories of the providers,
 * whose descriptors it was handed (session/ledger.h), hold what was not saved, and programs go on recording
 * into them; once the program has ended, or a client of the control socket asks for it, they are taken.
 *
 *     archive  | noted as taken ...... | written since the last notes |
 *                                      '--> dropped, and taken again from the memories
 *
 * So no call is missing but those that the programs counted as lost, since nobody saved their buffers, and
 * none is there twice. The archive says that it was recovered; what cannot be had, context switches and
 * memories that were not handed over, is said.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RECOVERY_H
#define FXT_LAUNCHER_FXTRUN_RECOVERY_H

#include <jansson.h>
#include "launcher/options.h"
#include "launcher/session/ledger.h"
#include "launcher/session/output.h"
#include "launcher/session/session.h"

/* A provider whose memories were handed over. */
struct fxt_heir {
	struct fxt_ledger_entry *entry; /* NULL: it is done, and the descriptors are closed */
	int buffer_fd, control_fd, process_fd;
};

struct fxt_recovery {
	/* The caller's, before the recorder is forked; as it is then. */
	const struct fxt_ledger *ledger;
	struct fxt_options *options; /* which a controller changes */
	struct fxt_trace_output *output;
	const struct fxt_call_cost *call_cost;
	enum fxt_clock_kind clock;
	struct fxt_clock_pair first;
	struct fxt_compressor_queue *queue; /* of an output that a controller names; or NULL */
	struct fxt_options idle_options;    /* what holds in a session that lasts, but for a controller */

	json_t *config; /* what a controller asked for: the options point into it */
	bool has_archive;
	int segments[FXT_ENDED_SEGMENTS]; /* files of processes that had ended */
	unsigned segment_count;
	int program_fd, listener_fd; /* -1: there is none */
	pid_t program;
	struct fxt_heir *heirs;
	size_t heir_count;

	struct fxt_archive_writer archive;
	struct fxt_wakeup wakeup;
	struct fxt_sched sched; /* not open */
	struct fxt_totals totals;
	struct fxt_image *images; /* that have recorded */
	uint32_t image_count;
	uint64_t kept_from; /* fxt_control.kept_from, of those that are taken */
	uint64_t bytes;     /* of the finished trace */
	int client;         /* who asked for it to be finished (recovery_wait.h); -1: nobody */
	json_t *client_id;
};

/* Takes what the recorder hands over, and closes what is not wanted any more. Whenever
 * ledger->from_recorder is readable; does not wait. */
void fxt_recovery_receive(struct fxt_recovery *recovery);

/* The recorder was killed by that signal. Waits until the program has ended or it is asked to go ahead,
 * `signals` being a signalfd whose signals are passed on to the program; then finishes the trace, and says
 * what became of it. Nothing, if recording had not begun. */
void fxt_recovery_run(struct fxt_recovery *recovery, int signals, int signal);

#endif
