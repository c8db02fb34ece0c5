/*
 * fxt report: what a trace's time was spent on, by function.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "reader/functions.h"
#include "reader/switches.h"
#include "reader/text.h"
#include "reader/walk.h"

static const char help[] =
        "usage: fxt report [OPTION]... [FILE]...\n"
        "\n"
        "Prints a line for each function of a trace:\n"
        "  calls  how often it was called\n"
        "  total  time between its entries and exits; recursive calls add nothing\n"
        "  self   the same without the functions it called\n"
        "  avg, min, max  time of one call, recursive calls included\n"
        "Calls that never ended are counted until their process was killed, else to the end of\n"
        "the trace, and marked.\n"
        "\n"
        "  -s, --sort=KEY       total (the default), self, calls, avg, max or name\n"
        "  -n, --limit=N        the first N functions\n"
        "      --corrected      times without what recording the calls has cost, as\n"
        "                       fxtrun --calibrate measured it, and how far they may be off\n"
        "                       for that\n"
        "      --threads        a table for each thread, behind one of what became of their time:\n"
        "                       they ran on a CPU, they could have run but something else did,\n"
        "                       or they waited; and how often they were switched away\n"
        "\n" FXT_HELP_CHOICE "\n" FXT_HELP_FORMAT;

/* ---- what is wanted ---- */

enum order { BY_TOTAL, BY_SELF, BY_CALLS, BY_AVERAGE, BY_MAX, BY_NAME };

static const char *const order_keys[] = {
        [BY_TOTAL] = "total",
        [BY_SELF] = "self",
        [BY_CALLS] = "calls",
        [BY_AVERAGE] = "avg",
        [BY_MAX] = "max",
        [BY_NAME] = "name",
};
enum { ORDERS = sizeof(order_keys) / sizeof(*order_keys) };

static struct fxt_options wanted;
static enum order order;
static bool by_thread, corrected;

/* ---- tables of functions ---- */

static const struct fxt_scan *scan; /* of the trace being reported */
static struct fxt_call_cost cost;   /* of recording, to be taken off; 0: as it is recorded */

static double report_average(const struct fxt_function *f)
{
	return (double)f->sum / (double)f->calls;
}

static double report_weight(const struct fxt_function *f)
{
	switch (order) {
	case BY_TOTAL:
		return fxt_corrected_total(f, &cost).ns;
	case BY_SELF:
		return fxt_corrected_self(f, &cost).ns;
	case BY_CALLS:
		return (double)f->calls;
	case BY_AVERAGE:
		return report_average(f);
	case BY_MAX:
		return (double)f->max;
	case BY_NAME:
		break;
	}
	return 0;
}

/* Heaviest first, then by name. */
static int report_compare(const void *left, const void *right)
{
	const struct fxt_function *a = left, *b = right;
	struct fxt_span a_name = scan->tables.strings[a->name], b_name = scan->tables.strings[b->name];
	size_t shorter = a_name.bytes < b_name.bytes ? a_name.bytes : b_name.bytes;

	if (report_weight(a) != report_weight(b))
		return report_weight(a) > report_weight(b) ? -1 : 1;
	int by_bytes = shorter ? memcmp(a_name.data, b_name.data, shorter) : 0;

	return by_bytes ? by_bytes : (a_name.bytes > b_name.bytes) - (a_name.bytes < b_name.bytes);
}

/* Its name, and where it comes from as far as the trace tells. */
static void report_name_cells(const struct fxt_function *f, struct fxt_cell cells[5], char remark[48])
{
	const struct fxt_origin *origin = fxt_origins_next(&scan->origins, f->name, NULL);
	const struct fxt_span *strings = scan->tables.strings;

	for (unsigned i = 0; i < 5; i++)
		cells[i] = fxt_cell_unknown();
	cells[0] = fxt_cell_text(strings[f->name]);
	if (f->open > 0) {
		snprintf(remark, 48, " (%" PRIu64 " not ended)", f->open);
		cells[0].remark = fxt_span(remark);
	}
	cells[1] = fxt_cell_number((double)f->open);
	if (origin && origin->module != FXT_NOTHING)
		cells[2] = fxt_cell_text(strings[origin->module]);
	if (origin && origin->file != FXT_NOTHING)
		cells[3] = fxt_cell_text(strings[origin->file]);
	if (origin && origin->line > 0)
		cells[4] = fxt_cell_number(origin->line);
}

/* The columns of a name, whose title says what the rows are. */
#define NAME_COLUMNS(title)                                                                        \
	{"name", title, FXT_COLUMN_TEXT, 0}, {"not_ended", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}, \
	        {"module", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},                                  \
	        {"file", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},                                    \
	{                                                                                          \
		"line", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA                                      \
	}

#define TIME_COLUMNS                                                                            \
	{"calls", "calls", FXT_COLUMN_COUNT, 0}, {"total_ns", "total", FXT_COLUMN_TIME, 0},     \
	        {"self_ns", "self", FXT_COLUMN_TIME, 0}, {"avg_ns", "avg", FXT_COLUMN_TIME, 1}, \
	        {"min_ns", "min", FXT_COLUMN_TIME, 3},                                          \
	{                                                                                       \
		"max_ns", "max", FXT_COLUMN_TIME, 2                                             \
	}

static const struct fxt_column function_columns[] = {TIME_COLUMNS, NAME_COLUMNS("function")};
static const struct fxt_column other_columns[] = {
        TIME_COLUMNS, NAME_COLUMNS("not calls: waits, children and the tracer itself")};
static const struct fxt_column corrected_columns[] = {{"calls", "calls", FXT_COLUMN_COUNT, 0},
        {"total_ns", "total", FXT_COLUMN_TIME, 0}, {"total_error_ns", "+/-", FXT_COLUMN_TIME, 1},
        {"self_ns", "self", FXT_COLUMN_TIME, 0}, {"self_error_ns", "+/-", FXT_COLUMN_TIME, 1},
        NAME_COLUMNS("function")};

static void report_row(const struct fxt_function *f)
{
	struct fxt_cell cells[] = {fxt_cell_number((double)f->calls), fxt_cell_number((double)f->total),
	        fxt_cell_number((double)f->self), fxt_cell_number(report_average(f)),
	        fxt_cell_number((double)f->min), fxt_cell_number((double)f->max), {0}, {0}, {0}, {0}, {0}};
	char remark[48];

	report_name_cells(f, cells + 6, remark);
	fxt_table_row(cells);
}

static void report_corrected_row(const struct fxt_function *f)
{
	struct fxt_corrected total = fxt_corrected_total(f, &cost), self = fxt_corrected_self(f, &cost);
	struct fxt_cell cells[] = {fxt_cell_number((double)f->calls), fxt_cell_number(total.ns),
	        fxt_cell_number(total.error), fxt_cell_number(self.ns), fxt_cell_number(self.error), {0}, {0},
	        {0}, {0}, {0}};
	char remark[48];

	report_name_cells(f, cells + 5, remark);
	fxt_table_row(cells);
}

/* Sorts the functions, or what the tracer tells besides, and prints them. */
static void report_table(
        const struct fxt_functions *functions, const char *of, bool of_tracer, uint64_t lines)
{
	if (of_tracer)
		fxt_table_begin("others", of, other_columns, sizeof(other_columns) / sizeof(*other_columns));
	else if (corrected)
		fxt_table_begin("functions", of, corrected_columns,
		        sizeof(corrected_columns) / sizeof(*corrected_columns));
	else
		fxt_table_begin("functions", of, function_columns,
		        sizeof(function_columns) / sizeof(*function_columns));
	if (functions->count > 0)
		qsort(functions->items, functions->count, sizeof(*functions->items), report_compare);
	for (size_t i = 0; i < functions->count && lines > 0; i++) {
		if (functions->items[i].of_tracer != of_tracer)
			continue;
		if (corrected && !of_tracer)
			report_corrected_row(&functions->items[i]);
		else
			report_row(&functions->items[i]);
		lines--;
	}
	fxt_table_end();
}

/* ---- the trace ---- */

/* What the report tells of a trace. */
struct trace {
	struct fxt_functions *threads; /* by id, scan->thread_count of them */
	struct fxt_functions all;
	uint64_t calls, functions, calling_threads;
};

static uint64_t report_calls(const struct fxt_functions *functions)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < functions->count; i++)
		if (!functions->items[i].of_tracer)
			calls += functions->items[i].calls;
	return calls;
}

static void report_sum_up(struct trace *trace)
{
	for (size_t i = 0; i < scan->thread_count; i++) {
		uint64_t calls = report_calls(&trace->threads[i]);

		fxt_functions_add(&trace->all, &trace->threads[i]);
		fxt_functions_to_ns(&trace->threads[i], scan);
		trace->calls += calls;
		trace->calling_threads += calls > 0;
	}
	fxt_functions_to_ns(&trace->all, scan);
	for (size_t i = 0; i < trace->all.count; i++)
		trace->functions += !trace->all.items[i].of_tracer;
}

/* ---- threads ---- */

/* 'thread 101 "main thread" of process 100 "program"'. To be freed. */
static char *report_thread_text(struct fxt_koids thread)
{
	struct fxt_span name = fxt_tables_object_text(&scan->tables, FXT_OBJECT_THREAD, thread.thread);
	struct fxt_span process = fxt_tables_object_text(&scan->tables, FXT_OBJECT_PROCESS, thread.process);
	const char *thread_quote = name.bytes ? "\"" : "", *process_quote = process.bytes ? "\"" : "";
	char *text = NULL;

	if (asprintf(&text, "thread %" PRIu64 "%s%s%.*s%s of process %" PRIu64 "%s%s%.*s%s", thread.thread,
	            name.bytes ? " " : "", thread_quote, (int)name.bytes, name.data, thread_quote,
	            thread.process, process.bytes ? " " : "", process_quote, (int)process.bytes, process.data,
	            process_quote) < 0) {
		perror("fxt");
		exit(FXT_FAILED);
	}
	return text;
}

static const struct fxt_column thread_columns[] = {{"running_ns", "running", FXT_COLUMN_TIME, 0},
        {"runnable_ns", "runnable", FXT_COLUMN_TIME, 0}, {"blocked_ns", "blocked", FXT_COLUMN_TIME, 0},
        {"switches", "switches", FXT_COLUMN_COUNT, 0}, {"calls", "calls", FXT_COLUMN_COUNT, 0},
        {"description", "thread", FXT_COLUMN_TEXT, 0}, {"thread", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};

static void report_times_row(
        const struct fxt_switch_times *times, const struct fxt_functions *functions, struct fxt_koids thread)
{
	char *text = report_thread_text(thread);

	fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)times->running),
	        fxt_cell_number((double)times->runnable), fxt_cell_number((double)times->blocked),
	        fxt_cell_number((double)times->switches), fxt_cell_number((double)report_calls(functions)),
	        fxt_cell_text(fxt_span(text)), fxt_cell_number((double)thread.thread),
	        fxt_cell_number((double)thread.process)});
	free(text);
}

/* Of the threads that scheduling records tell of, those that the trace knows otherwise too. */
static void report_times(const struct trace *trace, const struct fxt_archive *archive)
{
	struct fxt_switches switches;

	fxt_switches_read(&switches, archive, fxt_scan_ns(scan, scan->end));
	if (switches.count == 0) {
		fxt_print_note(
		        "no context switches in the trace: when its threads ran and waited is not known");
	}
	fxt_table_begin("threads", NULL, thread_columns, sizeof(thread_columns) / sizeof(*thread_columns));
	for (size_t i = 1; i < scan->thread_count; i++) {
		struct fxt_koids thread = scan->tables.threads[i];
		const struct fxt_switch_times *times = fxt_switches_of(&switches, thread.thread);

		if (times && fxt_filter_has_thread(scan->filter, (uint32_t)i))
			report_times_row(times, &trace->threads[i], thread);
	}
	fxt_table_end();
	fxt_switches_free(&switches);
}

static void report_threads(const struct trace *trace, const char *name)
{
	struct fxt_archive archive;
	char error[4096 + 256];

	if (fxt_archive_open_fd(&archive, scan->source->fd, name, error, sizeof(error)) == 0) {
		report_times(trace, &archive);
		fxt_archive_close(&archive);
	} else {
		fprintf(stderr, "fxt: %s\n", error);
	}
	for (size_t i = 0; i < scan->thread_count; i++) {
		if (trace->threads[i].count == 0)
			continue;
		char *of = report_thread_text(scan->tables.threads[i]);

		report_table(&trace->threads[i], of, false, fxt_options_limit(&wanted, UINT64_MAX));
		report_table(&trace->threads[i], of, true, UINT64_MAX);
		free(of);
	}
}

static void report_trace(const struct trace *trace, const char *name)
{
	uint64_t length = fxt_scan_ns(scan, scan->end - scan->start);

	fxt_print_line("%s: %" PRIu64 " call%s of %" PRIu64 " function%s in %" PRIu64 " thread%s, %s", name,
	        trace->calls, fxt_plural(trace->calls), trace->functions, fxt_plural(trace->functions),
	        trace->calling_threads, fxt_plural(trace->calling_threads),
	        fxt_time_text((double)length).text);
	fxt_print_fact("calls", (double)trace->calls);
	fxt_print_fact("functions", (double)trace->functions);
	fxt_print_fact("threads", (double)trace->calling_threads);
	fxt_print_fact("duration_ns", (double)length);
	if (corrected)
		fxt_print_line("without what recording cost: %.1f ns within and %.1f ns around each call, "
		               "+/- %.1f ns",
		        (double)cost.within_ps / 1000, (double)cost.around_ps / 1000,
		        (double)cost.error_ps / 1000);
	if (by_thread) {
		report_threads(trace, name);
	} else {
		report_table(&trace->all, NULL, false, fxt_options_limit(&wanted, UINT64_MAX));
		report_table(&trace->all, NULL, true, UINT64_MAX);
	}
	fxt_print_missing(scan);
}

static bool report_has_cost(const char *name)
{
	if (scan->cost.within_ps + scan->cost.around_ps > 0)
		return true;
	fprintf(stderr, "fxt: %s does not tell what recording cost; fxtrun --calibrate measures it\n", name);
	return false;
}

static int report_answer(const char *name, struct fxt_scan *scanned)
{
	struct trace trace = {0};
	bool is_whole;

	scan = scanned;
	cost = corrected ? scan->cost : (struct fxt_call_cost){0};
	if (corrected && !report_has_cost(name))
		return FXT_FAILED;
	trace.threads = fxt_functions_read(scan, fxt_walk_workers(scan), &is_whole);
	report_sum_up(&trace);
	report_trace(&trace, name);
	for (size_t i = 0; i < scan->thread_count; i++)
		fxt_functions_free(&trace.threads[i]);
	free(trace.threads);
	fxt_functions_free(&trace.all);
	return fxt_tell_changed(name, is_whole);
}

/* ---- the command ---- */

static bool report_set_order(const char *key)
{
	for (int i = 0; i < ORDERS; i++) {
		if (strcmp(key, order_keys[i]) == 0) {
			order = (enum order)i;
			return true;
		}
	}
	return false;
}

int fxt_command_report(int argc, char **argv)
{
	enum { CORRECTED = FXT_OPTION_OWN, THREADS };
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        {"sort", required_argument, NULL, 's'}, {"threads", no_argument, NULL, THREADS},
	        {"corrected", no_argument, NULL, CORRECTED}, {0}};
	int option;

	wanted = (struct fxt_options){0};
	order = BY_TOTAL;
	by_thread = corrected = false;
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (fxt_options_take(&wanted, argv[0], option))
			continue;
		if (option == 's' && !report_set_order(optarg))
			return fxt_bad_usage(argv[0], "cannot sort by '%s'", optarg);
		by_thread |= option == THREADS;
		corrected |= option == CORRECTED;
	}
	int status = fxt_each_scan(argc, argv, &wanted, report_answer);

	fxt_choice_free(&wanted.choice);
	return status;
}
