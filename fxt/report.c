/*
 * fxt report: what a trace's time was spent on, by function.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/functions.h"
#include "commands.h"
#include "reader/switches.h"
#include "reader/text.h"
#include "reader/walk.h"

static const char help[] =
        "usage: fxt report [--sort=KEY] [--limit=N] [--threads] [--corrected] FILE...\n"
        "\n"
        "Prints a line for each function of a trace:\n"
        "  calls  how often it was called\n"
        "  total  time between its entries and exits; recursive calls add nothing\n"
        "  self   the same without the functions it called\n"
        "  avg, min, max  time of one call, recursive calls included\n"
        "Calls that never ended are counted until their process was killed, else to the end of\n"
        "the trace, and marked.\n"
        "\n"
        "  --sort=KEY   total (the default), self, calls, avg, max or name\n"
        "  --limit=N    the first N functions\n"
        "  --corrected  times without what recording the calls has cost, as fxtrun --calibrate\n"
        "               measured it, and how far they may be off for that\n"
        "  --threads    a table for each thread, behind one of what became of their time:\n"
        "               they ran on a CPU, they could have run but something else did, or\n"
        "               they waited; and how often they were switched away\n"
        "\n"
        "FILE may be -, the standard input.\n";

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

static enum order order;
static uint64_t limit;
static bool by_thread, corrected;

/* ---- tables ---- */

static const struct fxt_tables *tables; /* of the trace being reported */
static struct fxt_call_cost cost;       /* of recording, to be taken off; 0: as it is recorded */

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
	struct fxt_span a_name = tables->strings[a->name], b_name = tables->strings[b->name];
	size_t shorter = a_name.bytes < b_name.bytes ? a_name.bytes : b_name.bytes;

	if (report_weight(a) != report_weight(b))
		return report_weight(a) > report_weight(b) ? -1 : 1;
	int by_bytes = shorter ? memcmp(a_name.data, b_name.data, shorter) : 0;

	return by_bytes ? by_bytes : (a_name.bytes > b_name.bytes) - (a_name.bytes < b_name.bytes);
}

static void report_print_time(double ns)
{
	printf("  %11s", fxt_time_text(ns).text);
}

static void report_print_corrected(struct fxt_corrected time)
{
	report_print_time(time.ns);
	report_print_time(time.error);
}

static void report_print_line(const struct fxt_function *f)
{
	printf("%12" PRIu64, f->calls);
	if (corrected && !f->of_tracer) {
		report_print_corrected(fxt_corrected_total(f, &cost));
		report_print_corrected(fxt_corrected_self(f, &cost));
	} else {
		report_print_time((double)f->total);
		report_print_time((double)f->self);
		report_print_time(report_average(f));
		report_print_time((double)f->min);
		report_print_time((double)f->max);
	}
	fputs("  ", stdout);
	fxt_print_text(tables->strings[f->name]);
	if (f->open > 0)
		printf(" (%" PRIu64 " not ended)", f->open);
	putchar('\n');
}

/* Sorts the functions, or what the tracer tells besides, and prints them. */
static void report_print_table(const struct fxt_functions *functions, bool of_tracer, uint64_t lines)
{
	const char *what = of_tracer ? "not calls: waits, children and the tracer itself" : "function";
	bool header = true;

	if (functions->count > 0)
		qsort(functions->items, functions->count, sizeof(*functions->items), report_compare);
	for (size_t i = 0; i < functions->count && lines > 0; i++) {
		if (functions->items[i].of_tracer != of_tracer)
			continue;
		if (header && corrected && !of_tracer)
			printf("\n%12s  %11s  %11s  %11s  %11s  %s\n", "calls", "total", "+/-", "self", "+/-",
			        what);
		else if (header)
			printf("\n%12s  %11s  %11s  %11s  %11s  %11s  %s\n", "calls", "total", "self", "avg",
			        "min", "max", what);
		report_print_line(&functions->items[i]);
		header = false;
		lines--;
	}
}

/* ---- the trace ---- */

/* What the report tells of a trace. */
struct trace {
	const struct fxt_scan *scan;
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
	for (size_t i = 0; i < trace->scan->thread_count; i++) {
		uint64_t calls = report_calls(&trace->threads[i]);

		fxt_functions_add(&trace->all, &trace->threads[i]);
		fxt_functions_to_ns(&trace->threads[i], trace->scan);
		trace->calls += calls;
		trace->calling_threads += calls > 0;
	}
	fxt_functions_to_ns(&trace->all, trace->scan);
	for (size_t i = 0; i < trace->all.count; i++)
		trace->functions += !trace->all.items[i].of_tracer;
}

static void report_print_object(const char *what, enum fxt_object_type type, uint64_t koid)
{
	uint32_t name = fxt_tables_object_name(tables, type, koid);

	printf("%s %" PRIu64, what, koid);
	if (name != FXT_NOTHING) {
		putchar(' ');
		fxt_print_quoted(tables->strings[name]);
	}
}

static void report_print_thread(struct fxt_koids thread)
{
	report_print_object("thread", FXT_OBJECT_THREAD, thread.thread);
	report_print_object(" of process", FXT_OBJECT_PROCESS, thread.process);
	putchar('\n');
}

/* Of the threads that scheduling records tell of, those that the trace knows otherwise too. */
static void report_print_times(const struct trace *trace, const struct fxt_archive *archive)
{
	struct fxt_switches switches;

	fxt_switches_read(&switches, archive, fxt_scan_ns(trace->scan, trace->scan->end));
	if (switches.count == 0)
		printf("\nno context switches in the trace: when its threads ran and waited is not known\n");
	else
		printf("\n%11s  %11s  %11s  %11s  %11s\n", "running", "runnable", "blocked", "switches",
		        "calls");
	for (size_t i = 1; i < trace->scan->thread_count; i++) {
		const struct fxt_switch_times *times = fxt_switches_of(&switches, tables->threads[i].thread);

		if (!times)
			continue;
		printf("%11s", fxt_time_text((double)times->running).text);
		report_print_time((double)times->runnable);
		report_print_time((double)times->blocked);
		printf("  %11" PRIu64 "  %11" PRIu64 "  ", times->switches, report_calls(&trace->threads[i]));
		report_print_thread(tables->threads[i]);
	}
	fxt_switches_free(&switches);
}

static void report_print_threads(const struct trace *trace, const char *name)
{
	struct fxt_archive archive;
	char error[4096 + 256];

	if (fxt_archive_open_fd(&archive, trace->scan->source->fd, name, error, sizeof(error)) == 0) {
		report_print_times(trace, &archive);
		fxt_archive_close(&archive);
	} else {
		fprintf(stderr, "fxt: %s\n", error);
	}
	for (size_t i = 0; i < trace->scan->thread_count; i++) {
		if (trace->threads[i].count == 0)
			continue;
		putchar('\n');
		report_print_thread(tables->threads[i]);
		report_print_table(&trace->threads[i], false, limit);
		report_print_table(&trace->threads[i], true, UINT64_MAX);
	}
}

static bool report_has_cost(const char *name, const struct fxt_scan *scan)
{
	if (scan->cost.within_ps + scan->cost.around_ps > 0)
		return true;
	fprintf(stderr, "fxt: %s does not tell what recording cost; fxtrun --calibrate measures it\n", name);
	return false;
}

static void report_print_missing(uint64_t records, const char *fate)
{
	if (records > 0)
		printf("\n%" PRIu64 " record%s %s: their calls are missing above\n", records,
		        records == 1 ? " was" : "s were", fate);
}

static void report_print_state(const struct fxt_archive_state *state)
{
	if (!state->is_finished)
		printf("\nthe trace is unfinished: fxtrun did not come to write its end, and what is missing "
		       "is unknown\n");
	if (state->bytes_unwritten > 0)
		printf("\nthe trace is cut: its file had no room for %" PRIu64 " byte%s of records\n",
		        state->bytes_unwritten, fxt_plural(state->bytes_unwritten));
}

static void report_print_dropped(uint64_t ends)
{
	if (ends > 0)
		printf("\n%" PRIu64 " end%s of a duration without its beginning: left out\n", ends,
		        fxt_plural(ends));
}

static void report_print_trace(const struct trace *trace, const char *name)
{
	const struct fxt_scan *scan = trace->scan;

	printf("%s: %" PRIu64 " call%s of %" PRIu64 " function%s in %" PRIu64 " thread%s, %s\n", name,
	        trace->calls, fxt_plural(trace->calls), trace->functions, fxt_plural(trace->functions),
	        trace->calling_threads, fxt_plural(trace->calling_threads),
	        fxt_time_text((double)fxt_scan_ns(scan, scan->end - scan->start)).text);
	if (corrected)
		printf("without what recording cost: %.1f ns within and %.1f ns around each call, +/- %.1f "
		       "ns\n",
		        (double)cost.within_ps / 1000, (double)cost.around_ps / 1000,
		        (double)cost.error_ps / 1000);
	if (by_thread) {
		report_print_threads(trace, name);
	} else {
		report_print_table(&trace->all, false, limit);
		report_print_table(&trace->all, true, UINT64_MAX);
	}
	report_print_missing(scan->records_lost, "lost");
	report_print_missing(scan->records_overwritten, "overwritten by later ones");
	report_print_dropped(scan->ends_without_begin);
	report_print_state(&scan->state);
}

static int report_file(const char *name, const struct fxt_source *source)
{
	struct fxt_scan scan;
	struct trace trace = {.scan = &scan};
	int status = FXT_FAILED;

	fxt_scan(&scan, source, NULL);
	tables = &scan.tables;
	cost = corrected ? scan.cost : (struct fxt_call_cost){0};
	if (!corrected || report_has_cost(name, &scan)) {
		bool complete;

		trace.threads = fxt_functions_read(&scan, fxt_walk_workers(&scan), &complete);
		report_sum_up(&trace);
		report_print_trace(&trace, name);
		status = fxt_tell_unread(name, scan.malformed, &scan.fault);
		if (!complete) {
			fprintf(stderr, "fxt: %s: it changed while it was read\n", name);
			status = FXT_BROKEN;
		}
		for (size_t i = 0; i < scan.thread_count; i++)
			fxt_functions_free(&trace.threads[i]);
		free(trace.threads);
		fxt_functions_free(&trace.all);
	}
	fxt_scan_free(&scan);
	return status;
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

static bool report_set_limit(const char *number)
{
	char *end;

	limit = strtoull(number, &end, 10);
	return *number >= '0' && *number <= '9' && *end == '\0';
}

int fxt_command_report(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	        {"sort", required_argument, NULL, 's'}, {"limit", required_argument, NULL, 'l'},
	        {"threads", no_argument, NULL, 't'}, {"corrected", no_argument, NULL, 'c'}, {0}};
	int option;

	order = BY_TOTAL;
	limit = UINT64_MAX;
	by_thread = corrected = false;
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (option == 's' && !report_set_order(optarg))
			return fxt_bad_usage(argv[0], "cannot sort by '%s'", optarg);
		if (option == 'l' && !report_set_limit(optarg))
			return fxt_bad_usage(argv[0], "'%s' is no number of functions", optarg);
		by_thread |= option == 't';
		corrected |= option == 'c';
	}
	return fxt_each_source(argc, argv, report_file);
}
