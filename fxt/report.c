/*
 * fxt report: shows where a trace's time went, by function. Several threads walk the trace,
 * each with sums of its own; the main thread prints. A figure that missing calls may change
 * must not look exact.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "asyncs.h"
#include "lines.h"
#include "mpi_report.h"
#include "options.h"
#include "reader/time/switches.h"
#include "reader/trace/instrumenting.h"
#include "reader/trace/text.h"
#include "reader/slices/walk.h"
#include "describe.h"

static const char help[] =
        "usage: fxt report [OPTION]... [FILE]...\n"
        "\n"
        "Prints a line for each function of a trace:\n" FXT_HELP_FIGURES
        "Calls that never ended are counted until their process was killed, or to the\n"
        "end of the trace, and marked. Time in which the tracer made a thread wait is in\n"
        "no function.\n"
        "\n"
        "  -s, --sort=KEY       by which the lines are sorted, total if not given:\n"
        "                  " FXT_HELP_SORTED "\n"
        "  -n, --limit=N        the first N lines of each table\n"
        "  -b, --by=KEY         a line for each module, file, category, thread, process\n"
        "                       or program instead; for each value of an argument, as\n"
        "                       arg:NAME\n"
        "      --callers=NAME   the calls of these functions, by caller\n"
        "      --callees=NAME   the calls that these functions made\n"
        "      --histogram      how many calls took how long, for each line\n"
        "      --corrected      times without the cost of recording the calls, as\n"
        "                       measured by fxtrun --calibrate, and how far they may be\n"
        "                       off\n"
        "      --threads        a table for each thread, after one of how the threads\n"
        "                       spent their time: on a CPU, able to run while something\n"
        "                       else did, or waiting; and how often they were switched\n"
        "                       away\n"
        "      --mpi            of a job of MPI: which rank waited for which, functions\n"
        "                       of unequal times on the ranks, and the messages\n"
        "      --format=gcc     FILE:LINE: of each function, as editors take it\n" FXT_HELP_CHOICE
                FXT_HELP_FOLD FXT_HELP_MARKDOWN FXT_HELP_FORMAT FXT_HELP_FILE;

/* ---- what is wanted ---- */

/* The keys of --by; callers and callees have options of their own. */
static const char *const group_keys[FXT_GROUPS] = {
        [FXT_GROUP_FUNCTION] = "function",
        [FXT_GROUP_MODULE] = "module",
        [FXT_GROUP_FILE] = "file",
        [FXT_GROUP_CATEGORY] = "category",
        [FXT_GROUP_THREAD] = "thread",
        [FXT_GROUP_PROCESS] = "process",
        [FXT_GROUP_PROGRAM] = "program",
};

/* The options, and the state while traces are read. */
struct report_command {
	struct fxt_options wanted;
	struct fxt_patterns edges; /* functions with their callers or callees wanted */
	enum fxt_group group;
	const char *argument; /* for FXT_GROUP_ARGUMENT */
	bool by_thread;
	bool prints_places;            /* --format=gcc */
	bool is_of_mpi;                /* the answer is that of mpi_report.h */
	bool is_whole;                 /* all of the trace could be read again */
	struct fxt_lines lines;        /* from the options, completed for each trace */
	const struct fxt_scan *scan;   /* the trace that is reported */
	struct fxt_groups grouping;    /* of that trace */
	struct fxt_thread_times times; /* of its threads */
};

/* ---- the trace ---- */

/* The data that is reported of a trace. */
struct trace {
	struct fxt_functions *threads; /* by id, scan->thread_count of them */
	struct fxt_functions all;
	uint64_t calls, functions, calling_threads;
};

static void report_sum_up(struct report_command *c, struct trace *trace)
{
	for (size_t i = 0; i < c->scan->thread_count; i++) {
		uint64_t calls = fxt_functions_calls(&trace->threads[i]);

		fxt_functions_add(&trace->all, &trace->threads[i]);
		fxt_functions_to_ns(&trace->threads[i], c->scan);
		trace->calls += calls;
		trace->calling_threads += calls > 0;
	}
	fxt_functions_to_ns(&trace->all, c->scan);
	trace->functions = fxt_functions_called(&trace->all);
}

/* ---- threads ---- */

static const struct fxt_column thread_columns[] = {{"running_ns", "running", FXT_COLUMN_TIME, 0},
        {"runnable_ns", "runnable", FXT_COLUMN_TIME, 0}, {"blocked_ns", "blocked", FXT_COLUMN_TIME, 0},
        {"switches", "switches", FXT_COLUMN_COUNT, 0}, {"calls", "calls", FXT_COLUMN_COUNT, 0},
        {"description", "thread", FXT_COLUMN_TEXT, 0}, {"thread", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};

static void report_times_row(struct report_command *c, const struct fxt_switch_times *times,
        const struct fxt_functions *functions, uint32_t id)
{
	struct fxt_koids thread = c->scan->tables.threads[id];
	struct fxt_describer text;

	fxt_describe_begin(&text);
	fxt_describe_thread(text.out, c->scan, id, true);
	fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)times->running),
	        fxt_cell_number((double)times->runnable), fxt_cell_number((double)times->blocked),
	        fxt_cell_number((double)times->switches),
	        fxt_cell_number((double)fxt_functions_calls(functions)),
	        fxt_cell_text(fxt_describe_end(&text)), fxt_cell_number((double)thread.thread),
	        fxt_cell_number((double)thread.process)});
	fxt_describe_free(&text);
}

/* ---- which threads ---- */

static int report_compare_calls(const void *left, const void *right, void *threads)
{
	const struct fxt_functions *sums = threads;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t a_calls = fxt_functions_calls(&sums[a]), b_calls = fxt_functions_calls(&sums[b]);

	if (a_calls != b_calls)
		return a_calls > b_calls ? -1 : 1;
	return (a > b) - (a < b);
}

/* Marks the threads that are shown, by id: all, or for people those with most calls.
 * Returns how many threads with calls are not. */
static size_t report_choose_threads(const struct report_command *c, const struct trace *trace, bool *is_shown)
{
	size_t count = c->scan->thread_count, active = 0;
	uint32_t *order = fxt_allocate((count + 1) * sizeof(*order));

	for (uint32_t i = 0; i < count; i++) {
		is_shown[i] = true;
		if (trace->threads[i].count > 0)
			order[active++] = i;
	}
	size_t hidden = active > FXT_THREADS_SHOWN && fxt_print_format() == FXT_FORMAT_TEXT
	                        ? active - FXT_THREADS_SHOWN
	                        : 0;

	qsort_r(order, active, sizeof(*order), report_compare_calls, trace->threads);
	for (size_t i = active - hidden; i < active; i++)
		is_shown[order[i]] = false;
	free(order);
	return hidden;
}

/* Reports the threads that have both scheduling records and other records. */
static void report_times(struct report_command *c, const struct trace *trace, const bool *is_shown)
{
	struct fxt_switches switches;

	fxt_switches_sum(&switches, &c->times.timeline);
	if (switches.count == 0) {
		fxt_print_note(
		        "no context switches in the trace: when its threads ran and waited is not known");
	}
	fxt_table_begin("threads", NULL, thread_columns, sizeof(thread_columns) / sizeof(*thread_columns));
	for (uint32_t i = 1; i < c->scan->thread_count; i++) {
		const struct fxt_switch_times *times =
		        fxt_switches_of(&switches, c->scan->tables.threads[i].thread);

		if (times && is_shown[i] && fxt_filter_has_thread(c->scan->filter, i))
			report_times_row(c, times, &trace->threads[i], i);
	}
	fxt_table_end();
	fxt_switches_free(&switches);
}

static void report_threads(struct report_command *c, const struct trace *trace)
{
	bool *is_shown = fxt_allocate(c->scan->thread_count + 1);
	size_t hidden = report_choose_threads(c, trace, is_shown);

	report_times(c, trace, is_shown);
	for (uint32_t i = 0; i < c->scan->thread_count; i++) {
		struct fxt_describer text;

		if (trace->threads[i].count == 0 || !is_shown[i])
			continue;
		fxt_describe_begin(&text);
		fxt_describe_thread(text.out, c->scan, i, true);
		const char *of = fxt_describe_end(&text).data;

		fxt_lines_print(&c->lines, &trace->threads[i], of, false);
		fxt_lines_print(&c->lines, &trace->threads[i], of, true);
		fxt_describe_free(&text);
	}
	free(is_shown);
	if (hidden > 0)
		fxt_print_note("%zu more threads have fewer calls: -t NAME shows one, --json all", hidden);
}

/* The length of the trace. The time of a rotation's file begins with its first anchor,
 * although calls in it began in earlier files. */
static uint64_t report_length(const struct fxt_scan *scan)
{
	uint64_t start = scan->start, began = scan->began.ticks;

	if (scan->rotation.number == 0 || !scan->tables.provider)
		began = 0;
	else if (!scan->in_ticks)
		began = fxt_provider_ns(scan->tables.provider, began);
	if (began > start && began < scan->end)
		start = began;
	return fxt_scan_ns(scan, scan->end - start);
}

/* Prints the counts as text. */
static void report_head(struct report_command *c, const struct trace *trace, const char *name)
{
	uint64_t length = report_length(c->scan);

	if (c->group == FXT_GROUP_FUNCTION)
		fxt_print_line("%s: %s call%s of %" PRIu64 " function%s in %" PRIu64 " thread%s, %s", name,
		        fxt_calls_text(c->scan, trace->calls).text, fxt_plural(trace->calls),
		        trace->functions, fxt_plural(trace->functions), trace->calling_threads,
		        fxt_plural(trace->calling_threads), fxt_time_text((double)length).text);
	else
		fxt_print_line("%s: %s call%s in %" PRIu64 " thread%s, %s", name,
		        fxt_calls_text(c->scan, trace->calls).text, fxt_plural(trace->calls),
		        trace->calling_threads, fxt_plural(trace->calling_threads),
		        fxt_time_text((double)length).text);
	fxt_print_fact("calls", (double)trace->calls);
	if (c->group == FXT_GROUP_FUNCTION)
		fxt_print_fact("functions", (double)trace->functions);
	fxt_print_fact("threads", (double)trace->calling_threads);
	fxt_print_fact("duration_ns", (double)length);
	fxt_print_fact("tracer_waits", (double)c->times.waits);
	fxt_print_fact("tracer_waited_ns", (double)fxt_scan_ns(c->scan, c->times.waited_time));
	if (c->lines.is_corrected)
		fxt_print_line("without the cost of recording: %.1f ns within and %.1f ns around each call, "
		               "+/- %.1f ns",
		        (double)c->lines.cost.within_ps / 1000, (double)c->lines.cost.around_ps / 1000,
		        (double)c->lines.cost.error_ps / 1000);
	if (c->scan->elided_sums.calls > 0)
		fxt_print_line("%s the calls that fxtrun elided, which the trace has as sums by function",
		        fxt_functions_have_elided(c->scan, &c->grouping.grouping) ? "with" : "without");
	if (c->times.waits > 0)
		fxt_print_line("without %" PRIu64 " wait%s for room in the tracer's buffers, %s in all",
		        c->times.waits, fxt_plural(c->times.waits),
		        fxt_time_text((double)fxt_scan_ns(c->scan, c->times.waited_time)).text);
}

/* Prints places in the source, and nothing else that an editor would take for one. */
static void report_places(struct report_command *c, const struct trace *trace, const char *name)
{
	size_t unknown = fxt_lines_print_places(&c->lines, &trace->all);

	if (unknown > 0)
		fprintf(stderr, "fxt: %s: %zu function%s without a known line of source\n", name, unknown,
		        fxt_plural(unknown));
}

static void report_trace(struct report_command *c, const struct trace *trace, const char *name)
{
	if (c->prints_places) {
		report_places(c, trace, name);
		return;
	}
	report_head(c, trace, name);
	if (c->by_thread) {
		report_threads(c, trace);
	} else {
		fxt_lines_print(&c->lines, &trace->all, NULL, false);
		if (c->group == FXT_GROUP_FUNCTION) {
			fxt_lines_print(&c->lines, &trace->all, NULL, true);
			c->is_whole &= fxt_asyncs_print(c->scan, c->lines.limit);
		}
	}
	if (trace->calls == 0 && fxt_query_filter_is_all(&c->wanted.choice) && !fxt_lacks_calls(c->scan))
		fxt_print_note("%s", fxt_no_calls(c->scan->has_earlier_waits).text);
	fxt_print_missing(c->scan);
}

static bool report_has_cost(struct report_command *c, const char *name)
{
	if (c->scan->elided_sums.calls > 0)
		fprintf(stderr,
		        "fxt: %s lacks the cost of elided calls (fxtrun --min-duration, --max-calls); its "
		        "times cannot be corrected\n",
		        name);
	else if (c->scan->cost.within_ps + c->scan->cost.around_ps == 0)
		fprintf(stderr, "fxt: %s lacks the cost of recording; fxtrun --calibrate measures it\n",
		        name);
	else
		return true;
	return false;
}

/* Creates the wanted grouping. Returns false, after reporting it, if the trace has no
 * such functions. */
static bool report_group(struct report_command *c, const char *name)
{
	char error[1024];

	if (fxt_groups_make(&c->grouping, c->scan, c->group, &c->edges, c->argument, error, sizeof(error)) ==
	        0)
		return true;
	fxt_report_name(name, error);
	return false;
}

static int report_answer(void *state, const char *name, struct fxt_scan *scanned)
{
	struct report_command *c = state;
	struct trace trace = {0};

	c->scan = scanned;
	if ((c->lines.is_corrected && !report_has_cost(c, name)) || !report_group(c, name))
		return FXT_FAILED;
	fxt_thread_times_finish(&c->times, c->scan);
	c->lines.scan = c->scan;
	c->lines.groups = &c->grouping;
	c->lines.has_switches = c->times.has_switches;
	if (c->lines.is_corrected)
		c->lines.cost = c->scan->cost;
	trace.threads = fxt_functions_read(
	        c->scan, &c->grouping.grouping, &c->times, fxt_walk_workers(c->scan), &c->is_whole);
	report_sum_up(c, &trace);
	report_trace(c, &trace, name);
	for (size_t i = 0; i < c->scan->thread_count; i++)
		fxt_functions_free(&trace.threads[i]);
	free(trace.threads);
	fxt_functions_free(&trace.all);
	fxt_groups_free(&c->grouping);
	return fxt_report_changed(name, c->is_whole);
}

/* ---- the command ---- */

static bool report_set_order(struct report_command *c, const char *key)
{
	enum fxt_figure figure = FXT_FIGURES; /* FXT_LINE_NAME */

	if (strcmp(key, "name") != 0 && !fxt_figure_named(fxt_span(key), FXT_TO_SORT, &figure))
		return false;
	c->lines.order = figure;
	return true;
}

static bool report_set_group(struct report_command *c, const char *key)
{
	c->argument = fxt_query_filter_by(&c->wanted.choice, key);
	if (c->argument) {
		c->group = FXT_GROUP_ARGUMENT;
		return true;
	}
	for (enum fxt_group i = 0; i < FXT_GROUPS; i++) {
		if (group_keys[i] && strcmp(key, group_keys[i]) == 0) {
			c->group = i;
			return true;
		}
	}
	return false;
}

enum { CORRECTED = FXT_OPTION_OWN, THREADS, CALLERS, CALLEES, HISTOGRAM, FORMAT, MPI };

/* Takes an option of the report's own. Returns FXT_DONE, or FXT_FAILED after reporting
 * the error. */
static int report_option(struct report_command *c, const char *command, int option)
{
	const char *problem = NULL;

	switch (option) {
	case 's':
		return report_set_order(c, optarg) ? FXT_DONE
		                                   : fxt_bad_usage(command, "cannot sort by '%s'", optarg);
	case 'b':
		return report_set_group(c, optarg) ? FXT_DONE
		                                   : fxt_bad_usage(command, "cannot group by '%s'", optarg);
	case CALLERS:
	case CALLEES:
		c->group = option == CALLERS ? FXT_GROUP_CALLERS : FXT_GROUP_CALLEES;
		problem = fxt_patterns_add(&c->edges, optarg);
		break;
	case HISTOGRAM:
		c->lines.has_histograms = true;
		break;
	case CORRECTED:
		c->lines.is_corrected = true;
		break;
	case FORMAT:
		c->prints_places = strcmp(optarg, "gcc") == 0;
		return c->prints_places ? FXT_DONE
		                        : fxt_bad_usage(command, "no format '%s': it is gcc", optarg);
	case THREADS:
		c->by_thread = true;
		break;
	case MPI:
		c->is_of_mpi = true;
		break;
	}
	return problem ? fxt_bad_usage(command, "'%s' %s", optarg, problem) : FXT_DONE;
}

int fxt_command_report(int argc, char **argv)
{
	struct report_command command = {0}, *c = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        FXT_OPTIONS_MARKDOWN, FXT_OPTIONS_FOLD, {"sort", required_argument, NULL, 's'},
	        {"by", required_argument, NULL, 'b'}, {"callers", required_argument, NULL, CALLERS},
	        {"callees", required_argument, NULL, CALLEES}, {"histogram", no_argument, NULL, HISTOGRAM},
	        {"threads", no_argument, NULL, THREADS}, {"format", required_argument, NULL, FORMAT},
	        {"mpi", no_argument, NULL, MPI}, {"corrected", no_argument, NULL, CORRECTED}, {0}};
	int option, status = FXT_DONE;

	c->wanted = (struct fxt_options){.listener = &c->times.listener};
	fxt_options_fold(&c->wanted);
	c->lines = (struct fxt_lines){.order = FXT_TOTAL};
	c->group = FXT_GROUP_FUNCTION;
	fxt_options_begin();
	while (status == FXT_DONE && (option = fxt_option(argc, argv, options, help)) != -1)
		if (!fxt_options_take(&c->wanted, argv[0], option))
			status = report_option(c, argv[0], option);
	if (status == FXT_DONE && c->prints_places && (c->group != FXT_GROUP_FUNCTION || c->by_thread))
		status = fxt_bad_usage(argv[0], "--format=gcc is for functions, without --by or --threads");
	if (status == FXT_DONE && c->is_of_mpi) {
		fxt_print_begin(argv[0], c->wanted.format);
		status = fxt_each_archive(argc, argv, fxt_mpi_report, NULL);
		fxt_print_end();
		return status;
	}
	c->lines.limit = fxt_options_limit(&c->wanted, UINT64_MAX);
	fxt_thread_times_init(&c->times);
	if (status == FXT_DONE)
		status = fxt_each_scan(argc, argv, &c->wanted, report_answer, c);
	fxt_thread_times_free(&c->times);
	fxt_patterns_free(&c->edges);
	return status;
}
