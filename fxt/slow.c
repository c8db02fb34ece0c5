/*
 * fxt slow: shows the slowest calls of a function, and the cause of each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "call_details.h"
#include "options.h"
#include "reader/slices/events.h"
#include "describe.h"

static const char help[] =
        "usage: fxt slow [OPTION]... FUNC [FILE]...\n"
        "\n"
        "Prints the slowest calls of a function, or of all functions that a GLOB or\n"
        "/regex/ matches:\n"
        "  call       its number, for fxt why FUNC:CALL; none with --by\n"
        "  time       how long it took\n"
        "  start      when it began, since the trace's start\n"
        "  running    how long its thread was on a CPU, if the trace has context\n"
        "             switches;\n"
        "  preempted  how long it could have run, but something else did;\n"
        "  waiting    and how long it waited, for a lock, a thread, or an unknown reason\n"
        "  mostly     what it spent more time on than the median call, and the share of\n"
        "             its time; with --where, than the median of the calls left out,\n"
        "             and if it is the only call, what it spent most time on\n"
        "  arguments  its arguments, if any of these calls has some\n"
        "\n"
        "  -n, --limit=N        the first N calls, at most 1000 [10]\n"
        "  -b, --by=arg:NAME    the slowest call for each value of an argument\n" FXT_HELP_CHOICE
                FXT_HELP_FOLD FXT_HELP_FORMAT FXT_HELP_FILE;

enum { CALLS = 10, CALLS_MAX = 1000 };

static const struct fxt_column columns[] = {
        {"call", "call", FXT_COLUMN_COUNT, 0},
        {"value", "value", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"start_ns", "start", FXT_COLUMN_TIME, 2},
        {"running_ns", "running", FXT_COLUMN_TIME, 1},
        {"preempted_ns", "preempted", FXT_COLUMN_TIME, 1},
        {"waiting_ns", "waiting", FXT_COLUMN_TIME, 1},
        {"thread", "thread", FXT_COLUMN_TEXT, 3},
        {"mostly", "mostly", FXT_COLUMN_TEXT, 0},
        {"mostly_share", "", FXT_COLUMN_SHARE, FXT_COLUMN_DATA},
        {"path", "called by", FXT_COLUMN_TEXT, 4},
        {"arguments", "arguments", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
};
enum { VALUE = 1, ARGUMENTS = 11, COLUMNS = sizeof(columns) / sizeof(*columns) };

/* Arguments of the calls that are shown. */
struct slow_arguments {
	struct slow_call {
		uint64_t offset;             /* of its record */
		struct fxt_describer *words; /* its arguments */
	} * calls;                           /* by offset, ascending */
	struct fxt_describer *words;         /* by number of the call */
	size_t count;
	bool has_any;
};

/* The options, and the state while traces are read. */
struct slow_command {
	struct fxt_options wanted;
	struct fxt_patterns functions;
	const char *argument;     /* of --by */
	struct fxt_values values; /* of that argument, in the trace that is read */
	struct fxt_call_details details;
};

static uint64_t slow_sum(const struct fxt_parts *parts, enum fxt_part_kind first, enum fxt_part_kind last)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].kind >= first && parts->items[i].kind <= last)
			sum += parts->items[i].ns;
	return sum;
}

static int slow_by_offset(const void *left, const void *right)
{
	const struct slow_call *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

static void slow_take_arguments(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct slow_arguments *a = state;
	const struct slow_call key = {offset, NULL};

	if (view->type != FXT_RECORD_EVENT || view->arguments.left == 0)
		return;
	const struct slow_call *call = bsearch(&key, a->calls, a->count, sizeof(key), slow_by_offset);

	if (!call)
		return;
	fxt_describe_begin(call->words);
	fxt_describe_arguments(call->words->out, &walker->tables, view);
	a->has_any |= fxt_describe_end(call->words).bytes > 0;
}

static bool slow_read_arguments(struct slow_arguments *a, const struct fxt_call_details *m)
{
	*a = (struct slow_arguments){.count = m->slowest.count,
	        .calls = fxt_allocate(m->slowest.count * sizeof(*a->calls)),
	        .words = fxt_allocate(m->slowest.count * sizeof(*a->words))};
	for (size_t i = 0; i < a->count; i++)
		a->calls[i] = (struct slow_call){m->slowest.calls[i].slice.offset, &a->words[i]};
	qsort(a->calls, a->count, sizeof(*a->calls), slow_by_offset);
	return fxt_events_read(m->scan, slow_take_arguments, a);
}

static void slow_free_arguments(struct slow_arguments *a)
{
	for (size_t i = 0; i < a->count; i++)
		fxt_describe_free(&a->words[i]);
	free(a->calls);
	free(a->words);
}

static void slow_print_call(
        const struct fxt_call_details *m, const struct slow_arguments *arguments, size_t number)
{
	const struct fxt_describer *values = &arguments->words[number];
	const struct fxt_slice *call = &m->slowest.calls[number].slice;
	const struct fxt_parts *parts = &m->causes.calls[number];
	const struct fxt_part *most = fxt_causes_main(parts);
	uint64_t start = fxt_scan_ns(m->scan, call->start),
	         ns = fxt_scan_ns(m->scan, m->slowest.calls[number].time);
	struct fxt_describer thread, why, path;
	struct fxt_cell cells[COLUMNS] = {0};
	char remark[64] = "";

	fxt_describe_begin(&thread);
	fxt_describe_begin(&why);
	fxt_describe_begin(&path);
	fxt_describe_thread(thread.out, m->scan, call->thread, false);
	if (most) {
		fxt_describe_part(why.out, m->scan, &m->waits, &m->faults, most, call->name);
		snprintf(remark, sizeof(remark), ", %.0f %%", ns ? 100.0 * (double)most->ns / (double)ns : 0);
	}
	fxt_describe_path(path.out, m->scan, &m->slowest.paths,
	        m->slowest.paths.items[m->slowest.calls[number].path].parent);
	if (!m->by)
		cells[0] = fxt_cell_number((double)(number + 1));
	if (m->by)
		cells[VALUE] = fxt_cell_text(m->by->texts[fxt_values_of(m->by, call->offset)]);
	cells[2] = fxt_cell_number((double)ns);
	cells[3] = fxt_cell_number((double)(start - fxt_scan_ns(m->scan, m->scan->start)));
	if (fxt_timeline_is_known(&m->timeline)) {
		cells[4] = fxt_cell_number((double)slow_sum(parts, FXT_PART_RAN, FXT_PART_ALLOCATED));
		cells[5] = fxt_cell_number((double)slow_sum(parts, FXT_PART_PREEMPTED, FXT_PART_PREEMPTED));
		cells[6] = fxt_cell_number((double)slow_sum(parts, FXT_PART_WAITED, FXT_PART_BLOCKED));
	}
	cells[7] = fxt_cell_text(fxt_describe_end(&thread));
	struct fxt_span reason = fxt_describe_end(&why);

	if (most) {
		cells[8] = fxt_cell_text(reason);
		cells[8].remark = fxt_span(remark);
		cells[9] = fxt_cell_number(ns ? (double)most->ns / (double)ns : 0);
	}
	cells[10] = fxt_cell_text(fxt_describe_end(&path));
	if (values->bytes > 0)
		cells[ARGUMENTS] = fxt_cell_text((struct fxt_span){values->text, values->bytes});
	fxt_table_row(cells);
	fxt_describe_free(&thread);
	fxt_describe_free(&why);
	fxt_describe_free(&path);
}

static int slow_answer(void *state, const char *name, struct fxt_scan *scan)
{
	struct slow_command *c = state;
	uint64_t most = fxt_options_limit(&c->wanted, CALLS);
	struct fxt_call_details *m = &c->details;
	struct fxt_column shown[COLUMNS];

	if (c->argument) {
		fxt_values_free(&c->values);
		fxt_values_read(&c->values, scan, c->argument);
		m->by = &c->values;
	}
	m->has_conditions = c->wanted.choice.where.count > (c->argument ? 1 : 0);
	if (!fxt_call_details_find(m, name, scan, &c->functions, 1, most < CALLS_MAX ? most : CALLS_MAX))
		return FXT_FAILED;
	int status = fxt_call_details_explain(m, name, 0, m->slowest.count, 0);
	struct slow_arguments arguments;

	if (!slow_read_arguments(&arguments, m))
		status = fxt_report_changed(name, false);

	fxt_call_details_print_calls(m, &c->functions);
	memcpy(shown, columns, sizeof(shown));
	if (c->argument) {
		shown[VALUE].title = c->argument;
		shown[VALUE].rank = 0;
		shown[0].rank = FXT_COLUMN_DATA;
	}
	if (arguments.has_any)
		shown[ARGUMENTS].rank = 0;
	fxt_table_begin("calls", NULL, shown, COLUMNS);
	for (size_t i = 0; i < m->slowest.count; i++)
		slow_print_call(m, &arguments, i);
	fxt_table_end();
	slow_free_arguments(&arguments);
	fxt_print_missing(scan);
	return status;
}

int fxt_command_slow(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        FXT_OPTIONS_FOLD, {"by", required_argument, NULL, 'b'}, {0}};
	int option;
	struct slow_command command = {.wanted.listener = &command.details.listener}, *c = &command;

	fxt_options_fold(&c->wanted);
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (fxt_options_take(&c->wanted, argv[0], option))
			continue;
		c->argument = fxt_query_filter_by(&c->wanted.choice, optarg);
		if (!c->argument)
			return fxt_bad_usage(argv[0], "cannot group by '%s': only by arg:NAME", optarg);
	}
	if (fxt_call_details_take(&c->functions, argv[0], argv[optind], NULL) != FXT_DONE)
		return FXT_FAILED;
	optind++;
	fxt_call_details_init(&c->details);
	int status = fxt_each_scan(argc, argv, &c->wanted, slow_answer, c);

	fxt_call_details_free(&c->details);
	fxt_values_free(&c->values);
	fxt_patterns_free(&c->functions);
	return status;
}
