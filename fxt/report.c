/*
 * fxt report: what a trace's time was spent on, by function.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "reader/groups.h"
#include "reader/switches.h"
#include "reader/text.h"
#include "reader/walk.h"
#include "words.h"

static const char help[] =
        "usage: fxt report [OPTION]... [FILE]...\n"
        "\n"
        "Prints a line for each function of a trace:\n"
        "  calls  how often it was called\n"
        "  total  time between its entries and exits; recursive calls add nothing\n"
        "  self   the same without the functions it called\n"
        "  on CPU, off CPU  of the latter, when its thread ran and when not; where the trace\n"
        "         has context switches\n"
        "  avg, p50, p90, p99, min, max  time of one call, recursive calls included; percentiles\n"
        "         to 1/32\n"
        "Calls that never ended are counted until their process was killed, else to the end of\n"
        "the trace, and marked. What the tracer made a thread wait is in no time but its own.\n"
        "\n"
        "  -s, --sort=KEY       total (the default), self, off, calls, avg, p50, p90, p99, min,\n"
        "                       max or name\n"
        "  -n, --limit=N        the first N lines of each table\n"
        "  -b, --by=KEY         a line for each module, file, category, thread, process or program\n"
        "                       instead\n"
        "      --callers=NAME   the calls of these functions, by who made them\n"
        "      --callees=NAME   the calls that these functions made\n"
        "      --histogram      how many calls took how long, for each line\n"
        "      --corrected      times without what recording the calls has cost, as\n"
        "                       fxtrun --calibrate measured it, and how far they may be off\n"
        "                       for that\n"
        "      --threads        a table for each thread, behind one of what became of their time:\n"
        "                       they ran on a CPU, they could have run but something else did,\n"
        "                       or they waited; and how often they were switched away\n" FXT_HELP_CHOICE
                FXT_HELP_FORMAT FXT_HELP_FILE;

/* ---- what is wanted ---- */

/* A figure, or one of these. */
enum { BY_OFF = FXT_FIGURES, BY_NAME };

static const struct {
	const char *key, *title, *table;
} groups[FXT_GROUPS] = {
        [FXT_GROUP_FUNCTION] = {"function", "function", "functions"},
        [FXT_GROUP_MODULE] = {"module", "module", "modules"},
        [FXT_GROUP_FILE] = {"file", "file", "files"},
        [FXT_GROUP_CATEGORY] = {"category", "category", "categories"},
        [FXT_GROUP_THREAD] = {"thread", "thread", "threads_by_calls"},
        [FXT_GROUP_PROCESS] = {"process", "process", "processes"},
        [FXT_GROUP_PROGRAM] = {"program", "program", "programs"},
        [FXT_GROUP_CALLERS] = {NULL, "caller", "callers"},
        [FXT_GROUP_CALLEES] = {NULL, "callee", "callees"},
};

static struct fxt_options wanted;
static struct fxt_patterns edges; /* functions whose callers or callees are wanted */
static int order;
static enum fxt_group group;
static bool by_thread, corrected, histogram;

/* ---- tables of functions ---- */

static const struct fxt_scan *scan;  /* of the trace being reported */
static struct fxt_groups grouping;   /* of it */
static struct fxt_pastimes pastimes; /* of its threads */
static struct fxt_call_cost cost;    /* of recording, to be taken off; 0: as it is recorded */

static double report_off(const struct fxt_function *f)
{
	return (double)f->self_cpu[FXT_CPU_RUNNABLE] + (double)f->self_cpu[FXT_CPU_BLOCKED];
}

static double report_weight(const struct fxt_function *f)
{
	switch (order) {
	case FXT_TOTAL:
		return fxt_corrected_total(f, &cost).ns;
	case FXT_SELF:
		return fxt_corrected_self(f, &cost).ns;
	case BY_OFF:
		return report_off(f);
	case BY_NAME:
		return 0;
	default:
		return fxt_function_figure(f, scan, (enum fxt_figure)order);
	}
}

/* What is sorted: the weight is found once. */
struct line {
	const struct fxt_function *function;
	double weight;
	struct fxt_span name;
};

/* Heaviest first, then by name. */
static int report_compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return fxt_spans_compare(a->name, b->name);
}

/* What a line is called. */
static struct fxt_span report_name(const struct fxt_function *f)
{
	return f->of_tracer ? scan->tables.strings[f->name] : fxt_groups_name(&grouping, scan, f->name);
}

enum { NAME_CELLS = 5, TIME_CELLS = 15, CORRECTED_CELLS = 5 };

/* Its name, and where it comes from as far as the trace tells. */
static void report_name_cells(const struct line *line, struct fxt_cell cells[NAME_CELLS], char remark[48])
{
	const struct fxt_function *f = line->function;
	const struct fxt_origin *origin = NULL;
	const struct fxt_span *strings = scan->tables.strings;

	if (group == FXT_GROUP_FUNCTION || group >= FXT_GROUP_CALLERS)
		origin = fxt_origins_next(&scan->origins, f->name, NULL);
	for (unsigned i = 0; i < NAME_CELLS; i++)
		cells[i] = fxt_cell_unknown();
	cells[0] = fxt_cell_text(line->name);
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

/* The times of a column are unknown where the trace has no switches, or none of what is in the line. */
static struct fxt_cell report_cpu_cell(const struct fxt_function *f, double time)
{
	double known = (double)f->self_cpu[FXT_CPU_RUNNING] + report_off(f) + (double)f->total_running;

	return known > 0 ? fxt_cell_number(time) : fxt_cell_unknown();
}

static struct fxt_cell report_figure_cell(const struct fxt_function *f, enum fxt_figure figure)
{
	return fxt_cell_number(fxt_function_figure(f, scan, figure));
}

static void report_row(const struct line *line)
{
	const struct fxt_function *f = line->function;
	double running = (double)f->total_running, total = (double)f->total;
	struct fxt_cell cells[TIME_CELLS + NAME_CELLS] = {report_figure_cell(f, FXT_CALLS),
	        report_figure_cell(f, FXT_TOTAL), report_figure_cell(f, FXT_SELF),
	        report_cpu_cell(f, (double)f->self_cpu[FXT_CPU_RUNNING]), report_cpu_cell(f, report_off(f)),
	        report_figure_cell(f, FXT_AVERAGE), report_figure_cell(f, FXT_P50),
	        report_figure_cell(f, FXT_P90), report_figure_cell(f, FXT_P99),
	        report_figure_cell(f, FXT_MIN), report_figure_cell(f, FXT_MAX),
	        report_cpu_cell(f, (double)f->self_cpu[FXT_CPU_RUNNABLE]),
	        report_cpu_cell(f, (double)f->self_cpu[FXT_CPU_BLOCKED]), report_cpu_cell(f, running),
	        report_cpu_cell(f, total > running ? total - running : 0)};
	char remark[48];

	report_name_cells(line, cells + TIME_CELLS, remark);
	fxt_table_row(cells);
}

static void report_corrected_row(const struct line *line)
{
	const struct fxt_function *f = line->function;
	struct fxt_corrected total = fxt_corrected_total(f, &cost), self = fxt_corrected_self(f, &cost);
	struct fxt_cell cells[CORRECTED_CELLS + NAME_CELLS] = {fxt_cell_number((double)f->calls),
	        fxt_cell_number(total.ns), fxt_cell_number(total.error), fxt_cell_number(self.ns),
	        fxt_cell_number(self.error)};
	char remark[48];

	report_name_cells(line, cells + CORRECTED_CELLS, remark);
	fxt_table_row(cells);
}

/* The columns of a table whose lines have this title. Returns how many there are. */
static size_t report_columns(
        struct fxt_column columns[TIME_CELLS + NAME_CELLS], const char *title, bool times)
{
	uint8_t cpu = pastimes.has_switches ? 0 : FXT_COLUMN_DATA;
	const struct fxt_column time_columns[TIME_CELLS] = {{"calls", "calls", FXT_COLUMN_COUNT, 0},
	        {"total_ns", "total", FXT_COLUMN_TIME, 0}, {"self_ns", "self", FXT_COLUMN_TIME, 0},
	        {"on_cpu_ns", "on CPU", FXT_COLUMN_TIME, cpu ? cpu : 7},
	        {"off_cpu_ns", "off CPU", FXT_COLUMN_TIME, cpu ? cpu : 2},
	        {"avg_ns", "avg", FXT_COLUMN_TIME, 4}, {"p50_ns", "p50", FXT_COLUMN_TIME, 3},
	        {"p90_ns", "p90", FXT_COLUMN_TIME, 5}, {"p99_ns", "p99", FXT_COLUMN_TIME, 2},
	        {"min_ns", "min", FXT_COLUMN_TIME, 6}, {"max_ns", "max", FXT_COLUMN_TIME, 1},
	        {"preempted_ns", "", FXT_COLUMN_TIME, FXT_COLUMN_DATA},
	        {"blocked_ns", "", FXT_COLUMN_TIME, FXT_COLUMN_DATA},
	        {"total_on_cpu_ns", "", FXT_COLUMN_TIME, FXT_COLUMN_DATA},
	        {"total_off_cpu_ns", "", FXT_COLUMN_TIME, FXT_COLUMN_DATA}};
	static const struct fxt_column corrected_columns[CORRECTED_CELLS] = {
	        {"calls", "calls", FXT_COLUMN_COUNT, 0}, {"total_ns", "total", FXT_COLUMN_TIME, 0},
	        {"total_error_ns", "+/-", FXT_COLUMN_TIME, 1}, {"self_ns", "self", FXT_COLUMN_TIME, 0},
	        {"self_error_ns", "+/-", FXT_COLUMN_TIME, 1}};
	const struct fxt_column name_columns[NAME_CELLS] = {{"name", title, FXT_COLUMN_TEXT, 0},
	        {"not_ended", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
	        {"module", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
	        {"file", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
	        {"line", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};
	size_t count = times ? TIME_CELLS : CORRECTED_CELLS;

	memcpy(columns, times ? time_columns : corrected_columns, count * sizeof(*columns));
	memcpy(columns + count, name_columns, sizeof(name_columns));
	return count + NAME_CELLS;
}

/* The lines of a table in order, those of functions, or of what the tracer tells besides. To be freed. */
static struct line *report_lines(const struct fxt_functions *functions, bool of_tracer, size_t *count)
{
	struct line *lines = fxt_allocate((functions->count + 1) * sizeof(*lines));

	*count = 0;
	for (size_t i = 0; i < functions->count; i++) {
		const struct fxt_function *f = &functions->items[i];

		if (f->of_tracer == of_tracer && f->calls > 0)
			lines[(*count)++] = (struct line){f, report_weight(f), report_name(f)};
	}
	qsort(lines, *count, sizeof(*lines), report_compare);
	return lines;
}

/* How many calls took how long: a row for each octave, or a part of it if there are few. */
static void report_histogram(const struct line *line)
{
	static const struct fxt_column columns[] = {{"from_ns", "from", FXT_COLUMN_TIME, 0},
	        {"below_ns", "below", FXT_COLUMN_TIME, 0}, {"calls", "calls", FXT_COLUMN_COUNT, 0},
	        {"share", "share", FXT_COLUMN_SHARE, 0}, {NULL, "", FXT_COLUMN_TEXT, 0}};
	static const char bar[] = "########################################";
	const struct fxt_histogram *h = &line->function->times;
	uint32_t step = fxt_histogram_step(h, 24), first = h->first / step * step;
	double unit = (double)FXT_NS_PER_SECOND / (double)scan->rate.ticks_per_second;
	uint64_t most = 0;
	char *of = strndup(line->name.data, line->name.bytes);

	for (uint32_t at = first; at < h->first + h->room; at += step) {
		uint64_t calls = fxt_histogram_sum(h, at, at + step);

		most = calls > most ? calls : most;
	}
	fxt_table_begin("histogram", of, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t at = first; at < h->first + h->room; at += step) {
		uint64_t calls = fxt_histogram_sum(h, at, at + step);
		size_t length = most ? (size_t)((double)calls / (double)most * (sizeof(bar) - 1) + 0.5) : 0;

		if (calls == 0)
			continue;
		fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)fxt_histogram_bound(at) * unit),
		        fxt_cell_number((double)fxt_histogram_bound(at + step) * unit),
		        fxt_cell_number((double)calls),
		        fxt_cell_number((double)calls / (double)line->function->calls),
		        fxt_cell_text((struct fxt_span){bar, length})});
	}
	fxt_table_end();
	free(of);
}

/* Sorts the functions, or what the tracer tells besides, and prints them. */
static void report_table(const struct fxt_functions *functions, const char *of, bool of_tracer)
{
	uint64_t most = fxt_options_limit(&wanted, UINT64_MAX);
	bool times = of_tracer || !corrected;
	struct fxt_column columns[TIME_CELLS + NAME_CELLS];
	const char *title =
	        of_tracer ? "not calls: waits, children and the tracer itself" : groups[group].title;
	size_t column_count = report_columns(columns, title, times), count;
	struct line *lines = report_lines(functions, of_tracer, &count);

	count = count < most ? count : (size_t)most;
	fxt_table_begin(of_tracer ? "others" : groups[group].table, of, columns, column_count);
	for (size_t i = 0; i < count; i++) {
		if (times)
			report_row(&lines[i]);
		else
			report_corrected_row(&lines[i]);
	}
	fxt_table_end();
	for (size_t i = 0; histogram && !of_tracer && i < count; i++)
		if (lines[i].function->calls > 1)
			report_histogram(&lines[i]);
	free(lines);
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
		trace->functions += !trace->all.items[i].of_tracer && trace->all.items[i].calls > 0;
}

/* ---- threads ---- */

static const struct fxt_column thread_columns[] = {{"running_ns", "running", FXT_COLUMN_TIME, 0},
        {"runnable_ns", "runnable", FXT_COLUMN_TIME, 0}, {"blocked_ns", "blocked", FXT_COLUMN_TIME, 0},
        {"switches", "switches", FXT_COLUMN_COUNT, 0}, {"calls", "calls", FXT_COLUMN_COUNT, 0},
        {"description", "thread", FXT_COLUMN_TEXT, 0}, {"thread", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};

static void report_times_row(
        const struct fxt_switch_times *times, const struct fxt_functions *functions, uint32_t id)
{
	struct fxt_koids thread = scan->tables.threads[id];
	struct fxt_words text;

	fxt_words_begin(&text);
	fxt_words_thread(text.out, scan, id, true);
	fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)times->running),
	        fxt_cell_number((double)times->runnable), fxt_cell_number((double)times->blocked),
	        fxt_cell_number((double)times->switches), fxt_cell_number((double)report_calls(functions)),
	        fxt_cell_text(fxt_words_end(&text)), fxt_cell_number((double)thread.thread),
	        fxt_cell_number((double)thread.process)});
	fxt_words_free(&text);
}

/* Of the threads that scheduling records tell of, those that the trace knows otherwise too. */
static void report_times(const struct trace *trace)
{
	struct fxt_switches switches;

	fxt_switches_sum(&switches, &pastimes.timeline);
	if (switches.count == 0) {
		fxt_print_note(
		        "no context switches in the trace: when its threads ran and waited is not known");
	}
	fxt_table_begin("threads", NULL, thread_columns, sizeof(thread_columns) / sizeof(*thread_columns));
	for (uint32_t i = 1; i < scan->thread_count; i++) {
		const struct fxt_switch_times *times =
		        fxt_switches_of(&switches, scan->tables.threads[i].thread);

		if (times && fxt_filter_has_thread(scan->filter, i))
			report_times_row(times, &trace->threads[i], i);
	}
	fxt_table_end();
	fxt_switches_free(&switches);
}

static void report_threads(const struct trace *trace)
{
	report_times(trace);
	for (uint32_t i = 0; i < scan->thread_count; i++) {
		struct fxt_words text;

		if (trace->threads[i].count == 0)
			continue;
		fxt_words_begin(&text);
		fxt_words_thread(text.out, scan, i, true);
		const char *of = fxt_words_end(&text).data;

		report_table(&trace->threads[i], of, false);
		report_table(&trace->threads[i], of, true);
		fxt_words_free(&text);
	}
}

/* What was counted, in words. */
static void report_head(const struct trace *trace, const char *name)
{
	uint64_t length = fxt_scan_ns(scan, scan->end - scan->start);

	if (group == FXT_GROUP_FUNCTION)
		fxt_print_line("%s: %" PRIu64 " call%s of %" PRIu64 " function%s in %" PRIu64 " thread%s, %s",
		        name, trace->calls, fxt_plural(trace->calls), trace->functions,
		        fxt_plural(trace->functions), trace->calling_threads,
		        fxt_plural(trace->calling_threads), fxt_time_text((double)length).text);
	else
		fxt_print_line("%s: %" PRIu64 " call%s in %" PRIu64 " thread%s, %s", name, trace->calls,
		        fxt_plural(trace->calls), trace->calling_threads, fxt_plural(trace->calling_threads),
		        fxt_time_text((double)length).text);
	fxt_print_fact("calls", (double)trace->calls);
	if (group == FXT_GROUP_FUNCTION)
		fxt_print_fact("functions", (double)trace->functions);
	fxt_print_fact("threads", (double)trace->calling_threads);
	fxt_print_fact("duration_ns", (double)length);
	fxt_print_fact("tracer_waits", (double)pastimes.waits);
	fxt_print_fact("tracer_waited_ns", (double)fxt_scan_ns(scan, pastimes.waited_time));
	if (corrected)
		fxt_print_line("without what recording cost: %.1f ns within and %.1f ns around each call, "
		               "+/- %.1f ns",
		        (double)cost.within_ps / 1000, (double)cost.around_ps / 1000,
		        (double)cost.error_ps / 1000);
	if (pastimes.waits > 0)
		fxt_print_line("without what the tracer made threads wait for room: %" PRIu64 " time%s, %s "
		               "in all",
		        pastimes.waits, fxt_plural(pastimes.waits),
		        fxt_time_text((double)fxt_scan_ns(scan, pastimes.waited_time)).text);
}

static void report_trace(const struct trace *trace, const char *name)
{
	report_head(trace, name);
	if (by_thread) {
		report_threads(trace);
	} else {
		report_table(&trace->all, NULL, false);
		if (group == FXT_GROUP_FUNCTION)
			report_table(&trace->all, NULL, true);
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

/* Makes the grouping that is wanted; false if the trace has no such functions, which is told. */
static bool report_group(const char *name)
{
	char error[1024];

	if (fxt_groups_make(&grouping, scan, group, &edges, error, sizeof(error)) == 0)
		return true;
	fxt_tell_name(name, error);
	return false;
}

static int report_answer(const char *name, struct fxt_scan *scanned)
{
	struct trace trace = {0};
	bool is_whole;

	scan = scanned;
	cost = corrected ? scan->cost : (struct fxt_call_cost){0};
	if ((corrected && !report_has_cost(name)) || !report_group(name))
		return FXT_FAILED;
	fxt_pastimes_finish(&pastimes, scan);
	trace.threads =
	        fxt_functions_read(scan, &grouping.grouping, &pastimes, fxt_walk_workers(scan), &is_whole);
	report_sum_up(&trace);
	report_trace(&trace, name);
	for (size_t i = 0; i < scan->thread_count; i++)
		fxt_functions_free(&trace.threads[i]);
	free(trace.threads);
	fxt_functions_free(&trace.all);
	fxt_groups_free(&grouping);
	return fxt_tell_changed(name, is_whole);
}

/* ---- the command ---- */

static bool report_set_order(const char *key)
{
	enum fxt_figure figure;

	if (strcmp(key, "off") == 0)
		order = BY_OFF;
	else if (strcmp(key, "name") == 0)
		order = BY_NAME;
	else if (fxt_figure_named(fxt_span(key), &figure))
		order = (int)figure;
	else
		return false;
	return true;
}

static bool report_set_group(const char *key)
{
	for (enum fxt_group i = 0; i < FXT_GROUPS; i++) {
		if (groups[i].key && strcmp(key, groups[i].key) == 0) {
			group = i;
			return true;
		}
	}
	return false;
}

enum { CORRECTED = FXT_OPTION_OWN, THREADS, CALLERS, CALLEES, HISTOGRAM };

/* Takes over an option of the report's own. Returns FXT_DONE, or FXT_FAILED after telling what is wrong. */
static int report_option(const char *command, int option)
{
	const char *problem = NULL;

	switch (option) {
	case 's':
		return report_set_order(optarg) ? FXT_DONE
		                                : fxt_bad_usage(command, "cannot sort by '%s'", optarg);
	case 'b':
		return report_set_group(optarg) ? FXT_DONE
		                                : fxt_bad_usage(command, "cannot group by '%s'", optarg);
	case CALLERS:
	case CALLEES:
		group = option == CALLERS ? FXT_GROUP_CALLERS : FXT_GROUP_CALLEES;
		problem = fxt_patterns_add(&edges, optarg);
		break;
	case HISTOGRAM:
		histogram = true;
		break;
	case CORRECTED:
		corrected = true;
		break;
	case THREADS:
		by_thread = true;
		break;
	}
	return problem ? fxt_bad_usage(command, "'%s' %s", optarg, problem) : FXT_DONE;
}

int fxt_command_report(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        {"sort", required_argument, NULL, 's'}, {"by", required_argument, NULL, 'b'},
	        {"callers", required_argument, NULL, CALLERS}, {"callees", required_argument, NULL, CALLEES},
	        {"histogram", no_argument, NULL, HISTOGRAM}, {"threads", no_argument, NULL, THREADS},
	        {"corrected", no_argument, NULL, CORRECTED}, {0}};
	int option, status = FXT_DONE;

	wanted = (struct fxt_options){.listener = &pastimes.listener};
	order = FXT_TOTAL;
	group = FXT_GROUP_FUNCTION;
	by_thread = corrected = histogram = false;
	fxt_options_begin();
	while (status == FXT_DONE && (option = fxt_option(argc, argv, options, help)) != -1)
		if (!fxt_options_take(&wanted, argv[0], option))
			status = report_option(argv[0], option);
	fxt_pastimes_init(&pastimes);
	if (status == FXT_DONE)
		status = fxt_each_scan(argc, argv, &wanted, report_answer);
	fxt_pastimes_free(&pastimes);
	fxt_patterns_free(&edges);
	return status;
}
