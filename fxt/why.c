/*
 * fxt why: shows where one call spent its time, and what made it slow. The main thread
 * prints. The parts of a call must add up to its time, to the nanosecond.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "call_details.h"
#include "options.h"
#include "reader/trace/text.h"
#include "describe.h"
#include "why_hops.h"

static const char help[] =
        "usage: fxt why [OPTION]... FUNC[:CALL] [FILE]...\n"
        "\n"
        "Explains the slowest call of a function, or the CALL-th slowest in the\n"
        "numbering of fxt slow, by parts that add up to its time, the longest first,\n"
        "beside those of the median call; with --where, of the median of the calls that\n"
        "it leaves out. Parts shorter than a 200th of both calls are one line:\n"
        "  running      on a CPU, in a function that it called, or in its own code; with\n"
        "               the number of page faults, a lower bound if some were lost\n"
        "  preempted    it could have run; by which thread, if that is in the trace\n"
        "  sleeping     in nanosleep and its kind\n"
        "  waiting      for a lock, a condition or a thread: then who held it, in which\n"
        "               functions, and below that what this thread did during the wait,\n"
        "               and which thread it waited for itself; or in a call that waits\n"
        "               for a descriptor, a file, a signal or a command\n"
        "  in system call  blocked where no wait was recorded, by the kernel's word\n"
        "  blocked      by something that the trace does not show\n"
        "  allocating   running in malloc, free and their kind, if these are instrumented\n"
        "  the tracer   records that were lost, and in other threads its own waits\n"
        "Running and preempted times need context switches in the trace.\n"
        "If the program says a flow in the call, the way of the flow through its threads\n"
        "follows, with what each thread did, and the waits between them. A message\n"
        "between ranks of MPI is such a flow; if one rank waited for the other, then\n"
        "follow the calls that the late one made instead.\n"
        "\n"
        "  -n, --limit=N        the first N parts, and one line for the others\n"
        "      --depth=N        follow waits through N threads [4]\n" FXT_HELP_CHOICE FXT_HELP_FOLD
                FXT_HELP_FORMAT FXT_HELP_FILE;

enum { OPTION_DEPTH = FXT_OPTION_OWN };
enum { DEPTH = 4, DEPTH_MAX = 64 };

static const struct fxt_column columns[] = {
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"share", "share", FXT_COLUMN_SHARE, 1},
        {"calls", "calls", FXT_COLUMN_COUNT, 2},
        {"median_ns", "median", FXT_COLUMN_TIME, 1},
        {"median_calls", "calls", FXT_COLUMN_COUNT, 3},
        {"part", "what it spent its time on", FXT_COLUMN_TEXT, 0},
        {"level", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"kind", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"function", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"object", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"by", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"page_faults", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"median_page_faults", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
enum { MEDIAN = 3, MEDIAN_CALLS = 4, COLUMNS = sizeof(columns) / sizeof(*columns) };

/* The options, and the state while traces are read. */
struct why_command {
	struct fxt_options wanted;
	struct fxt_patterns functions;
	uint64_t number, depth;
	struct fxt_call_details details;
};

/* ---- parts ---- */

static uint64_t why_thread_of(const struct fxt_call_details *m, const struct fxt_part *part)
{
	return part->holder != FXT_NOTHING ? m->scan->tables.threads[part->holder].thread : part->koid;
}

struct why_call {
	const struct fxt_call_details *details;
	uint64_t ns;
	uint32_t function;
};

static void why_print_part(void *context, const struct fxt_part *part, unsigned level)
{
	const struct why_call *call = context;
	const struct fxt_call_details *m = call->details;
	uint32_t function = level == 0 ? call->function : FXT_NOTHING;
	struct fxt_describer text, object;
	struct fxt_cell cells[COLUMNS] = {0};
	uint64_t by = why_thread_of(m, part);

	fxt_describe_begin(&text);
	fxt_describe_begin(&object);
	fxt_describe_part(text.out, m->scan, &m->waits, &m->faults, part, function);
	if (part->object)
		fxt_describe_object(
		        object.out, m->scan, part->wait_kind, part->symbol, part->object, part->life);
	cells[0] = fxt_cell_number((double)part->ns);
	if (level == 0)
		cells[1] = fxt_cell_number(call->ns ? (double)part->ns / (double)call->ns : 0);
	if (fxt_call_details_compares(m) && (level == 0 || part->usual_ns > 0))
		cells[MEDIAN] = fxt_cell_number((double)part->usual_ns);
	if (part->calls > 0 || part->usual_calls > 0) {
		cells[2] = fxt_cell_number((double)part->calls);
		if (fxt_call_details_compares(m))
			cells[MEDIAN_CALLS] = fxt_cell_number((double)part->usual_calls);
	}
	cells[5] = fxt_cell_text(fxt_describe_end(&text));
	cells[5].indent = FXT_INDENT * level;
	cells[6] = fxt_cell_number(level);
	cells[7] = fxt_cell_text(fxt_span(fxt_describe_kind(part->kind)));
	cells[8] = fxt_cell_text(m->scan->tables.strings[part->name != FXT_NOTHING ? part->name : function]);
	struct fxt_span what = fxt_describe_end(&object);

	if (part->object)
		cells[9] = fxt_cell_text(what);
	if (by)
		cells[10] = fxt_cell_number((double)by);
	if (fxt_faults_are_known(&m->faults)) {
		cells[11] = fxt_cell_number((double)part->faults);
		if (fxt_call_details_compares(m))
			cells[12] = fxt_cell_number((double)part->usual_faults);
	}
	fxt_table_row(cells);
	fxt_describe_free(&text);
	fxt_describe_free(&object);
}

/* ---- the call ---- */

static void why_print_call(struct why_command *c, const struct fxt_call_details *m)
{
	const struct fxt_slow_call *slow = &m->slowest.calls[c->number - 1];
	uint64_t start = fxt_scan_ns(m->scan, slow->slice.start);
	uint64_t ns = fxt_scan_ns(m->scan, slow->time);
	uint64_t waited = fxt_scan_ns(m->scan, slow->slice.end - slow->slice.start - slow->time);
	const struct fxt_part *most = fxt_causes_main(&m->causes.calls[0]);
	struct fxt_describer text;
	struct why_call call = {m, ns, slow->slice.name};
	struct fxt_column shown[COLUMNS];

	fxt_describe_begin(&text);
	fprintf(text.out, "call %" PRIu64 ": %s", c->number, fxt_time_text((double)(ns)).text);
	fprintf(text.out, ", from %s on",
	        fxt_time_text((double)(start - fxt_scan_ns(m->scan, m->scan->start))).text);
	fputs(slow->slice.is_open ? ", and never ended; in " : ", in ", text.out);
	fxt_describe_thread(text.out, m->scan, slow->slice.thread, true);
	fxt_describe_print(&text);
	fxt_describe_begin(&text);
	fxt_describe_path(text.out, m->scan, &m->slowest.paths, slow->path);
	fxt_describe_print(&text);
	if (waited > 0)
		fxt_print_line("without %s of waits for room in the tracer's buffers",
		        fxt_time_text((double)waited).text);
	if (most) {
		fxt_describe_begin(&text);
		fprintf(text.out, "mostly: %s ", fxt_time_text((double)most->ns).text);
		fxt_describe_part(text.out, m->scan, &m->waits, &m->faults, most, slow->slice.name);
		if (fxt_call_details_compares(m))
			fprintf(text.out, "; the median call%s %s", m->others ? " of the others" : "",
			        most->usual_ns ? fxt_time_text((double)most->usual_ns).text : "none");
		fxt_describe_print(&text);
	}
	fxt_print_fact("number", (double)c->number);
	fxt_print_fact("time_ns", (double)(ns));
	fxt_print_fact("tracer_waited_ns", (double)waited);
	fxt_print_fact("start_ns", (double)(start - fxt_scan_ns(m->scan, m->scan->start)));
	memcpy(shown, columns, sizeof(shown));
	if (!fxt_call_details_compares(m))
		shown[MEDIAN].rank = shown[MEDIAN_CALLS].rank = FXT_COLUMN_DATA;
	fxt_table_begin("parts", NULL, shown, COLUMNS);
	fxt_causes_report(&m->causes.calls[0], ns, fxt_options_limit(&c->wanted, UINT64_MAX),
	        c->wanted.format == FXT_FORMAT_TEXT, why_print_part, &call);
	fxt_table_end();
}

static int why_answer(void *state, const char *name, struct fxt_scan *scan)
{
	struct why_command *c = state;
	struct fxt_call_details *m = &c->details;
	int status;

	m->has_conditions = c->wanted.choice.where.count > 0;
	if (!fxt_call_details_find(m, name, scan, &c->functions, c->number, c->number))
		return FXT_FAILED;
	status = fxt_call_details_explain(m, name, c->number - 1, 1, (unsigned)c->depth);
	fxt_call_details_print_calls(m, &c->functions);
	why_print_call(c, m);
	int hops = fxt_why_print_hops(m, name, &m->slowest.calls[c->number - 1].slice);

	fxt_print_missing(scan);
	return hops > status ? hops : status;
}

static bool why_set_depth(struct why_command *c, const char *text)
{
	char *end;

	c->depth = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && c->depth <= DEPTH_MAX;
}

int fxt_command_why(int argc, char **argv)
{
	struct why_command command = {.wanted.listener = &command.details.listener, .depth = DEPTH},
	                   *c = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        FXT_OPTIONS_FOLD, {"depth", required_argument, NULL, OPTION_DEPTH}, {0}};
	int option;

	fxt_options_fold(&c->wanted);
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		if (!fxt_options_take(&c->wanted, argv[0], option) && !why_set_depth(c, optarg))
			return fxt_bad_usage(
			        argv[0], "'%s' is not a number of threads up to %d", optarg, DEPTH_MAX);
	if (fxt_call_details_take(&c->functions, argv[0], argv[optind], &c->number) != FXT_DONE)
		return FXT_FAILED;
	optind++;
	fxt_call_details_init(&c->details);
	c->details.follows_flows = true;
	int status = fxt_each_scan(argc, argv, &c->wanted, why_answer, c);

	fxt_call_details_free(&c->details);
	fxt_patterns_free(&c->functions);
	return status;
}
