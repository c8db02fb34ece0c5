/*
 * fxtrun: runs a program and leaves a trace of it. The order matters: whatever can be refused is refused
 * before the output is touched, and everything is ready before the program starts.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "calibration.h"
#include "launcher/control/control.h"
#include "launcher/session/acceptor.h"
#include "manager.h"
#include "launcher/message.h"
#include "launcher/fxtrun/command_line.h"
#include "launcher/session/output.h"
#include "launcher/preload.h"
#include "launcher/session/session.h"
#include "launcher/session/snapshots.h"
#include "spawn.h"
#include "launcher/session/summary.h"
#include "target.h"

/* Two paths and a sentence. */
typedef char error_buffer[2 * PATH_MAX + 256];

/* What a run has to have, from the options to the program's end. */
struct run {
	struct fxt_options options;
	char target[PATH_MAX];
	char agent[PATH_MAX];
	struct fxt_output output;
	struct fxt_session session;
	struct fxt_acceptor acceptor;
	struct fxt_snapshots snapshots;
	struct fxt_control_server control;
	char session_name[FXT_SESSION_NAME_BYTES];
	struct fxt_manager manager;
	struct fxt_inherited_signals inherited;
	sigset_t handled;
	struct fxt_call_cost call_cost;
	int sched_error; /* why the trace will have no context switches */
};

/* Prepares to record when the program's threads run, which it does without if the kernel refuses. */
static void record_switches(void *context, pid_t program)
{
	struct run *run = context;
	const struct fxt_session *session = &run->session;

	if (!run->options.no_sched)
		run->sched_error = fxt_sched_open(&run->session.sched, program, run->options.buffering_mode,
		        session->terms.clock, session->first);
}

/* Lets the program run until the session is over. Returns 0, or the exit status of fxtrun: the program did
 * not run. */
static int run_program(struct run *run)
{
	const struct fxt_spawn spawn = {run->target, run->options.program, run->agent, run->acceptor.path,
	        &run->inherited, record_switches, run};
	int error = fxt_manager_open(
	        &run->manager, &run->session, &run->acceptor, &run->snapshots, &run->control, &run->handled);
	int status;
	pid_t pid;

	if (error) {
		fxt_say("cannot wait for signals: %s", strerror(error));
		return FXT_EXIT_FAILED;
	}
	pid = fxt_spawn(&spawn, &status);
	if (pid < 0) {
		fxt_say("%s cannot be run: %s", run->options.program[0], strerror(errno));
		fxt_manager_close(&run->manager);
		return status;
	}
	run->session.program = pid;
	fxt_output_begin(&run->output);
	fxt_archive_begin(&run->session.archive, run->output.raw_fd, run->output.name);
	if (!run->sched_error)
		run->sched_error = fxt_sched_begin(
		        &run->session.sched, &run->session.archive, &run->session.terms.ticks_per_second);
	if (run->sched_error)
		fxt_say("no context switches in the trace: %s; perf_event_open(2) has to be allowed, and "
		        "kernel.perf_event_paranoid at most 2; --no-sched asks for none",
		        strerror(run->sched_error));
	if (run->options.start == FXT_START_NOW)
		fxt_recording_start(&run->session, FXT_START_RETAIN, &(struct fxt_categories){0});
	fxt_manager_run(&run->manager);
	fxt_manager_close(&run->manager);
	return 0;
}

/* A session that nobody gave a name can do without being found; then that is said. */
static bool open_control(struct run *run)
{
	error_buffer error;

	snprintf(run->session_name, sizeof(run->session_name), "%d", getpid());
	if (fxt_control_open(&run->control, &run->session, &run->snapshots,
	            run->options.session ? run->options.session : run->session_name, error,
	            sizeof(error)) == 0)
		return true;
	fxt_say("%s", error);
	return !run->options.session;
}

/* What a controller wants of a session that waits for it; the program then goes on when the session ends. */
static int initialize(void *context, const struct fxt_options *options, char *error, size_t error_bytes)
{
	struct run *run = context;
	bool defer = options->defer_transfer && options->buffering_mode == FXT_STREAMING;
	struct stat status;

	if (stat(options->output_file, &status) == 0 && S_ISFIFO(status.st_mode)) {
		snprintf(error, error_bytes,
		        "%s is a named pipe, whose reader all would wait for; name a file",
		        options->output_file);
		return -1;
	}
	if (fxt_output_open(&run->output, options->output_file, defer, error, error_bytes) != 0)
		return -1;
	run->options = *options;
	run->options.detach = true;
	return 0;
}

/* Returns 0 once a controller has initialized the session, or what fxtrun has to exit with after a signal. */
static int await_controller(struct run *run)
{
	const struct timespec now = {0};

	run->control.controller.initialize = initialize;
	run->control.controller.initialize_context = run;
	while (run->session.recording.state == FXT_SESSION_READY) {
		int signal = sigtimedwait(&run->handled, NULL, &now);

		if (signal > 0 && signal != SIGCHLD && signal != SIGUSR1)
			return 128 + signal;
		fxt_watch_wait(run->session.epoll, 100);
		fxt_control_resume(&run->control);
	}
	return 0;
}

/* Everything that the options decide is decided. Returns 0, or FXT_EXIT_FAILED. */
static int prepare(struct run *run)
{
	int error = fxt_session_prepare(&run->session);

	if (error)
		fxt_say("cannot prepare the trace buffer: %s; try a smaller --buffer-size, or check ulimit "
		        "-v and -f",
		        strerror(error));
	fxt_snapshots_open(&run->snapshots, &run->session, run->options.output_file);
	return error ? FXT_EXIT_FAILED : 0;
}

/* The session, from its preparation to the last record in the archive. Returns as above. */
static int run_session(
        struct run *run, enum fxt_clock_kind clock, struct fxt_clock_pair first, struct fxt_totals *totals)
{
	error_buffer error;
	int result = fxt_session_open(&run->session, &run->options, clock, first);

	if (result) {
		fxt_say("cannot begin a session: %s", strerror(result));
		return FXT_EXIT_FAILED;
	}
	run->session.terms.call_cost = run->call_cost;
	result = open_control(run) ? 0 : FXT_EXIT_FAILED;
	if (result == 0 && run->options.start == FXT_START_CONTROLLER)
		result = await_controller(run);
	if (result == 0)
		result = prepare(run);
	if (result == 0 && run->session.recording.state == FXT_SESSION_READY)
		fxt_recording_initialize(&run->session);
	if (result != 0) {
		/* Said already. */
	} else if (fxt_acceptor_open(&run->acceptor, &run->session, error, sizeof(error)) != 0) {
		fxt_say("%s", error);
		result = FXT_EXIT_FAILED;
	} else {
		int link_error = fxt_preload_link(run->agent, run->acceptor.directory);

		if (link_error)
			fxt_say("cannot link the agent into %s: %s", run->acceptor.directory,
			        strerror(link_error));
		result = FXT_EXIT_FAILED;
		if (!link_error)
			result = run_program(run);
		fxt_preload_unlink(run->acceptor.directory);
		fxt_acceptor_close(&run->acceptor);
	}
	if (result == 0) {
		fxt_session_finish(&run->session, totals);
		fxt_snapshots_close(&run->snapshots);
		fxt_control_close(&run->control);
	} else {
		fxt_control_close(&run->control);
		fxt_session_close(&run->session);
	}
	return result;
}

/* Finishes the trace and says what became of it. Returns whether it is complete. */
static bool finish_trace(struct run *run, const struct fxt_totals *totals)
{
	const struct fxt_rewrite_options options = {
	        .ticks_per_second = fxt_session_final_rate(&run->session),
	        .symbols = true,
	        .heap_profiles = !run->options.no_perfetto_heap,
	};
	error_buffer line;
	uint64_t bytes;
	bool complete = !totals->incomplete;

	if (fxt_output_finish(&run->output, &options, &bytes, line, sizeof(line)) != 0) {
		fxt_say("%s", line);
		complete = false;
	}
	fxt_summary(line, sizeof(line), totals, run->options.program[0], run->output.name, bytes);
	fxt_say("%s", line);
	return complete;
}

/* The program's. One that goes on has none, and one that ended as it was told did nothing wrong. */
static int exit_status(const struct run *run, bool complete)
{
	const int status = run->manager.status;
	bool was_told = run->session.terminate_ns && !run->options.detach;
	int result = 0;

	if (run->manager.ended && WIFEXITED(status))
		result = WEXITSTATUS(status);
	else if (run->manager.ended && !(was_told && WTERMSIG(status) == SIGTERM))
		result = 128 + WTERMSIG(status);
	return result == 0 && !complete ? FXT_EXIT_FAILED : result;
}

int main(int argc, char **argv)
{
	/* The first half of a measurement that takes 4 ms: all that is done before the first provider comes
	 * is done in its time. */
	enum fxt_clock_kind clock = fxt_clock_choose();
	struct fxt_clock_pair first = fxt_clock_read_pair(clock);
	static struct run run;
	struct fxt_totals totals;
	error_buffer error;
	bool complete;
	int result;

	fxt_spawn_guard_descriptors();
	if (argc == 2 && strcmp(argv[1], FXT_CALIBRATION_ARGUMENT) == 0) {
		fxt_calibration_calls();
		return 0;
	}
	switch (fxt_command_line_parse(&run.options, argc, argv, error, sizeof(error))) {
	case FXT_COMMAND_LINE_RUN:
		break;
	case FXT_COMMAND_LINE_HELP:
		fxt_command_line_help();
		return 0;
	case FXT_COMMAND_LINE_VERSION:
		puts("fxtrun " FXT_VERSION);
		return 0;
	case FXT_COMMAND_LINE_WRONG:
		fxt_say("%s", error);
		return FXT_EXIT_FAILED;
	}
	result = fxt_target_find(run.options.program[0], run.target, error, sizeof(error));
	if (result == 0 && fxt_preload_find(run.agent, error, sizeof(error)) != 0)
		result = FXT_EXIT_FAILED;
	if (result == 0 && run.options.calibrate && fxt_calibrate(&run.call_cost, error, sizeof(error)) != 0)
		result = FXT_EXIT_FAILED;
	if (result == 0 && run.options.start != FXT_START_CONTROLLER &&
	        fxt_output_open(&run.output, run.options.output_file, false, error, sizeof(error)) != 0)
		result = FXT_EXIT_FAILED;
	if (result != 0) {
		fxt_say("%s", error);
		return result;
	}

	fxt_signals_take(&run.inherited, &run.handled);
	result = run_session(&run, clock, first, &totals);
	if (result != 0) {
		if (run.output.name)
			fxt_output_abandon(&run.output);
		return result;
	}
	fxt_signals_allow_interrupts(&run.inherited);
	complete = finish_trace(&run, &totals);
	fxt_session_close(&run.session);
	return exit_status(&run, complete);
}
