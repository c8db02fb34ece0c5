/*
 * fxt last: shows the moments before the end of a trace, thread by thread. Runs on the main
 * thread, with one walk. An open call must never appear as one that ended.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "call_details.h"
#include "options.h"
#include "reader/stats/groups.h"
#include "reader/time/log_lines.h"
#include "reader/trace/text.h"
#include "deadlocks.h"
#include "describe.h"

static const char help[] =
        "usage: fxt last [OPTION]... [FILE]...\n"
        "\n"
        "Prints the end of a trace: deadlocks, what killed its processes, and for each\n"
        "thread the calls and waits that had not ended, the innermost first, with the\n"
        "time since they began; then the calls that ended last, the last alerts, and\n"
        "the last lines of the program's logs.\n"
        "\n"
        "  -n, --limit=N        the last N calls that ended, alerts and lines [5]\n" FXT_HELP_CHOICE
                FXT_HELP_FORMAT FXT_HELP_FILE;

enum { CALLS = 5 };

static const struct fxt_column open_columns[] = {
        {"frame", "#", FXT_COLUMN_COUNT, 0},
        {"since_ns", "for", FXT_COLUMN_TIME, 0},
        {"name", "open at the end", FXT_COLUMN_TEXT, 0},
        {"at", "at", FXT_COLUMN_TEXT, 1},
        {"object", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"holder_koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
static const struct fxt_column ended_columns[] = {
        {"ago_ns", "ended before", FXT_COLUMN_TIME, 0},
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"name", "the last calls", FXT_COLUMN_TEXT, 0},
        {"at", "at", FXT_COLUMN_TEXT, 1},
};
static const struct fxt_column alert_columns[] = {
        {"ago_ns", "raised before", FXT_COLUMN_TIME, 0},
        {"start_ns", "at", FXT_COLUMN_TIME, 0},
        {"name", "the last alerts", FXT_COLUMN_TEXT, 0},
};
static const struct fxt_column line_columns[] = {
        {"ago_ns", "written before", FXT_COLUMN_TIME, 0},
        {"start_ns", "at", FXT_COLUMN_TIME, 0},
        {"text", "the last lines of its log", FXT_COLUMN_TEXT, 0},
};
enum { OPEN_COLUMNS = sizeof(open_columns) / sizeof(*open_columns) };
enum { ENDED_COLUMNS = sizeof(ended_columns) / sizeof(*ended_columns) };
enum { ALERT_COLUMNS = sizeof(alert_columns) / sizeof(*alert_columns) };
enum { LINE_COLUMNS = sizeof(line_columns) / sizeof(*line_columns) };

/* The state that is kept of a thread. */
struct last_thread {
	struct fxt_slice *open;   /* the outermost first */
	struct fxt_slice *ended;  /* the last one first */
	struct fxt_slice *alerts; /* the same */
	struct fxt_log_line *lines;
	size_t open_count, open_room, ended_count, ended_room, alert_count, alert_room, line_count, line_room;
	uint64_t latest;         /* the latest time of any of them */
	uint64_t process_latest; /* the first thread of a process: of all its threads */
};

/* The options, and the state while traces are read. */
struct last_command {
	struct fxt_options wanted;
	struct fxt_call_details details;
	struct fxt_log_lines log;
	struct fxt_scan_listener listener; /* feeds both */
};

struct last {
	struct fxt_scan *scan;
	const struct fxt_call_details *details;
	struct last_thread *threads; /* by id */
	struct fxt_groups processes; /* the first thread of each process */
	uint64_t limit;
};

/* ---- the walk ---- */

static void last_add(struct last *last, const struct fxt_slice *slice)
{
	struct last_thread *thread = &last->threads[slice->thread],
	                   *first = &last->threads[last->processes.key_of[slice->thread]];

	if (slice->end > thread->latest)
		thread->latest = slice->end;
	if (slice->end > first->process_latest)
		first->process_latest = slice->end;
	if (slice->is_open) {
		fxt_make_room(thread->open, thread->open_count, thread->open_room);
		thread->open[thread->open_count++] = *slice;
	} else if (thread->ended_count < last->limit && slice->is_call) {
		fxt_make_room(thread->ended, thread->ended_count, thread->ended_room);
		thread->ended[thread->ended_count++] = *slice;
	} else if (thread->alert_count < last->limit && slice->category == last->scan->alert_category &&
	           !slice->is_call) {
		fxt_make_room(thread->alerts, thread->alert_count, thread->alert_room);
		thread->alerts[thread->alert_count++] = *slice;
	}
}

static void last_enter(void *state, struct fxt_walk_frame *frame)
{
	last_add(state, &frame->slice);
}

static void last_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	last_add(state, slice);
}

static const struct fxt_visitor last_visitor = {.enter = last_enter, .leaf = last_leaf, .looks_near = true};

static void last_walk(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &last_visitor, state);
}

/* ---- the log ---- */

static void last_hear_begin(void *state)
{
	struct last_command *c = state;

	c->details.listener.begin(c->details.listener.state);
	fxt_log_lines_clear(&c->log);
}

static void last_hear_record(void *state, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct last_command *c = state;

	c->details.listener.record(c->details.listener.state, t, view, offset);
	fxt_log_lines_record(&c->log, t, view, offset);
}

/* The lines that the chosen part has, unless it is a choice of functions. */
static void last_add_lines(struct last *last, struct fxt_log_lines *log)
{
	const struct fxt_filter *filter = last->scan->filter;
	uint64_t from = filter ? fxt_scan_ns(last->scan, filter->from) : 0;
	uint64_t to = filter ? fxt_scan_ns(last->scan, filter->to) : UINT64_MAX;

	if (filter && (filter->names || filter->under || filter->records || filter->least > 0))
		return;
	fxt_log_lines_finish(log);
	for (uint64_t i = log->lines.count; i-- > 0;) {
		struct fxt_log_line line = fxt_log_lines_item(log, i);
		struct last_thread *thread = &last->threads[line.thread];

		if (line.ns < from || line.ns >= to || !fxt_filter_has_thread(filter, line.thread) ||
		        thread->line_count >= last->limit)
			continue;
		fxt_make_room(thread->lines, thread->line_count, thread->line_room);
		thread->lines[thread->line_count++] = line;
	}
}

/* ---- ends ---- */

/* The end of a thread's process, in ns. A recording that stopped and went on has not ended. */
static uint64_t last_end(const struct last *last, uint32_t thread)
{
	uint64_t latest = last->threads[last->processes.key_of[thread]].process_latest;

	return fxt_scan_ns(last->scan, fxt_scan_last_moment(last->scan, thread, latest));
}

static void last_print_deaths(const struct last *last)
{
	for (size_t i = 0; i < last->details->death_count; i++) {
		const struct fxt_call_details_death *death = &last->details->deaths[i];
		uint64_t start = fxt_scan_ns(last->scan, last->scan->start);
		struct fxt_describer text;

		fxt_describe_begin(&text);
		fxt_death_write(text.out, &death->how);
		fprintf(text.out,
		        ", %s after the trace's start: ", fxt_time_text((double)(death->ns - start)).text);
		fxt_death_write_who(text.out, &last->scan->tables, &death->how);
		fxt_describe_print(&text);
		fxt_print_fact("signal", death->how.signal);
	}
}

/* ---- tables ---- */

/* Prints file:line of a function's source, if the trace has it. */
static void last_print_place(FILE *out, const struct fxt_scan *scan, uint32_t name)
{
	const struct fxt_origin *origin = fxt_origins_next(&scan->origins, name, NULL);
	struct fxt_span file;

	if (!origin || origin->file == FXT_NOTHING)
		return;
	file = scan->tables.strings[origin->file];
	fwrite(file.data, 1, file.bytes, out);
	if (origin->line > 0)
		fprintf(out, ":%" PRIu32, origin->line);
}

/* The wait that a slice is; all zeros: it is none. */
static struct fxt_wait last_wait(const struct last *last, const struct fxt_slice *slice)
{
	ptrdiff_t found = fxt_waits_find(&last->details->waits, slice->offset);

	return found >= 0 ? fxt_waits_item(&last->details->waits, (uint32_t)found) : (struct fxt_wait){0};
}

static void last_print_open(const struct last *last, const struct fxt_slice *slice, size_t frame)
{
	struct fxt_cell cells[OPEN_COLUMNS] = {0};
	const struct fxt_wait of = last_wait(last, slice);
	struct fxt_describer name, place, object;
	struct fxt_span text = last->scan->tables.strings[slice->name];

	fxt_describe_begin(&name);
	fxt_describe_begin(&place);
	fxt_describe_begin(&object);
	fwrite(text.data, 1, text.bytes, name.out);
	uint64_t keeper = of.object ? fxt_waits_keeper(&last->details->waits, &of) : 0;

	if (of.object || of.file != FXT_NOTHING) {
		fputs(": waiting for ", name.out);
		fxt_describe_awaited(name.out, last->scan, &last->details->waits, &of);
		fxt_describe_keeper(name.out, last->scan, &last->details->waits, &of);
	}
	if (of.object)
		fxt_describe_object(object.out, last->scan, of.kind, of.symbol, of.object, of.life);
	fputs(of.is_earlier ? ", since before the attach" : "", name.out);
	fputs(slice->is_inherited ? " (inherited)" : "", name.out);
	last_print_place(place.out, last->scan, slice->name);
	cells[0] = fxt_cell_number((double)frame);
	cells[1] = fxt_cell_number(
	        (double)(fxt_scan_ns(last->scan, slice->end) - fxt_scan_ns(last->scan, slice->start)));
	cells[2] = fxt_cell_text(fxt_describe_end(&name));
	text = fxt_describe_end(&place);
	if (text.bytes > 0)
		cells[3] = fxt_cell_text(text);
	text = fxt_describe_end(&object);
	if (of.object)
		cells[4] = fxt_cell_text(text);
	if (keeper)
		cells[5] = fxt_cell_number((double)keeper);
	fxt_table_row(cells);
	fxt_describe_free(&name);
	fxt_describe_free(&place);
	fxt_describe_free(&object);
}

static void last_print_ended(const struct last *last, const struct fxt_slice *slice, uint64_t end)
{
	uint64_t slice_end = fxt_scan_ns(last->scan, slice->end);
	struct fxt_cell cells[ENDED_COLUMNS] = {0};
	struct fxt_describer place;
	struct fxt_span text;

	fxt_describe_begin(&place);
	last_print_place(place.out, last->scan, slice->name);
	cells[0] = fxt_cell_number((double)(end > slice_end ? end - slice_end : 0));
	cells[1] = fxt_cell_number((double)(slice_end - fxt_scan_ns(last->scan, slice->start)));
	cells[2] = fxt_cell_text(last->scan->tables.strings[slice->name]);
	text = fxt_describe_end(&place);
	if (text.bytes > 0)
		cells[3] = fxt_cell_text(text);
	fxt_table_row(cells);
	fxt_describe_free(&place);
}

static void last_print_alert(const struct last *last, const struct fxt_slice *alert, uint64_t end)
{
	uint64_t ns = fxt_scan_ns(last->scan, alert->start);
	uint64_t start = fxt_scan_ns(last->scan, last->scan->start);

	fxt_table_row((struct fxt_cell[ALERT_COLUMNS]){fxt_cell_number((double)(end > ns ? end - ns : 0)),
	        fxt_cell_number((double)(ns - start)),
	        fxt_cell_text(last->scan->tables.strings[alert->name])});
}

static void last_print_line(const struct last *last, const struct fxt_log_line *line, uint64_t end)
{
	uint64_t start = fxt_scan_ns(last->scan, last->scan->start);
	char room[FXT_STRING_MAX_BYTES];

	fxt_table_row((struct fxt_cell[LINE_COLUMNS]){
	        fxt_cell_number((double)(end > line->ns ? end - line->ns : 0)),
	        fxt_cell_number((double)(line->ns > start ? line->ns - start : 0)),
	        fxt_cell_text(fxt_log_line_text(last->scan->source, line, room))});
}

/* `others`: how many more threads have the same open calls. */
static void last_print_thread(const struct last *last, uint32_t id, size_t others)
{
	const struct last_thread *thread = &last->threads[id];
	uint64_t end = last_end(last, id);
	struct fxt_describer title;

	fxt_describe_begin(&title);
	fxt_describe_thread(title.out, last->scan, id, true);
	fputc('\0', title.out);
	char *one = strdup(fxt_describe_end(&title).data), *all = NULL;

	if (asprintf(&all, "%s, and %zu more thread%s with the same open calls", one, others,
	            fxt_plural(others)) < 0)
		fxt_out_of_memory();

	if (thread->open_count > 0) {
		fxt_table_begin("open", others > 0 ? all : one, open_columns, OPEN_COLUMNS);
		for (size_t i = thread->open_count; i-- > 0;)
			last_print_open(last, &thread->open[i], thread->open_count - 1 - i);
		fxt_table_end();
	}
	if (thread->ended_count > 0) {
		fxt_table_begin("ended", one, ended_columns, ENDED_COLUMNS);
		for (size_t i = 0; i < thread->ended_count; i++)
			last_print_ended(last, &thread->ended[i], end);
		fxt_table_end();
	}
	if (thread->alert_count > 0) {
		fxt_table_begin("alerts", one, alert_columns, ALERT_COLUMNS);
		for (size_t i = 0; i < thread->alert_count; i++)
			last_print_alert(last, &thread->alerts[i], end);
		fxt_table_end();
	}
	if (thread->line_count > 0) {
		fxt_table_begin("log", one, line_columns, LINE_COLUMNS);
		for (size_t i = 0; i < thread->line_count; i++)
			last_print_line(last, &thread->lines[i], end);
		fxt_table_end();
	}
	free(one);
	free(all);
	fxt_describe_free(&title);
}

/* ---- the command ---- */

/* Sorts threads with open calls first, then by their latest activity. */
static int last_compare(const void *left, const void *right, void *threads)
{
	const struct last_thread *a = (const struct last_thread *)threads + *(const uint32_t *)left;
	const struct last_thread *b = (const struct last_thread *)threads + *(const uint32_t *)right;

	if ((a->open_count > 0) != (b->open_count > 0))
		return a->open_count > 0 ? -1 : 1;
	if (a->latest != b->latest)
		return a->latest > b->latest ? -1 : 1;
	return (a > b) - (a < b);
}

/* Threads are alike if they are in the same functions and wait for the same object. */
static bool last_is_alike(const struct last *last, const struct last_thread *a, const struct last_thread *b)
{
	if (a->open_count != b->open_count || a->open_count == 0)
		return false;
	for (size_t i = 0; i < a->open_count; i++) {
		const struct fxt_wait one = last_wait(last, &a->open[i]),
		                      other = last_wait(last, &b->open[i]);

		if (a->open[i].name != b->open[i].name ||
		        !fxt_waits_are_alike(&last->details->waits, &one, &other))
			return false;
	}
	return true;
}

static uint32_t last_hash(const struct last *last, const struct last_thread *thread)
{
	uint64_t hash = thread->open_count;

	for (size_t i = 0; i < thread->open_count; i++) {
		hash = fxt_hash_mix(hash ^ thread->open[i].name);
		hash = fxt_hash_mix(hash ^ last_wait(last, &thread->open[i]).object);
	}
	return fxt_hash_word(hash);
}

/* Finds the group of threads with the same open calls. Groups count from 1; FXT_NOTHING, 0:
 * there is none yet. */
static uint32_t last_find_alike(const struct last *last, const struct fxt_index *groups,
        const uint32_t *firsts, const struct last_thread *thread)
{
	for (struct fxt_probe probe = fxt_probe(groups, last_hash(last, thread));
	        fxt_probe_next(groups, &probe);)
		if (last_is_alike(last, &last->threads[firsts[probe.id - 1]], thread))
			return probe.id;
	return FXT_NOTHING;
}

/* For people: threads with the same open calls, as those of a pool that waits, are shown
 * once; of threads without open calls only the latest are shown. */
static void last_print_folded(const struct last *last, const uint32_t *order, size_t count)
{
	size_t *alike = fxt_allocate((count + 1) * sizeof(*alike)); /* by the first such thread */
	uint32_t *firsts = fxt_allocate((count + 1) * sizeof(*firsts));
	size_t first_count = 0, idle = 0;
	struct fxt_index groups = {0};

	for (size_t i = 0; i < count; i++) {
		const struct last_thread *thread = &last->threads[order[i]];
		uint32_t at = FXT_NOTHING;

		if (thread->open_count > 0)
			at = last_find_alike(last, &groups, firsts, thread);
		else if (++idle > FXT_THREADS_SHOWN)
			continue;
		if (at != FXT_NOTHING) {
			alike[at - 1]++;
			continue;
		}
		if (thread->open_count > 0)
			fxt_index_add(&groups, last_hash(last, thread), (uint32_t)first_count + 1);
		firsts[first_count] = order[i];
		alike[first_count++] = 0;
	}
	for (size_t i = 0; i < first_count; i++)
		last_print_thread(last, firsts[i], alike[i]);
	if (idle > FXT_THREADS_SHOWN)
		fxt_print_note("%zu more threads have no open calls: -t NAME shows one, --json all",
		        idle - FXT_THREADS_SHOWN);
	fxt_index_free(&groups);
	free(alike);
	free(firsts);
}

static void last_print_threads(const struct last *last)
{
	uint32_t *order = fxt_allocate((last->scan->thread_count + 1) * sizeof(*order));
	size_t count = 0;

	for (uint32_t i = 0; i < last->scan->thread_count; i++)
		if (last->threads[i].open_count + last->threads[i].ended_count +
		                last->threads[i].alert_count + last->threads[i].line_count >
		        0)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), last_compare, last->threads);
	if (fxt_print_format() == FXT_FORMAT_TEXT) {
		last_print_folded(last, order, count);
	} else {
		for (size_t i = 0; i < count; i++)
			last_print_thread(last, order[i], 0);
	}
	free(order);
}

static int last_answer(void *state, const char *name, struct fxt_scan *scan)
{
	struct last_command *c = state;
	struct last last = {.scan = scan,
	        .details = &c->details,
	        .threads = fxt_allocate((scan->thread_count + 1) * sizeof(*last.threads)),
	        .limit = fxt_options_limit(&c->wanted, CALLS)};

	fxt_call_details_finish(&c->details, scan);
	fxt_groups_make(&last.processes, scan, FXT_GROUP_PROCESS, NULL, NULL, NULL, 0);
	int status = fxt_report_changed(name, fxt_walk(scan, last_walk, &last, sizeof(last), 1));

	last_add_lines(&last, &c->log);
	if (!fxt_deadlocks_tell(&c->details.waits, scan))
		status = fxt_report_changed(name, false);
	if (last.details->death_count == 0)
		fxt_print_line("no process was killed in the time of the trace");
	last_print_deaths(&last);
	last_print_threads(&last);
	fxt_print_missing(scan);
	for (size_t i = 0; i < scan->thread_count; i++) {
		free(last.threads[i].open);
		free(last.threads[i].ended);
		free(last.threads[i].alerts);
		free(last.threads[i].lines);
	}
	free(last.threads);
	fxt_groups_free(&last.processes);
	return status;
}

int fxt_command_last(int argc, char **argv)
{
	struct last_command command = {.wanted.listener = &command.listener,
	        .listener = {last_hear_begin, last_hear_record, &command}};
	struct last_command *c = &command;

	fxt_log_lines_init(&c->log);
	fxt_call_details_init(&c->details);
	fxt_options_take_all(&c->wanted, argc, argv, help);
	int status = fxt_each_scan(argc, argv, &c->wanted, last_answer, c);

	fxt_call_details_free(&c->details);
	fxt_log_lines_free(&c->log);
	return status;
}
