/*
 * fxt info: prints the contents of a trace and everything that it lacks. One pass over the
 * records, on the main thread. Its memory must not grow with the number of calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "reader/slices/call.h"
#include "reader/trace/cut.h"
#include "reader/time/death.h"
#include "reader/time/faults.h"
#include "reader/trace/fields.h"
#include "reader/stats/elided.h"
#include "reader/stats/muted.h"
#include "reader/trace/tables.h"
#include "reader/trace/text.h"
#include "table.h"
#include "describe.h"
#include "writer/engine/elided.h"
#include "writer/engine/loss.h"
#include "writer/format/muted.h"

static const char help[] =
        "usage: fxt info [FILE]...\n"
        "\n"
        "Prints what a trace holds: its length and calls, what was lost, its providers,\n"
        "processes and threads by name, and the numbers of its records.\n"
        "\n"
        "  -j, --json   the answer as a JSON document, --csv as CSV; see fxt(1)\n" FXT_HELP_FILE;

/* Prints a line for people; for programs a note. */
typedef void info_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct info {
	info_report *tell;
	struct fxt_tables tables;
	struct fxt_call_categories categories;
	uint32_t waited_name, elided_name, muted_name; /* ids of strings */
	uint64_t kinds[FXT_KINDS_MAX];
	uint64_t records, malformed, unknown, calls, call_bytes;
	uint64_t start, end;                /* ns */
	uint64_t first_switch, last_switch; /* of contexts, ns */
	uint64_t gaps, records_lost, records_overwritten, waits, waited_ns, full_buffers;
	struct fxt_archive_state state;
	struct fxt_rotation rotation; /* number 0: the trace is not rotated */
	struct fxt_cut cut;
	struct fxt_span cut_options, merged; /* point into the archive */
	struct fxt_death *deaths;
	size_t death_count, death_room;
	struct fxt_elided_sums elided_sums;
	struct fxt_muted muted;
	uint64_t *thread_events; /* by thread id */
	size_t thread_count;
};

/* ---- reading ---- */

static void info_on_moment(struct info *info, uint64_t ns)
{
	if (ns < info->start)
		info->start = ns;
	if (ns > info->end)
		info->end = ns;
}

/* Takes the tracer's events about itself. */
static void info_on_tracer(struct info *info, const struct fxt_view *view, uint64_t ns)
{
	struct fxt_loss_event loss;

	if (fxt_tables_loss(&info->tables, view, &loss)) {
		info->gaps++;
		*(loss.is_overwritten ? &info->records_overwritten : &info->records_lost) += loss.records;
	} else if (fxt_tables_string(&info->tables, view->event.name) == info->waited_name) {
		info->waits++;
		info->waited_ns += ns;
	} else if (fxt_tables_string(&info->tables, view->event.name) == info->elided_name) {
		fxt_elided_sums_add(&info->elided_sums, &info->tables, view, false);
	} else if (fxt_tables_string(&info->tables, view->event.name) == info->muted_name) {
		fxt_muted_add(&info->muted, &info->tables, view,
		        fxt_provider_ns(info->tables.provider, view->event.ticks));
	}
}

/* A call that ends before it starts is not counted here, as fxt report does not count it
 * either. */
static void info_on_call(struct info *info, const struct fxt_view *view, size_t words)
{
	bool complete =
	        view->event.type == FXT_EVENT_DURATION_COMPLETE && view->event.extra >= view->event.ticks;
	bool begin = view->event.type == FXT_EVENT_DURATION_BEGIN;

	info->calls += complete || begin;
	if (complete || begin || view->event.type == FXT_EVENT_DURATION_END)
		info->call_bytes += words * 8;
}

static void info_on_event(struct info *info, const struct fxt_view *view, size_t words)
{
	const struct fxt_provider_tables *provider = info->tables.provider;
	uint32_t thread = fxt_tables_thread(&info->tables, view->event.thread);
	uint64_t start = fxt_provider_ns(provider, view->event.ticks), end = start;

	if (view->event.type == FXT_EVENT_DURATION_COMPLETE && view->event.extra > view->event.ticks)
		end = fxt_provider_ns(provider, view->event.extra);
	if (!fxt_is_of_faults(&info->tables, view)) {
		info_on_moment(info, start);
		info_on_moment(info, end);
	}
	fxt_make_zeroed(info->thread_events, info->thread_count, thread);
	info->thread_events[thread]++;
	uint32_t category = fxt_tables_string(&info->tables, view->event.category);
	struct fxt_death death;

	if (fxt_death_read(&info->tables, view, &death)) {
		fxt_make_room(info->deaths, info->death_count, info->death_room);
		info->deaths[info->death_count++] = death;
	}
	if (category == info->categories.tracer)
		info_on_tracer(info, view, end - start);
	else if (fxt_is_call(&info->categories, category))
		info_on_call(info, view, words);
}

static void info_on_switch(struct info *info, uint64_t ns)
{
	if (ns < info->first_switch)
		info->first_switch = ns;
	if (ns > info->last_switch)
		info->last_switch = ns;
}

static void info_on_record(struct info *info, const struct fxt_record *r)
{
	struct fxt_view view;

	info->records++;
	if (fxt_decode(r, &view) != NULL) {
		info->malformed++;
		return;
	}
	fxt_tables_apply(&info->tables, &view);
	info->kinds[fxt_kind(r->words[0])]++;
	info->unknown += view.is_unknown;
	fxt_view_archive_state(&view, &info->state);
	fxt_view_rotation(&view, &info->rotation);
	fxt_view_cut(&view, &info->cut, &info->cut_options);
	if (fxt_span_is(fxt_view_blob_name(&view), FXT_MERGED_BLOB))
		info->merged = view.blob.data;
	if (view.type == FXT_RECORD_EVENT)
		info_on_event(info, &view, r->size);
	else if (view.type == FXT_RECORD_METADATA && view.metadata.type == FXT_METADATA_PROVIDER_EVENT)
		info->full_buffers += view.metadata.event == FXT_PROVIDER_EVENT_BUFFER_FULL;
	else if (view.type == FXT_RECORD_SCHEDULING)
		info_on_switch(info, fxt_provider_ns(info->tables.provider, view.scheduling.ticks));
}

/* A run of plain calls, which nearly all records are. All have the thread and category
 * of the first. They are counted when the run ends. */
struct info_row {
	uint64_t header; /* the common header, without the name; 0: there is no run */
	uint32_t thread;
	uint64_t calls;
	uint64_t start, end; /* ticks */
};

static void info_end_row(struct info *info, struct info_row *row)
{
	if (row->calls > 0) {
		info_on_moment(info, fxt_provider_ns(info->tables.provider, row->start));
		info_on_moment(info, fxt_provider_ns(info->tables.provider, row->end));
		fxt_make_zeroed(info->thread_events, info->thread_count, row->thread);
		info->thread_events[row->thread] += row->calls;
		info->calls += row->calls;
		info->call_bytes += row->calls * FXT_CALL_WORDS * 8;
		info->records += row->calls;
		info->kinds[fxt_kind(row->header)] += row->calls;
	}
	*row = (struct info_row){0};
}

static void info_begin_row(const struct info *info, struct info_row *row, uint64_t header)
{
	const struct fxt_provider_tables *provider = info->tables.provider;
	uint32_t category = fxt_provider_string(provider, fxt_field(header, 32, 15));
	uint32_t thread = fxt_provider_thread(provider, fxt_field(header, 24, 8));

	if (thread != FXT_NOTHING && category != FXT_NOTHING && fxt_is_call(&info->categories, category))
		*row = (struct info_row){.header = header, .thread = thread, .start = UINT64_MAX};
	info->tables.provider->has_slices = true;
}

/* Adds a record to the run. Returns false if it does not belong to it. */
static bool info_on_plain(struct info *info, struct info_row *row, const struct fxt_record *r)
{
	uint64_t header = r->words[0] & ((UINT64_C(1) << 48) - 1);

	if (!fxt_is_plain_call(r->words[0]) || r->words[2] < r->words[1])
		return false;
	if (header != row->header) {
		info_end_row(info, row);
		info_begin_row(info, row, header);
	}
	if (row->header == 0)
		return false;
	if (r->words[1] < row->start)
		row->start = r->words[1];
	if (r->words[2] > row->end)
		row->end = r->words[2];
	row->calls++;
	return true;
}

/* ---- printing ---- */

static void print_name(const struct info *info, uint32_t name)
{
	if (name == FXT_NOTHING)
		return;
	putchar(' ');
	fxt_print_quoted(info->tables.strings[name]);
}

static void info_print_sums(const struct info *info, const char *name, const struct fxt_archive *archive)
{
	uint64_t length = info->end > info->start ? info->end - info->start : 0;

	printf("%s: %zu bytes, %" PRIu64 " record%s, %s\n", name, archive->bytes, info->records,
	        fxt_plural(info->records), fxt_time_text((double)length).text);
	printf("%" PRIu64 " call%s", info->calls, fxt_plural(info->calls));
	if (info->calls > 0)
		printf(", %.1f bytes a call", (double)info->call_bytes / (double)info->calls);
	printf("\nlost: %s%" PRIu64 " record%s, overwritten: %" PRIu64 ", in %" PRIu64
	       " gap%s; buffer full: %" PRIu64 " time%s\n",
	        fxt_tables_least(&info->tables), info->records_lost, fxt_plural(info->records_lost),
	        info->records_overwritten, info->gaps, fxt_plural(info->gaps), info->full_buffers,
	        fxt_plural(info->full_buffers));
	printf("waited: %" PRIu64 " time%s, %s in all\n", info->waits, fxt_plural(info->waits),
	        fxt_time_text((double)info->waited_ns).text);
	if (info->elided_sums.calls > 0)
		printf("%s\n", fxt_elided_sums_text(&info->elided_sums, info->elided_sums.own).text);
	if (info->muted.count > 0)
		printf("muted by fxtrun --auto: %zu function%s, see below\n", info->muted.count,
		        fxt_plural(info->muted.count));
}

/* Only the first ones are listed: there may be hundreds. */
static void info_print_muted(const struct info *info)
{
	for (size_t i = 0; i < info->muted.count; i++) {
		const struct fxt_muted_function *f = &info->muted.items[i];
		struct fxt_span name = info->tables.strings[f->name];

		info->tell("muted by fxtrun --auto: %.*s%s", (int)name.bytes, name.data,
		        fxt_muted_text(f, f->since > info->start ? f->since - info->start : 0).text);
	}
}

static void info_print_state(const struct info *info)
{
	const struct fxt_archive_state *state = &info->state;

	if (!state->is_finished)
		info->tell("unfinished: " FXT_ARCHIVE_UNFINISHED_TEXT);
	if (state->is_finished == FXT_ARCHIVE_RECOVERED)
		info->tell("recovered: the manager was killed, and fxtrun saved what the buffers held; later "
		           "context switches and processes are missing");
	if (state->processes_dropped > 0)
		info->tell("dropped: %" PRIu64 " process%s that had ended, with %" PRIu64
		           " record%s; fxtrun --total-size keeps more",
		        state->processes_dropped, state->processes_dropped == 1 ? "" : "es",
		        state->records_dropped, fxt_plural(state->records_dropped));
	if (info->rotation.number > 0)
		info->tell("file %" PRIu64
		           " of several (fxtrun --rotate): calls that ended earlier or later are in "
		           "the others; fxt merge puts them together",
		        info->rotation.number);
	else if (info->rotation.session)
		info->tell("the file of one process (fxtrun --file-per-process): others have files of their "
		           "own; fxt merge puts them together");
	if (state->max_bytes > 0)
		info->tell("ended by fxtrun --max-size: %" PRIu64 " event%s came too late for the file",
		        state->events_refused, fxt_plural(state->events_refused));
	else if (state->bytes_unwritten > 0)
		info->tell("cut: the file had no room for %" PRIu64 " byte%s of records",
		        state->bytes_unwritten, fxt_plural(state->bytes_unwritten));
}

static void info_print_merged(const struct info *info)
{
	if (info->merged.bytes > 0)
		info->tell(
		        "several traces on one timeline, %.*s", (int)info->merged.bytes, info->merged.data);
}

static void info_print_cut(const struct info *info)
{
	if (info->cut.what == 0)
		return;
	info->tell("a part of another trace, by fxt cut %.*s", (int)info->cut_options.bytes,
	        info->cut_options.data);
	if (info->cut.what & FXT_CUT_DAMAGED)
		info->tell("that trace could not be read as a whole: more may be missing");
}

static void info_print_deaths(const struct info *info)
{
	for (size_t i = 0; i < info->death_count; i++) {
		struct fxt_describer text;

		fxt_describe_begin(&text);
		fxt_death_write(text.out, &info->deaths[i]);
		fputs(": ", text.out);
		fxt_death_write_who(text.out, &info->tables, &info->deaths[i]);
		struct fxt_span line = fxt_describe_end(&text);

		info->tell("%.*s", (int)line.bytes, line.data);
		fxt_describe_free(&text);
	}
}

static int by_name_and_rate(const void *left, const void *right)
{
	const struct fxt_provider_tables *a = *(struct fxt_provider_tables *const *)left,
	                                 *b = *(struct fxt_provider_tables *const *)right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return (a->rate.ticks_per_second > b->rate.ticks_per_second) -
	       (a->rate.ticks_per_second < b->rate.ticks_per_second);
}

static int by_process(const void *left, const void *right)
{
	const struct fxt_provider_tables *a = *(struct fxt_provider_tables *const *)left,
	                                 *b = *(struct fxt_provider_tables *const *)right;
	int order = by_name_and_rate(left, right);

	return order ? order : (a->process > b->process) - (a->process < b->process);
}

/* Prints one line for all providers of equal name and rate, because a shell script has
 * thousands. Their ids mean nothing: providers are identified by name and process. */
static void print_providers(const struct info *info)
{
	/* The first entry stands for records outside of any provider. */
	size_t count = info->tables.provider_count - 1, same, processes;
	struct fxt_provider_tables **sorted =
	        fxt_resize(NULL, count + 1, sizeof(struct fxt_provider_tables *));

	memcpy(sorted, info->tables.providers + 1, count * sizeof(struct fxt_provider_tables *));
	qsort(sorted, count, sizeof(*sorted), by_process);
	for (size_t i = 0; i < count; i += same) {
		/* Each process image is a provider of its own. */
		processes = same = 1;
		for (; i + same < count && by_name_and_rate(&sorted[i], &sorted[i + same]) == 0; same++)
			processes += sorted[i + same]->process != sorted[i + same - 1]->process;
		printf("provider");
		print_name(info, sorted[i]->name);
		if (processes > 1)
			printf(", %zu processes", processes);
		else if (sorted[i]->process)
			printf(", process %" PRIu64, sorted[i]->process);
		printf(": %" PRIu64 " ticks/s\n", sorted[i]->rate.ticks_per_second);
	}
	free(sorted);
}

struct row {
	struct fxt_koids koids;
	uint32_t thread; /* id; FXT_NOTHING: this is a process */
	uint64_t events;
};

static int by_koids(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->koids.process != b->koids.process)
		return a->koids.process < b->koids.process ? -1 : 1;
	return (a->koids.thread > b->koids.thread) - (a->koids.thread < b->koids.thread);
}

/* Sorts by events, most first, then by koid. */
static int by_events(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	return by_koids(left, right);
}

static uint64_t info_events_of(const struct info *info, uint32_t thread)
{
	return thread < info->thread_count ? info->thread_events[thread] : 0;
}

/* Returns every process that was described or has a thread, each followed by its
 * threads. The caller frees the rows. */
static struct row *info_rows(const struct info *info, size_t *count)
{
	const struct fxt_tables *t = &info->tables;
	struct row *rows = fxt_resize(NULL, t->thread_count + t->object_count, sizeof(*rows));

	*count = 0;
	for (uint32_t i = 1; i < t->thread_count; i++)
		rows[(*count)++] = (struct row){t->threads[i], i, info_events_of(info, i)};
	for (size_t i = 0; i < t->object_count; i++)
		if (t->objects[i].type == FXT_OBJECT_PROCESS)
			rows[(*count)++] = (struct row){{t->objects[i].koid, 0}, FXT_NOTHING, 0};
	qsort(rows, *count, sizeof(*rows), by_koids);
	return rows;
}

/* Prints the threads of a process, the busiest of them if there are many. Sorts the
 * rows. */
static void info_print_threads_of(const struct info *info, struct row *rows, size_t count)
{
	size_t shown = count > FXT_THREADS_SHOWN ? FXT_THREADS_SHOWN : count;
	uint64_t events = 0;

	if (shown < count)
		qsort(rows, count, sizeof(*rows), by_events);
	for (size_t i = 0; i < shown; i++) {
		printf("  thread %" PRIu64, rows[i].koids.thread);
		print_name(
		        info, fxt_tables_object_name(&info->tables, FXT_OBJECT_THREAD, rows[i].koids.thread));
		printf(": %" PRIu64 " event%s\n", rows[i].events, fxt_plural(rows[i].events));
	}
	for (size_t i = shown; i < count; i++)
		events += rows[i].events;
	if (shown < count)
		printf("  %zu more threads: %" PRIu64 " event%s; --json lists them\n", count - shown, events,
		        fxt_plural(events));
}

static void info_print_rank(const struct info *info, uint64_t process)
{
	const struct fxt_job_place rank = fxt_tables_place(&info->tables, process);

	if (!rank.is_known)
		return;
	printf(", rank %" PRIu32, rank.rank);
	if (rank.size > 0)
		printf(" of %" PRIu32, rank.size);
	if (rank.host != FXT_NOTHING)
		printf(" on"), print_name(info, rank.host);
	if (rank.job != FXT_NOTHING)
		printf(", job"), print_name(info, rank.job);
}

static void info_print_threads(const struct info *info)
{
	size_t count, same;
	struct row *rows = info_rows(info, &count);

	for (size_t i = 0; i < count; i += same) {
		size_t first = rows[i].thread == FXT_NOTHING; /* the process itself comes first */

		for (same = 1; i + same < count && rows[i + same].koids.process == rows[i].koids.process;)
			same++;
		printf("process %" PRIu64, rows[i].koids.process);
		print_name(info,
		        fxt_tables_object_name(&info->tables, FXT_OBJECT_PROCESS, rows[i].koids.process));
		info_print_rank(info, rows[i].koids.process);
		putchar('\n');
		info_print_threads_of(info, rows + i + first, same - first);
	}
	free(rows);
}

static void print_kinds(const struct info *info)
{
	for (unsigned kind = 0; kind < FXT_KINDS_MAX; kind++)
		if (info->kinds[kind] > 0)
			printf("%12" PRIu64 "  %s\n", info->kinds[kind], fxt_kind_name(kind));
}

/* ---- for programs ---- */

static void info_table_sums(const struct info *info, const struct fxt_archive *archive)
{
	static const struct fxt_column columns[] = {{"size_bytes", "", FXT_COLUMN_BYTES, 0},
	        {"records", "", FXT_COLUMN_COUNT, 0}, {"length_ns", "", FXT_COLUMN_TIME, 0},
	        {"calls", "", FXT_COLUMN_COUNT, 0}, {"calls_bytes", "", FXT_COLUMN_BYTES, 0},
	        {"records_lost", "", FXT_COLUMN_COUNT, 0}, {"records_overwritten", "", FXT_COLUMN_COUNT, 0},
	        {"gaps", "", FXT_COLUMN_COUNT, 0}, {"buffer_full", "", FXT_COLUMN_COUNT, 0},
	        {"waits", "", FXT_COLUMN_COUNT, 0}, {"waited_ns", "", FXT_COLUMN_TIME, 0},
	        {"calls_left_out", "", FXT_COLUMN_COUNT, 0}};
	const struct fxt_cell cells[] = {fxt_cell_number((double)archive->bytes),
	        fxt_cell_number((double)info->records),
	        fxt_cell_number(info->end > info->start ? (double)(info->end - info->start) : 0),
	        fxt_cell_number((double)info->calls), fxt_cell_number((double)info->call_bytes),
	        fxt_cell_number((double)info->records_lost),
	        fxt_cell_number((double)info->records_overwritten), fxt_cell_number((double)info->gaps),
	        fxt_cell_number((double)info->full_buffers), fxt_cell_number((double)info->waits),
	        fxt_cell_number((double)info->waited_ns), fxt_cell_number((double)info->elided_sums.calls)};

	fxt_table_begin("trace", NULL, columns, sizeof(columns) / sizeof(*columns));
	fxt_table_row(cells);
	fxt_table_end();
}

static struct fxt_cell info_name_cell(const struct info *info, uint32_t name)
{
	return name == FXT_NOTHING ? fxt_cell_unknown() : fxt_cell_text(info->tables.strings[name]);
}

/* The first entry stands for records outside of any provider. */
static void info_table_providers(const struct info *info)
{
	static const struct fxt_column columns[] = {{"provider", "", FXT_COLUMN_TEXT, 0},
	        {"process", "", FXT_COLUMN_COUNT, 0}, {"ticks_per_second", "", FXT_COLUMN_COUNT, 0}};

	fxt_table_begin("providers", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 1; i < info->tables.provider_count; i++) {
		const struct fxt_provider_tables *provider = info->tables.providers[i];

		fxt_table_row((struct fxt_cell[]){info_name_cell(info, provider->name),
		        provider->process ? fxt_cell_number((double)provider->process) : fxt_cell_unknown(),
		        fxt_cell_number((double)provider->rate.ticks_per_second)});
	}
	fxt_table_end();
}

/* A process without threads has a row, too. */
static void info_table_threads(const struct info *info)
{
	static const struct fxt_column columns[] = {{"process", "", FXT_COLUMN_COUNT, 0},
	        {"process_name", "", FXT_COLUMN_TEXT, 0}, {"koid", "", FXT_COLUMN_COUNT, 0},
	        {"thread", "", FXT_COLUMN_TEXT, 0}, {"events", "", FXT_COLUMN_COUNT, 0}};
	const struct fxt_tables *t = &info->tables;
	size_t count;
	struct row *rows = info_rows(info, &count);

	fxt_table_begin("threads", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < count; i++) {
		struct fxt_koids koids = rows[i].koids;

		if (rows[i].thread == FXT_NOTHING && i + 1 < count &&
		        rows[i + 1].koids.process == koids.process)
			continue;
		struct fxt_cell cells[5] = {fxt_cell_number((double)koids.process),
		        info_name_cell(info, fxt_tables_object_name(t, FXT_OBJECT_PROCESS, koids.process))};

		if (rows[i].thread != FXT_NOTHING) {
			cells[2] = fxt_cell_number((double)koids.thread);
			cells[3] = info_name_cell(
			        info, fxt_tables_object_name(t, FXT_OBJECT_THREAD, koids.thread));
			cells[4] = fxt_cell_number((double)info_events_of(info, rows[i].thread));
		}
		fxt_table_row(cells);
	}
	fxt_table_end();
	free(rows);
}

/* The processes of parallel jobs. */
static void info_table_ranks(const struct info *info)
{
	static const struct fxt_column columns[] = {{"process", "", FXT_COLUMN_COUNT, 0},
	        {"rank", "", FXT_COLUMN_COUNT, 0}, {"size", "", FXT_COLUMN_COUNT, 0},
	        {"host", "", FXT_COLUMN_TEXT, 0}, {"job", "", FXT_COLUMN_TEXT, 0}};
	const struct fxt_tables *t = &info->tables;

	fxt_table_begin("ranks", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < t->object_count; i++) {
		const struct fxt_job_place *rank = &t->objects[i].rank;

		if (!rank->is_known)
			continue;
		fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)t->objects[i].koid),
		        fxt_cell_number(rank->rank),
		        rank->size ? fxt_cell_number(rank->size) : fxt_cell_unknown(),
		        info_name_cell(info, rank->host), info_name_cell(info, rank->job)});
	}
	fxt_table_end();
}

static void info_table_kinds(const struct info *info)
{
	static const struct fxt_column columns[] = {
	        {"kind", "", FXT_COLUMN_TEXT, 0}, {"records", "", FXT_COLUMN_COUNT, 0}};

	fxt_table_begin("records", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (unsigned kind = 0; kind < FXT_KINDS_MAX; kind++)
		if (info->kinds[kind] > 0)
			fxt_table_row((struct fxt_cell[]){fxt_cell_text(fxt_span(fxt_kind_name(kind))),
			        fxt_cell_number((double)info->kinds[kind])});
	fxt_table_end();
}

static void info_print(const struct info *info, const char *name, const struct fxt_archive *archive)
{
	bool is_for_people = fxt_print_format() == FXT_FORMAT_TEXT;

	if (is_for_people)
		info_print_sums(info, name, archive);
	else
		fxt_print_trace(name);
	info_print_state(info);
	info_print_merged(info);
	info_print_cut(info);
	info_print_deaths(info);
	if (is_for_people) {
		print_providers(info);
		info_print_threads(info);
		print_kinds(info);
	} else {
		info_table_sums(info, archive);
		info_table_providers(info);
		info_table_threads(info);
		info_table_ranks(info);
		info_table_kinds(info);
	}
	info_print_muted(info);
}

static int info_read(void *state, const char *name, const struct fxt_archive *archive)
{
	struct info info = {.tell = fxt_print_format() == FXT_FORMAT_TEXT ? fxt_print_line : fxt_print_note,
	        .start = UINT64_MAX,
	        .first_switch = UINT64_MAX,
	        .state = {.is_finished = true}};
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct info_row row = {0};
	struct fxt_record r;

	(void)state;
	fxt_tables_init(&info.tables);
	info.categories = fxt_categories(&info.tables);
	info.elided_name = fxt_tables_intern(&info.tables, fxt_span(FXT_ELIDED_EVENT));
	info.muted_name = fxt_tables_intern(&info.tables, fxt_span(FXT_MUTED_EVENT));
	info.waited_name = fxt_tables_intern(&info.tables, fxt_span("fxt: waited"));
	while (fxt_next(&cursor, &r)) {
		if (info_on_plain(&info, &row, &r))
			continue;
		info_end_row(&info, &row);
		info_on_record(&info, &r);
	}
	info_end_row(&info, &row);
	if (info.calls == 0 && info.first_switch <= info.last_switch) { /* as the other commands */
		info_on_moment(&info, info.first_switch);
		info_on_moment(&info, info.last_switch);
	}
	info.records_lost += fxt_tables_uncounted_losses(&info.tables);
	info_print(&info, name, archive);
	free(info.deaths);
	free(info.thread_events);
	fxt_elided_sums_free(&info.elided_sums);
	fxt_muted_free(&info.muted);
	fxt_tables_free(&info.tables);
	return fxt_report_unread(name, info.malformed, info.unknown, &cursor.fault);
}

int fxt_command_info(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_FORMAT, {0}};
	struct fxt_options wanted = {0};
	int option;

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		fxt_options_take(&wanted, argv[0], option);
	fxt_print_begin(argv[0], wanted.format);
	int status = fxt_each_archive(argc, argv, info_read, NULL);

	fxt_print_end();
	return status;
}
