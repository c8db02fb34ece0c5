/*
 * fxt replay: prints calls in the order of time. Runs on the main thread, and plays the
 * trace piece by piece. Its memory must not grow with the number of calls.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "options.h"
#include "reader/slices/playback.h"
#include "reader/trace/progress_line.h"
#include "reader/stats/recursion.h"
#include "reader/trace/text.h"
#include "describe.h"
#include "repeats.h"

static const char help[] =
        "usage: fxt replay [OPTION]... [FILE]...\n"
        "\n"
        "Prints calls in the order of time, indented below their callers, each with the\n"
        "time since the trace's start and its duration; a call with others inside it has\n"
        "its duration where it ends. Waits, alerts, losses, the program's log, and\n"
        "times in which a thread was not on a CPU have lines of their own.\n"
        "\n"
        "  -n, --limit=N        the first N lines [all]\n" FXT_HELP_CHOICE FXT_HELP_FORMAT FXT_HELP_FILE;

static const struct fxt_column columns[] = {
        {"at", "at", FXT_COLUMN_TEXT, 2},
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"thread", "thread", FXT_COLUMN_TEXT, 1},
        {"what", "what", FXT_COLUMN_TEXT, 0},
        {"start_ns", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"depth", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"kind", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/* The options, and the state while traces are read. */
struct replay_command {
	struct fxt_options wanted;
	struct fxt_timeline timeline;
	struct fxt_log_lines log;
};

struct replay {
	bool is_text;
	const struct fxt_scan *scan;
	const struct fxt_timeline *timeline;
	uint32_t woken;  /* id of the name of slices that only carry an arrow's end */
	uint64_t left;   /* lines still to be printed */
	uint64_t hidden; /* lines of recursion */
	bool has_lines;
	uint32_t *depth;              /* by thread: depth of the slice that began last */
	struct fxt_repeats **repeats; /* by thread; NULL: the thread was never deep */
};

static void replay_hear_begin(void *state)
{
	struct replay_command *c = state;

	fxt_timeline_clear(&c->timeline);
	fxt_log_lines_clear(&c->log);
}

static void replay_hear_record(
        void *state, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct replay_command *c = state;

	fxt_timeline_record(&c->timeline, t, view);
	fxt_log_lines_record(&c->log, t, view, offset);
}

/* ---- lines ---- */

static const char *replay_kind(const struct replay *r, const struct fxt_playback_event *event)
{
	if (event->kind == FXT_PLAYBACK_LINE)
		return "log";
	if (event->kind == FXT_PLAYBACK_PAUSE)
		return event->stretch.activity == FXT_RUNNABLE ? "preempted" : "blocked";
	if (event->slice.is_call)
		return "call";
	if (event->slice.is_inherited)
		return "inherited";
	if (event->slice.category == r->scan->sync_category)
		return "wait";
	if (event->slice.category == r->scan->alert_category)
		return "alert";
	return event->slice.category == r->scan->tracer_category ? "tracer" : "event";
}

static void replay_print_line(FILE *out, const struct replay *r, const struct fxt_playback_event *event)
{
	char room[FXT_STRING_MAX_BYTES];
	struct fxt_span text = fxt_log_line_text(r->scan->source, &event->line, room);

	fputs(r->is_text ? "/* log: " : "", out);
	fwrite(text.data, 1, text.bytes, out);
	fputs(r->is_text ? " */" : "", out);
}

/* Prints calls as in source code: f(); or f() { and } f. Other slices are between
 * slashes. */
static void replay_print_what(FILE *out, const struct replay *r, const struct fxt_playback_event *event)
{
	if (event->kind == FXT_PLAYBACK_LINE) {
		replay_print_line(out, r, event);
		return;
	}
	struct fxt_span name = r->scan->tables.strings[event->slice.name];
	bool has_parameters = name.bytes > 0 && memchr(name.data, '(', name.bytes);

	if (event->kind == FXT_PLAYBACK_PAUSE && event->stretch.blocker) {
		fputs("/* ", out);
		fxt_describe_blocker(out, r->scan, &r->timeline->blockers[event->stretch.blocker - 1]);
		fputs(" */", out);
		return;
	}
	if (event->kind == FXT_PLAYBACK_PAUSE) {
		fputs(event->stretch.activity == FXT_RUNNABLE ? "/* preempted */" : "/* off the CPU */", out);
		return;
	}
	fputs(event->kind == FXT_PLAYBACK_END ? "} " : event->slice.is_call ? "" : "/* ", out);
	fwrite(name.data, 1, name.bytes, out);
	if (event->kind == FXT_PLAYBACK_END)
		return;
	if (event->slice.is_call)
		fputs(has_parameters ? "" : "()", out);
	else
		fputs(" */", out);
	if (event->kind == FXT_PLAYBACK_BEGIN)
		fputs(" {", out);
	else
		fputs(event->slice.is_call ? ";" : "", out);
	if (event->slice.is_open)
		fputs(event->slice.is_call ? " /* never ended */" : " never ended", out);
}

static uint64_t replay_duration(const struct replay *r, const struct fxt_playback_event *event)
{
	if (event->kind == FXT_PLAYBACK_PAUSE)
		return event->stretch.end - event->stretch.start;
	return fxt_scan_ns(r->scan, event->slice.end - event->slice.start); /* of a line: 0 */
}

static void replay_print_event(const struct replay *r, const struct fxt_playback_event *event, uint32_t depth)
{
	const struct fxt_koids *koids = &r->scan->tables.threads[event->thread];
	uint64_t start = fxt_scan_ns(r->scan, r->scan->start);
	uint64_t since = event->ns > start ? event->ns - start : 0;
	struct fxt_cell cells[COLUMNS] = {0};
	struct fxt_describer thread, what;
	char at[32];

	snprintf(at, sizeof(at), "%" PRIu64 ".%09" PRIu64, since / FXT_NS_PER_SECOND,
	        since % FXT_NS_PER_SECOND);
	fxt_describe_begin(&thread);
	fxt_describe_begin(&what);
	fxt_describe_koid(thread.out, r->scan, koids->thread);
	if (r->is_text || !fxt_playback_is_slice(event))
		replay_print_what(what.out, r, event);
	cells[0] = fxt_cell_text(fxt_span(at));
	if (event->kind != FXT_PLAYBACK_BEGIN || !r->is_text)
		cells[1] = fxt_cell_number((double)replay_duration(r, event));
	cells[2] = fxt_cell_text(fxt_describe_end(&thread));
	cells[3] = fxt_cell_text(fxt_describe_end(&what));
	if (cells[3].text.bytes == 0 && fxt_playback_is_slice(event))
		cells[3].text = r->scan->tables.strings[event->slice.name];
	cells[3].indent = FXT_INDENT * depth;
	cells[4] = fxt_cell_number((double)since);
	cells[5] = fxt_cell_number((double)koids->thread);
	cells[6] = fxt_cell_number((double)koids->process);
	cells[7] = fxt_cell_number(depth);
	cells[8] = fxt_cell_text(fxt_span(replay_kind(r, event)));
	fxt_table_row(cells);
	fxt_describe_free(&thread);
	fxt_describe_free(&what);
}

/* ---- recursion ---- */

/* A thread that was never this deep has no deep recursion. */
enum { REPLAY_DEEP = 8 };

static void replay_write_hidden(FILE *out, const struct replay *r, const struct fxt_repeats *repeats)
{
	uint64_t rounds = repeats->hidden / repeats->cycle;
	uint32_t cycle = repeats->cycle, more = (uint32_t)(repeats->hidden % cycle);

	/* The lines of a round in their order. The oldest one that is known begins it. */
	fputs("/*", out);
	for (uint32_t i = 0; i < cycle; i++) {
		const struct fxt_repeats_line *line =
		        fxt_repeats_line(repeats, (cycle - 1 - i + more) % cycle);
		struct fxt_span name = r->scan->tables.strings[line->name];

		fputs(i > 0 ? ", " : line->kind == FXT_PLAYBACK_END ? " } " : " ", out);
		fwrite(name.data, 1, name.bytes, out);
	}
	fprintf(out, " x %" PRIu64, rounds);
	if (more > 0)
		fprintf(out, " and %" PRIu32 " more line%s", more, fxt_plural(more));
	fputs(" */", out);
}

/* Prints one line in the place of a thread's hidden lines. */
static void replay_tell_hidden(struct replay *r, uint32_t thread)
{
	struct fxt_repeats *repeats = r->repeats[thread];
	struct fxt_cell cells[COLUMNS] = {0};
	struct fxt_describer koid, what;

	if (!repeats || repeats->hidden == 0 || r->left == 0)
		return;
	fxt_describe_begin(&koid);
	fxt_describe_begin(&what);
	fxt_describe_koid(koid.out, r->scan, r->scan->tables.threads[thread].thread);
	replay_write_hidden(what.out, r, repeats);
	cells[0] = fxt_cell_text(fxt_span(""));
	cells[1] = fxt_cell_blank();
	cells[2] = fxt_cell_text(fxt_describe_end(&koid));
	cells[3] = fxt_cell_text(fxt_describe_end(&what));
	cells[3].indent = FXT_INDENT * fxt_repeats_line(repeats, 0)->depth;
	fxt_table_row(cells);
	fxt_describe_free(&koid);
	fxt_describe_free(&what);
	r->hidden += repeats->hidden;
	repeats->hidden = 0;
	r->left--;
}

/* Returns true if the line of an event is hidden; otherwise tells of the thread's hidden
 * lines before it. */
static bool replay_hides(struct replay *r, const struct fxt_playback_event *event)
{
	struct fxt_repeats **repeats = &r->repeats[event->thread];
	struct fxt_repeats_line line = {event->slice.name, event->depth, event->kind};

	if (!r->is_text)
		return false;
	if (!fxt_playback_is_slice(event)) {
		replay_tell_hidden(r, event->thread);
		return false;
	}
	if (!*repeats && event->depth < REPLAY_DEEP)
		return false;
	if (!*repeats)
		*repeats = fxt_allocate(sizeof(**repeats));
	if (fxt_repeats_hides(*repeats, &line))
		return true;
	replay_tell_hidden(r, event->thread);
	fxt_repeats_add(*repeats, &line);
	return false;
}

static bool replay_visit(void *state, const struct fxt_playback_event *event)
{
	struct replay *r = state;
	uint32_t *inside = &r->depth[event->thread];
	bool is_slice = fxt_playback_is_slice(event);
	uint32_t depth = is_slice ? event->depth : *inside;

	if (is_slice)
		*inside = event->depth + (event->kind == FXT_PLAYBACK_BEGIN);
	/* Programs get the whole call in one row. */
	if (event->kind == FXT_PLAYBACK_END && (!r->is_text || event->slice.is_open))
		return true;
	if (is_slice && !event->slice.is_call && event->slice.name == r->woken)
		return true;
	if (replay_hides(r, event))
		return true;
	r->has_lines = true;
	if (r->left > 0) {
		replay_print_event(r, event, depth);
		r->left--;
	}
	return r->left > 0;
}

/* ---- the command ---- */

static int replay_answer(void *state, const char *name, struct fxt_scan *scan)
{
	struct replay_command *c = state;
	struct replay r = {.scan = scan,
	        .timeline = &c->timeline,
	        .is_text = c->wanted.format == FXT_FORMAT_TEXT,
	        .woken = fxt_tables_intern(&scan->tables, fxt_span("woken")),
	        .left = fxt_options_limit(&c->wanted, UINT64_MAX),
	        .depth = fxt_allocate((scan->thread_count + 1) * sizeof(*r.depth)),
	        .repeats = fxt_allocate((scan->thread_count + 1) * sizeof(*r.repeats))};

	fxt_progress_stop(); /* lines are printed while the rest is read */
	fxt_timeline_finish(&c->timeline, fxt_scan_states_from(scan), fxt_scan_ns(scan, scan->end));
	fxt_log_lines_finish(&c->log);
	fxt_table_begin("replay", NULL, columns, COLUMNS);
	int status =
	        fxt_report_changed(name, fxt_playback(scan, &c->timeline, &c->log, NULL, replay_visit, &r));

	for (uint32_t i = 0; i < scan->thread_count; i++) {
		replay_tell_hidden(&r, i);
		free(r.repeats[i]);
	}
	fxt_table_end();
	if (!r.has_lines)
		fxt_print_line("%s: no thread did anything that is recorded%s", name,
		        scan->filter ? ", in the chosen part" : "");
	if (r.hidden > 0)
		fxt_print_line("recursion deeper than %d calls is folded: %" PRIu64
		               " lines are shown as \"x N\"; --json and --csv have each",
		        FXT_RECURSION_LEVELS, r.hidden);
	fxt_print_missing(scan);
	free(r.depth);
	free(r.repeats);
	fxt_timeline_clear(&c->timeline);
	fxt_log_lines_clear(&c->log);
	return status;
}

int fxt_command_replay(int argc, char **argv)
{
	struct replay_command c = {0};
	const struct fxt_scan_listener listener = {replay_hear_begin, replay_hear_record, &c};

	c.wanted.listener = &listener;
	fxt_timeline_init(&c.timeline);
	fxt_log_lines_init(&c.log);
	fxt_options_take_all(&c.wanted, argc, argv, help);
	int status = fxt_each_scan(argc, argv, &c.wanted, replay_answer, &c);

	fxt_timeline_free(&c.timeline);
	fxt_log_lines_free(&c.log);
	return status;
}
