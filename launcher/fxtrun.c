/*
 * fxtrun: runs a program and leaves a trace of it. The order matters: whatever can be refused is refused
 * before the output is touched, and everything is ready before the program starts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "control.h"
#include "door.h"
#include "manager.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "preload.h"
#include "session.h"
#include "snapshots.h"
#include "spawn.h"
#include "summary.h"
#include "target.h"

/* Two paths and a sentence. */
typedef char error_buffer[2 * PATH_MAX + 256];

/* What a run has to have, from the options to the program's wait status. */
struct run {
	struct fxt_options options;
	char target[PATH_MAX];
	char agent[PATH_MAX];
	struct fxt_output output;
	struct fxt_session session;
	struct fxt_door door;
	struct fxt_snapshots snapshots;
	struct fxt_control_socket control;
	char session_name[FXT_SESSION_NAME_BYTES];
	struct fxt_manager manager;
	struct fxt_inherited_signals inherited;
	sigset_t handled;
	int status;
};

/* Lets the program run to its end. Returns 0, or the exit status of fxtrun: the program did not run. */
static int run_program(struct run *run)
{
	const struct fxt_spawn spawn = {
	        run->target, run->options.program, run->agent, run->door.path, &run->inherited};
	int error = fxt_manager_open(
	        &run->manager, &run->session, &run->door, &run->snapshots, &run->control, &run->handled);
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
	run->status = fxt_manager_run(&run->manager);
	fxt_manager_close(&run->manager);
	return 0;
}

/* A session that nobody gave a name can do without being found; then that is said. */
static bool open_control(struct run *run)
{
	error_buffer error;

	snprintf(run->session_name, sizeof(run->session_name), "%d", getpid());
	if (fxt_control_open(&run->control, &run->session, &run->snapshots,
	            run->options.session ? run->options.session : run->session_name, run->options.output_file,
	            error, sizeof(error)) == 0)
		return true;
	fxt_say("%s", error);
	return !run->options.session;
}

/* The session, from its preparation to the last record in the archive. Returns as above. */
static int run_session(
        struct run *run, enum fxt_clock_kind clock, struct fxt_clock_pair first, struct fxt_totals *totals)
{
	error_buffer error;
	int result = fxt_session_open(&run->session, &run->options, clock, first);

	if (result) {
		fxt_say("cannot prepare the trace buffer: %s; try a smaller --buffer-size, or check ulimit "
		        "-v and -f",
		        strerror(result));
		return FXT_EXIT_FAILED;
	}
	fxt_snapshots_open(&run->snapshots, &run->session, run->options.output_file);
	result = FXT_EXIT_FAILED;
	if (!open_control(run)) {
		/* Said already. */
	} else if (fxt_door_open(&run->door, &run->session, error, sizeof(error)) != 0) {
		fxt_say("%s", error);
	} else {
		int link_error = fxt_preload_link(run->agent, run->door.directory);

		if (link_error)
			fxt_say("cannot link the agent into %s: %s", run->door.directory,
			        strerror(link_error));
		else
			result = run_program(run);
		fxt_preload_unlink(run->door.directory);
		fxt_door_close(&run->door);
	}
	if (result == 0) {
		fxt_session_finish(&run->session, run->status, totals);
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

static int exit_status(int status, bool complete)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status) == 0 && !complete ? FXT_EXIT_FAILED : WEXITSTATUS(status);
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
	switch (fxt_options_parse(&run.options, argc, argv, error, sizeof(error))) {
	case FXT_OPTIONS_RUN:
		break;
	case FXT_OPTIONS_HELP:
		fxt_options_help();
		return 0;
	case FXT_OPTIONS_VERSION:
		puts("fxtrun " FXT_VERSION);
		return 0;
	case FXT_OPTIONS_WRONG:
		fxt_say("%s", error);
		return FXT_EXIT_FAILED;
	}
	result = fxt_target_find(run.options.program[0], run.target, error, sizeof(error));
	if (result == 0 && fxt_preload_find(run.agent, error, sizeof(error)) != 0)
		result = FXT_EXIT_FAILED;
	if (result == 0 && fxt_output_open(&run.output, run.options.output_file, error, sizeof(error)) != 0)
		result = FXT_EXIT_FAILED;
	if (result != 0) {
		fxt_say("%s", error);
		return result;
	}

	fxt_signals_take(&run.inherited, &run.handled);
	result = run_session(&run, clock, first, &totals);
	if (result != 0) {
		fxt_output_abandon(&run.output);
		return result;
	}
	fxt_signals_allow_interrupts(&run.inherited);
	complete = finish_trace(&run, &totals);
	fxt_session_close(&run.session);
	return exit_status(run.status, complete);
}
