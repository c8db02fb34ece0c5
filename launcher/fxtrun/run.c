/*
 * Puts a run together: session, program, trace and summary. Runs on the main thread, except
 * for the thread that finishes a recording. Everything that can be refused must be refused
 * before the output is touched.
 */
#include "run.h"
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/categories.h"
#include "launcher/message.h"
#include "launcher/preload.h"
#include "launcher/control/attach_calls.h"
#include "launcher/manager/idle.h"
#include "launcher/manager/summary.h"
#include "reader/trace/progress_line.h"
#include "reader/trace/instrumenting.h"
#include "reader/trace/text.h"
#include "output_name.h"
#include "process_files.h"
#include "target.h"
#include "writer/shared/atomics.h"
#include "writer/shared/job.h"

#define WAITED_MUCH_NS 1e9 /* enough to be mentioned */

/* The largest number of muted functions that fxtrun prints. */
#define MUTED_SAID 10

/* Two paths and a sentence. */
typedef char error_buffer[2 * PATH_MAX + 256];

/* ---- the trace ---- */

/* A pattern without a match may be a mistake. The control memory tells the first 63 apart. */
static void run_say_library_calls(const struct fxt_run *run)
{
	const char *pattern = run->options.library_patterns.patterns;

	for (unsigned i = 0; i < 63 && *pattern; i++, pattern += strlen(pattern) + 1)
		if (run->totals.processes > 0 && !(run->totals.library_calls_matched >> i & 1))
			fxt_say("--library-calls=%s matches no function that the programs import", pattern);
}

/* A name that matches no event may be misspelt. */
static void run_say_unknown_categories(
        const struct fxt_categories *categories, const struct fxt_program_categories *programs)
{
	const char *name = NULL;

	while ((name = fxt_categories_unknown(categories, name)))
		if (!fxt_program_categories_have(programs, name))
			fxt_say("no event has the category %s; there are function, heap, process and sync%s",
			        name, programs->count ? ", and the program's own" : "");
}

/* Prints the functions that --auto has muted. Returns true if there are any. */
static bool run_say_muted(const struct fxt_run *run, uint64_t ticks_per_second)
{
	const struct fxt_call_counts *counts = &run->session.counts;
	error_buffer line;
	unsigned muted = 0;

	for (size_t i = 0; i < counts->count; i++)
		if (counts->functions[i]->muted_ticks && muted++ < MUTED_SAID) {
			fxt_summary_muted(line, sizeof(line), counts->functions[i], run->session.start_ticks,
			        ticks_per_second);
			fxt_say("%s", line);
		}
	if (muted > MUTED_SAID)
		fxt_say("muted by --auto: %u more function%s, which fxt info lists", muted - MUTED_SAID,
		        fxt_plural(muted - MUTED_SAID));
	return muted > 0;
}

/* Prints advice for another recording of the program. In a job only rank 0 prints it,
 * because the other ranks would repeat it. */
static void run_say_advice(const struct fxt_run *run, uint64_t ticks_per_second)
{
	/* A trace that went to a pipe has another name by now. */
	const char *space = *run->output.path ? " " : "", *name = *run->output.path ? run->output.name : "";
	double waited_ns =
	        ticks_per_second ? (double)run->totals.waited_ticks * 1e9 / (double)ticks_per_second : 0;

	if (fxt_output_is_of_job()) {
		if (fxt_job_find(getenv).rank != 0)
			return;
		fxt_say("fxt merge puts the traces of all ranks on one timeline");
	}
	if (fxt_summary_lacks_calls(&run->totals) && !run->totals.has_own_hooks &&
	        !run->totals.is_instrumented) {
		fxt_say("calls are recorded of programs that are built so: %s", fxt_instrumenting_commands());
		if (!run->options.patch && !run->options.library_calls)
			fxt_say("as the program is, --patch records its functions, and --library-calls its "
			        "calls of library functions");
	}
	if (run_say_muted(run, ticks_per_second))
		fxt_say("fxt suggest%s%s prints options that exclude them from the beginning", space, name);
	else if (fxt_summary_suggests(&run->totals))
		fxt_say("at least half of the events are short calls of a few functions: fxt suggest%s%s "
		        "prints options that exclude them",
		        space, name);
	if (waited_ns >= WAITED_MUCH_NS)
		fxt_say("threads waited %s in all for room in the buffer: fewer functions (fxt suggest%s%s) "
		        "or --on-full=drop avoid that",
		        fxt_time_text(waited_ns).text, space, name);
}

/* The start of the last file, or of the whole trace. */
static uint64_t run_start_ticks(const struct fxt_run *run)
{
	const struct fxt_rotations *r = &run->rotations;

	return r->number > r->first ? r->began_ticks : run->session.start_ticks;
}

static struct fxt_trace_result run_finish_trace(struct fxt_run *run)
{
	struct fxt_trace_result trace = {.output = run->output.name, .totals = &run->totals};
	uint64_t ticks_per_second = fxt_session_final_rate(&run->session);
	struct fxt_trace_file_end end;

	/* The heap records are read again. The manager's session has no terminal. */
	fxt_progress_start(run->supervisor.pid);
	end = fxt_trace_file_finish(&run->session, run->session.archive, &run->output, run_start_ticks(run),
	        run->session.config.filter_changed_ticks, run->totals.left_placeholders);
	fxt_progress_stop();
	fxt_totals_refuse(&run->totals, run->session.archive);
	trace.bytes = end.bytes;
	if (fxt_options_rotate(&run->options))
		trace.bytes = fxt_rotations_sum_up(&run->rotations, &run->totals, end.bytes);
	trace.is_complete = end.is_complete && !run->totals.incomplete && !run->rotations.is_incomplete;
	run->totals.trace_is_lost = end.is_lost && run->totals.files <= 1;
	fxt_process_files_make(&run->options, &run->output, &run->totals, &trace.bytes);
	trace.output = run->output.name;
	run_say_unknown_categories(&run->session.config.session_categories, &run->session.program_categories);
	run->totals.has_kept_old = run->output.has_kept_old;
	run->totals.uses_project_file = run->options.uses_project_file;
	run->totals.earlier_waits = run->attachment.earlier_waits;
	if (fxt_summary_lacks_calls(&run->totals)) {
		run->totals.has_own_hooks = fxt_target_has_hooks(run->target);
		run->totals.is_instrumented = fxt_target_is_instrumented(run->target);
	}
	fxt_summary(run->summary, sizeof(run->summary), &run->totals, run->options.program[0],
	        run->output.name, trace.bytes);
	trace.summary = run->summary;
	fxt_say("%s", run->summary);
	fxt_plans_end(&run->session.plans);
	fxt_plans_say(&run->session.plans, &run->options, run->totals.thunks_with_arguments);
	run_say_library_calls(run);
	if (run->options.patch && run->options.no_patch)
		fxt_say("--patch: no functions are recorded: --no-patch leaves the programs' code as it is");
	if (run->options.usdt_count && run->options.no_patch)
		fxt_say("--usdt: no probes are recorded: --no-patch leaves the programs' code as it is");
	run_say_advice(run, ticks_per_second);
	return trace;
}

/* A pattern without a match may be a mistake. */
static void run_say_unmatched(const struct fxt_run *run)
{
	const struct fxt_record_filter *filter = fxt_provider_filter(&run->session.config);
	enum fxt_record_filter_kind kind;
	const char *pattern;

	for (size_t i = 0; filter && (pattern = fxt_record_filter_unmatched(filter, &i, &kind)) != NULL; i++)
		fxt_say("--%s=%s matches no function that was called", fxt_record_filter_words[kind],
		        pattern);
}

/* ---- recordings of a session that lasts ---- */

static void *run_finish_recording(void *context)
{
	struct fxt_run *run = context;

	fxt_session_finish_archive(&run->session, &run->totals);
	run->trace = run_finish_trace(run);
	/* Release: pairs with the main thread's acquire; the trace is final. */
	store_release(&run->is_finished, 1);
	fxt_wakeup_send(&run->session.wakeup, NULL);
	return NULL;
}

/* The recording has ended: a thread makes its trace while the main thread goes on accepting
 * processes. Without a thread the trace is made here. */
static void run_begin_finishing(struct fxt_run *run)
{
	run->is_finishing = true;
	run->is_finished = 0;
	fxt_snapshots_close(&run->snapshots);
	fxt_session_sum_up(&run->session, &run->totals);
	run->has_finisher = pthread_create(&run->finisher, NULL, run_finish_recording, run) == 0;
	if (!run->has_finisher)
		run_finish_recording(run);
}

/* Waits until the trace is final, then restores the state before the recording. */
static void run_end_recording(struct fxt_run *run)
{
	if (run->has_finisher)
		pthread_join(run->finisher, NULL);
	run->is_finishing = false;
	run->recordings++;
	if (run->totals.processes)
		run_say_unmatched(run);
	fxt_control_recording_ended(&run->control, &run->trace);
	if (run->options.filter.rules != run->idle_options.filter.rules)
		fxt_record_filter_free(&run->options.filter);
	run->options = run->idle_options;
	if (run->output.queue)
		fxt_compressor_empty_queue(run->output.queue);
	run->output.name = NULL;
	fxt_ledger_send(&run->ledger, FXT_LEDGER_FINISHED, 0, NULL, 0);
	fxt_session_renew(&run->session);
	malloc_trim(0); /* the next recording may be months away */
}

static void run_look_at_recording(void *context)
{
	struct fxt_run *run = context;

	if (!run->is_finishing && fxt_session_recording_has_ended(&run->session))
		run_begin_finishing(run);
	/* Acquire: pairs with the release of the thread that made the trace. */
	if (run->is_finishing && load_acquire(&run->is_finished))
		run_end_recording(run);
}

static void run_prepare_recordings(struct fxt_run *run)
{
	run->options.output_file = "";
	/* Otherwise each thread would have a heap of its own, and malloc_trim() does not
	 * give back the free end of such a heap: from the tenth recording to the fiftieth
	 * the manager grew by 600 KiB, and by none with this. */
	mallopt(M_ARENA_MAX, 1);
	run->idle_options = run->options;
	fxt_snapshots_open(&run->snapshots, &run->session, "");
}

/* ---- the program ---- */

/* Prepares to record when the program's threads run. If the kernel refuses, the run goes on
 * without that. */
static void run_open_sched(void *context, pid_t program)
{
	struct fxt_run *run = context;

	if (!run->options.no_sched)
		run->sched_error = fxt_sched_open(&run->session.sched, program,
		        fxt_session_is_idle_session(&run->session), run->clock, run->first);
}

/* Begins to write records. */
static void run_begin_recording(struct fxt_run *run)
{
	struct fxt_session *session = &run->session;
	struct fxt_rotation rotation = {0};
	int handed[2];

	fxt_trace_output_begin(&run->output, run->options.keeps_old && !fxt_options_rotate(&run->options));
	handed[0] = run->output.raw_fd;
	handed[1] = run->output.final_fd;
	fxt_ended_open(&session->ended,
	        run->options.buffering_mode == FXT_CIRCULAR ? fxt_options_total_bytes(&run->options) : 0,
	        session->ledger);
	if (fxt_options_rotate(&run->options))
		rotation = fxt_rotations_begin(&run->rotations, session, &run->output);
	fxt_trace_file_begin(session, session->archive, &run->output,
	        run->output.queue && fxt_compressor_begin(
	                                     &run->compressor, run->output.queue, run->output.raw_fd) == 0
	                ? &run->compressor
	                : NULL,
	        rotation);
	fxt_ledger_send(session->ledger, FXT_LEDGER_ARCHIVE, run->output.has_kept_old, handed,
	        run->options.start >= FXT_START_CONTROLLER && handed[1] >= 0 ? 2 : 1);
	if (!run->sched_error)
		run->sched_error = fxt_sched_begin(&session->sched, run->options.buffering_mode,
		        &session->archive, &session->config.ticks_per_second);
	if (run->sched_error && session->config.recording == 0)
		fxt_say("no context switches in the trace: %s; perf_event_open(2) has to be allowed, and "
		        "kernel.perf_event_paranoid at most 2; --no-sched asks for none",
		        strerror(run->sched_error));
	else if (fxt_sched_faults_error(&session->sched))
		fxt_say("no page faults in the trace: %s", strerror(fxt_sched_faults_error(&session->sched)));
	if (fxt_session_is_idle_session(session))
		fxt_session_begin_recording(session);
	if (run->options.start == FXT_START_NOW)
		fxt_recording_start(session, FXT_START_RETAIN, &(struct fxt_categories){0});
}

/* Records while the program or process runs. */
static void run_manage(struct fxt_run *run)
{
	fxt_ledger_send(&run->ledger, FXT_LEDGER_PROGRAM, (uint32_t)run->session.program, NULL, 0);
	if (fxt_session_is_idle_session(&run->session))
		fxt_manager_watch_recordings(&run->manager, run_look_at_recording, run);
	else
		run_begin_recording(run);
	if (fxt_options_rotate(&run->options))
		fxt_manager_watch_rotations(&run->manager, fxt_rotations_look, &run->rotations);
	fxt_manager_run(&run->manager);
}

/* Starts the program and runs it until the session is over. Returns 0, or the exit status:
 * it did not run. */
static int run_started(struct fxt_run *run)
{
	const struct fxt_spawn spawn = {run->target, run->options.program, run->agent, run->mpi,
	        run->acceptor.path, &run->inherited, run->supervisor.group, run->output.standard,
	        run_open_sched, run};
	error_buffer error;
	int result = fxt_spawn(&spawn, &run->session.program, error, sizeof(error));

	if (result) {
		fxt_say("%s", error);
		return result;
	}
	fxt_supervisor_raise_descriptors();
	run_manage(run);
	return 0;
}

/* The same for a process that runs already. */
static int run_attached(struct fxt_run *run)
{
	int error;

	run->session.program = run->options.attach_pid;
	fxt_supervisor_raise_descriptors();
	error = fxt_attachment_begin(&run->attachment);
	if (error)
		fxt_say("cannot attach to process %d: %s", run->session.program, strerror(error));
	else
		run_manage(run);
	return error || run->attachment.has_failed ? FXT_EXIT_FAILED : 0;
}

/* Returns 0 after the session, or the exit status. */
static int run_program(struct fxt_run *run)
{
	int result = fxt_manager_open(&run->manager, &run->session, &run->acceptor, &run->snapshots,
	        &run->control, &run->attachment, &run->supervisor, &run->handled);

	if (result) {
		fxt_say("cannot wait for signals: %s", strerror(result));
		return FXT_EXIT_FAILED;
	}
	fxt_attachment_open(&run->attachment, &run->session, run->agent, run->acceptor.path);
	result = run->options.attach ? run_attached(run) : run_started(run);
	fxt_attachment_close(&run->attachment);
	fxt_manager_close(&run->manager);
	return result;
}

/* Lets the agents of the program and its descendants find the session while the program
 * runs. Returns the same as run_program(). */
static int run_accepting(struct fxt_run *run)
{
	error_buffer error;
	int result = FXT_EXIT_FAILED, link_error;

	if (fxt_acceptor_open(&run->acceptor, &run->session, error, sizeof(error)) != 0) {
		fxt_say("%s", error);
		return FXT_EXIT_FAILED;
	}
	link_error = run->options.attach ? 0 : fxt_preload_link(run->agent, run->acceptor.directory);
	if (link_error)
		fxt_say("cannot link the agent into %s: %s", run->acceptor.directory, strerror(link_error));
	else
		result = run_program(run);
	fxt_preload_unlink(run->acceptor.directory);
	fxt_acceptor_close(&run->acceptor);
	return result;
}

/* ---- the session ---- */

/* Returns 0, or FXT_EXIT_FAILED: the user named the session, and it cannot be found by that
 * name. If the user gave no name, a message is printed and the session runs without being
 * found. */
static int run_open_control(struct fxt_run *run)
{
	const char *name = run->options.session;
	error_buffer error;

	snprintf(run->session_name, sizeof(run->session_name), "%d", run->supervisor.pid);
	if (fxt_control_open(&run->control, &run->session, &run->snapshots, name ? name : run->session_name,
	            error, sizeof(error)) == 0) {
		fxt_ledger_send(&run->ledger, FXT_LEDGER_LISTENER, 0, &run->control.listener.fd, 1);
		return 0;
	}
	fxt_say("%s", error);
	return name ? FXT_EXIT_FAILED : 0;
}

/* Passes a controller's settings to the supervisor. If this fails, the supervisor cannot
 * recover the recording. */
static void run_hand_config_over(const struct fxt_run *run, const json_t *config)
{
	int fd = memfd_create("fxtrun-config", MFD_CLOEXEC);

	fxt_ledger_clear(&run->ledger);
	if (fd < 0)
		return;
	if (json_dumpfd(config, fd, JSON_COMPACT) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		fxt_ledger_send(&run->ledger, FXT_LEDGER_CONFIG, 0, &fd, 1);
	close(fd);
}

/* Applies a controller's settings to a session that waits for them. The program then goes
 * on when the session ends, or the recording in a session of several. */
static int run_initialize(void *context, const struct fxt_options *options, const json_t *config, char *error,
        size_t error_bytes)
{
	struct fxt_run *run = context;
	bool defer = options->defer_transfer && options->buffering_mode == FXT_STREAMING;
	struct stat status;

	if (stat(options->output_file, &status) == 0 && S_ISFIFO(status.st_mode)) {
		snprintf(error, error_bytes,
		        "%s is a named pipe, and recordings would wait for its reader; name a file",
		        options->output_file);
		return -1;
	}
	if (fxt_session_is_idle_session(&run->session) &&
	        fxt_trace_output_is_standard(options->output_file)) {
		snprintf(error, error_bytes, "%s is where the program prints; name a file",
		        options->output_file);
		return -1;
	}
	if (fxt_trace_output_open(&run->output, options->output_file, defer, "", error, error_bytes) != 0)
		return -1;
	run->options = *options;
	fxt_trace_output_compress(&run->output, run->options.buffering_mode, run->queue);
	if (fxt_session_is_idle_session(&run->session)) {
		run_hand_config_over(run, config);
		fxt_snapshots_open(&run->snapshots, &run->session, run->options.output_file);
		run_begin_recording(run);
	} else {
		run->options.detach = true;
	}
	return 0;
}

static int run_attach(void *context, bool is_detach, const char *target, char *error, size_t error_bytes)
{
	struct fxt_run *run = context;

	return fxt_attachment_call(&run->attachment, is_detach, target, error, error_bytes);
}

/* Returns 0 after a controller has initialized the session, or the exit status of fxtrun
 * after a signal. */
static int run_await_controller(struct fxt_run *run)
{
	const struct timespec now = {0};

	while (run->session.recording.state == FXT_SESSION_READY) {
		int signal = sigtimedwait(&run->handled, NULL, &now);

		if (signal > 0 && signal != SIGCHLD && signal != SIGUSR1)
			return 128 + signal;
		fxt_watch_wait(run->session.epoll, 100);
		fxt_control_resume(&run->control);
	}
	run_hand_config_over(run, run->control.controller.config);
	return 0;
}

/* The most address space that the agent uses besides the buffer. */
#define SPACE_USED (UINT64_C(200) << 20)

static void run_say_space_used(const struct fxt_run *run)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		fxt_say("address space is limited (ulimit -v), and the program has up to %llu MiB less of it "
		        "than without fxtrun; a smaller --buffer-size and --heap=off take less",
		        (unsigned long long)(run->options.buffer_bytes + SPACE_USED) >> 20);
}

/* Completes everything that depends on the options. Returns 0, or FXT_EXIT_FAILED. */
static int run_prepare(struct fxt_run *run)
{
	int error = fxt_session_prepare(&run->session);

	if (error) {
		fxt_say("cannot prepare the trace buffer: %s; %s", strerror(error),
		        error == ENOMEM ? "besides the buffer it takes 300 MB of address space, here and in "
		                          "the program (ulimit -v)"
		                        : "try a smaller --buffer-size, or check ulimit -f");
		return FXT_EXIT_FAILED;
	}
	run_say_space_used(run);
	fxt_snapshots_open(&run->snapshots, &run->session, run->options.output_file);
	if (run->session.recording.state == FXT_SESSION_READY)
		fxt_recording_initialize(&run->session);
	return 0;
}

int fxt_run_session(struct fxt_run *run)
{
	int result = fxt_session_open(&run->session, &run->options, run->clock, run->first);

	if (result) {
		fxt_say("cannot begin a session: %s", strerror(result));
		return FXT_EXIT_FAILED;
	}
	run->session.config.call_cost = run->call_cost;
	run->session.supervisor = run->supervisor.pid;
	run->session.ledger = &run->ledger;
	result = run_open_control(run);
	run->control.controller.initialize = run_initialize;
	run->control.controller.initialize_context = run;
	run->control.controller.attach = run_attach;
	run->attachment.answer = fxt_attach_calls_done;
	run->attachment.answer_context = &run->control.controller;
	if (result == 0 && run->options.start == FXT_START_CONTROLLER)
		result = run_await_controller(run);
	if (result == 0 && run->options.start == FXT_START_IDLE)
		run_prepare_recordings(run);
	else if (result == 0)
		result = run_prepare(run);
	if (result == 0)
		result = run_accepting(run);
	if (result == 0) {
		if (run->is_finishing)
			run_end_recording(run);
		run->has_trace = run->session.recording.state != FXT_SESSION_READY;
		fxt_session_finish(&run->session, &run->totals);
		fxt_rotations_end(&run->rotations);
		fxt_snapshots_close(&run->snapshots);
	}
	if (result == 0) {
		fxt_control_stop(&run->control);
	} else {
		fxt_control_close(&run->control, NULL);
		fxt_session_close(&run->session);
	}
	return result;
}

/* ---- its end ---- */

int fxt_run_finish(struct fxt_run *run)
{
	const struct fxt_manager *manager = &run->manager;
	struct fxt_trace_result trace = {.is_complete = true};
	bool was_told = run->session.recording.terminate_ns && !run->options.detach &&
	                !fxt_session_is_idle_session(&run->session);
	int result = 0;

	if (run->has_trace)
		trace = run_finish_trace(run);
	else if (run->recordings == 0)
		fxt_say("no recording was made; fxtctl record makes one while the program runs");
	if (run->has_trace && run->totals.processes)
		run_say_unmatched(run);
	fxt_control_close(&run->control, run->has_trace ? &trace : NULL);
	fxt_session_close(&run->session);
	if (manager->ended && WIFEXITED(manager->status))
		result = WEXITSTATUS(manager->status);
	else if (manager->ended && !(was_told && WTERMSIG(manager->status) == SIGTERM))
		result = 128 + WTERMSIG(manager->status);
	return result == 0 && !trace.is_complete ? FXT_EXIT_FAILED : result;
}
