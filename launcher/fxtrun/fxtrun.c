/*
 * fxtrun: runs a program and leaves a trace of it. This file has the steps before the run
 * (run.h).
 */
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "build.h"
#include "calibration.h"
#include "command_line.h"
#include "launcher/message.h"
#include "launcher/preload.h"
#include "probe_list.h"
#include "reader/trace/index.h"
#include "run.h"
#include "target.h"

/* Finds, measures and opens everything that the run needs. Returns 0, or the exit status
 * and one line in error[error_bytes]. */
static int fxtrun_prepare(struct fxt_run *run, char *error, size_t error_bytes)
{
	const struct fxt_options *options = &run->options;
	const char *output = options->output_file;
	int result =
	        options->attach ? 0 : fxt_target_find(options->program[0], run->target, error, error_bytes);

	if (result != 0)
		return result;
	if (fxt_preload_find(run->agent, error, error_bytes) != 0)
		return FXT_EXIT_FAILED;
	if (!options->attach)
		fxt_preload_find_mpi(run->mpi, run->agent, run->target);
	else if (fxt_attachment_find(options->attach_pid, run->agent, run->target, error, error_bytes) != 0)
		return FXT_EXIT_FAILED;
	if (options->calibrate && fxt_calibrate(&run->call_cost, error, error_bytes) != 0)
		return FXT_EXIT_FAILED;
	if (fxt_options_rotate(options) && !(output = fxt_rotations_prepare(&run->rotations, output))) {
		snprintf(error, error_bytes, "--output-file: the name is too long");
		return FXT_EXIT_FAILED;
	}
	/* The output comes last, because opening it may replace an old trace. */
	if (options->start != FXT_START_CONTROLLER && options->start != FXT_START_IDLE &&
	        fxt_trace_output_open(&run->output, output, false, " with -o", error, error_bytes) != 0)
		return FXT_EXIT_FAILED;
	/* A controller may need one later, which the supervisor could not share then. */
	if (options->start >= FXT_START_CONTROLLER ||
	        (run->output.is_compressed && !fxt_options_rotate(options)))
		run->queue = fxt_compressor_map_queue();
	fxt_trace_output_compress(&run->output, options->buffering_mode, run->queue);
	return 0;
}

/* True in the manager: the supervisor then makes a trace of the available records. */
static bool fxtrun_is_manager;

static void fxtrun_end_without_memory(void)
{
	fxt_say("out of memory");
	if (fxtrun_is_manager)
		fxt_manager_give_up();
	_exit(FXT_EXIT_FAILED);
}

/* The C library reserves 64 MiB of address space for each thread that allocates, as long as
 * there is any. If the address space is limited, later processes would find none for their
 * buffers. */
static void fxtrun_spare_address_space(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		mallopt(M_ARENA_MAX, 1);
}

/* A program that could not even be loaded with our library would be blamed for it. */
#define DATA_MIN (UINT64_C(4) << 20)

/* Whether the limit of data, which the program inherits, leaves it enough. */
static bool fxtrun_has_data(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur < DATA_MIN) {
		fxt_say("the limit of data is %llu KiB (ulimit -d), and recording takes 2 MiB of it in the "
		        "program; the program is not started with less than 4 MiB",
		        (unsigned long long)limit.rlim_cur >> 10);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct fxt_run run;
	static struct fxt_recovery recovery;
	char error[2 * PATH_MAX + 256]; /* two paths and a sentence */
	int result;

	if (argc == 3 && strcmp(argv[1], FXT_ATTACHER_ARGUMENT) == 0)
		fxt_attacher_serve(argv[2]);
	fxt_end_without_memory = fxtrun_end_without_memory;
	fxtrun_spare_address_space();
	/* Begins a measurement that takes 4 ms; everything done before the first provider
	 * comes is part of that time. */
	run.clock = fxt_clock_choose();
	run.first = fxt_clock_read_pair(run.clock);
	fxt_spawn_guard_descriptors();
	if (argc == 2 && strcmp(argv[1], FXT_CALIBRATION_ARGUMENT) == 0) {
		fxt_calibration_calls();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--completion") == 0) {
		fxt_command_line_completion();
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
	case FXT_COMMAND_LINE_BUILD:
		return fxt_build(argv + optind);
	case FXT_COMMAND_LINE_WRONG:
		fxt_say("%s", error);
		return FXT_EXIT_FAILED;
	}
	bool is_list = fxt_probe_list_is_wanted(&run.options);

	if (!is_list && !fxtrun_has_data())
		return FXT_EXIT_FAILED;
	result = is_list ? fxt_probe_list_print(&run.options, error, sizeof(error))
	                 : fxtrun_prepare(&run, error, sizeof(error));
	if (result != 0) {
		fxt_say("%s", error);
		return result;
	}
	if (is_list)
		return 0;

	fxt_signals_take(&run.inherited, &run.handled);
	result = fxt_ledger_open(&run.ledger);
	recovery = (struct fxt_recovery){&run.ledger, &run.options, &run.output, &run.call_cost, run.clock,
	        run.first, .queue = run.queue, .idle_options = run.options, .program_fd = -1,
	        .listener_fd = -1, .client = -1};
	if (result == 0)
		result = fxt_supervisor_begin(&run.supervisor, &run.handled, &recovery);
	if (result != 0) {
		fxt_say("cannot begin to record: %s", strerror(result));
		fxt_trace_output_abandon(&run.output);
		return FXT_EXIT_FAILED;
	}
	fxtrun_is_manager = true;
	fxt_say_without_waiting();
	sigaddset(&run.handled, SIGCONT);
	result = fxt_run_session(&run);
	if (result == 0) {
		fxt_signals_allow_interrupts(&run.inherited, run.output.name);
		result = fxt_run_finish(&run);
	} else if (run.output.name) {
		fxt_trace_output_abandon(&run.output);
	}
	/* A program left behind may be stopped, and the supervisor with it: continue the
	 * supervisor, so that it sees the end. */
	fxt_supervisor_continue(&run.supervisor);
	fxt_say_all();
	return result;
}
