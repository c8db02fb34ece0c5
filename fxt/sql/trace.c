/*
 * One trace as the tables of a query see it: names, processes, and the conversion between
 * times of the scan and SQL's nanoseconds. Runs on the main thread. Conversions for
 * constraints must be rounded so that no wanted row is lost.
 */
#include "trace.h"

#include <stdlib.h>
#include "reader/trace/text.h"
#include "writer/shared/search.h"

/* True if slices of this name are no waits: they have no length, and only carry an end of
 * an arrow (agent/interpose/sync.c, agent/interpose/pthreads.c). */
static bool trace_is_mark(struct fxt_span name)
{
	static const char *const whole[] = {"woken", "thread begins", "wakes who joins it"};

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (fxt_span_is(name, whole[i]))
			return true;
	return fxt_ends_with(name, ": wakes a waiter") || fxt_ends_with(name, ": a new thread");
}

/* Finds every process that was described or has a thread. */
static void trace_find_processes(struct fxt_sql_trace *trace)
{
	const struct fxt_tables *t = &trace->scan.tables;
	size_t count = 0;

	trace->processes = fxt_resize(NULL, t->thread_count + t->object_count, sizeof(*trace->processes));
	for (size_t i = 1; i < t->thread_count; i++)
		trace->processes[count++] = t->threads[i].process;
	for (size_t i = 0; i < t->object_count; i++)
		if (t->objects[i].type == FXT_OBJECT_PROCESS)
			trace->processes[count++] = t->objects[i].koid;
	trace->process_count = fxt_sort_koids(trace->processes, count);
	trace->process_of = fxt_resize(NULL, t->thread_count, sizeof(*trace->process_of));
	trace->threads_of = fxt_allocate((trace->process_count + 1) * sizeof(*trace->threads_of));
	for (size_t i = 1; i < t->thread_count; i++) {
		const uint64_t *process =
		        fxt_find_koid(trace->processes, trace->process_count, t->threads[i].process);

		trace->process_of[i] = (uint32_t)(process - trace->processes);
		trace->threads_of[trace->process_of[i]]++;
	}
}

/* ---- what waits are for ---- */

struct fxt_sql_awaited fxt_sql_awaited(
        struct fxt_sql_trace *trace, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_sql_awaited awaited = {.offset = offset};
	struct fxt_argument object, symbol;

	awaited.has_object =
	        fxt_tables_argument(t, view, "object", &object) && object.type == FXT_ARGUMENT_POINTER;
	awaited.has_descriptor = !awaited.has_object && fxt_tables_argument(t, view, "fd", &object) &&
	                         object.type == FXT_ARGUMENT_INT32;
	if (awaited.has_object || awaited.has_descriptor)
		awaited.number = object.value.word;
	if (fxt_tables_argument(t, view, "symbol", &symbol) && symbol.type == FXT_ARGUMENT_STRING)
		awaited.symbol = fxt_sql_string(trace, t, symbol.value.string);
	return awaited;
}

struct fxt_sql_awaited fxt_sql_begun(const struct fxt_sql_trace *trace, uint64_t offset)
{
	uint64_t at = partition_point(i, trace->begun.count,
	        ((const struct fxt_sql_awaited *)fxt_spill_item(&trace->begun, i))->offset < offset);
	const struct fxt_sql_awaited *found =
	        at < trace->begun.count ? fxt_spill_item(&trace->begun, at) : NULL;

	return found && found->offset == offset ? *found : (struct fxt_sql_awaited){0};
}

static void trace_hear_begin(void *state)
{
	struct fxt_sql_trace *trace = state;

	fxt_spill_clear(&trace->begun);
}

static void trace_hear_record(void *state, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_sql_trace *trace = state;

	if (view->type != FXT_RECORD_EVENT || view->event.type != FXT_EVENT_DURATION_BEGIN ||
	        fxt_tables_string(t, view->event.category) != trace->scan.sync_category)
		return;
	struct fxt_sql_awaited awaited = fxt_sql_awaited(trace, t, view, offset);

	if (awaited.has_object || awaited.has_descriptor)
		fxt_spill_add(&trace->begun, &awaited);
}

static int trace_by_offset(const void *left, const void *right)
{
	const struct fxt_sql_awaited *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

static void trace_scan(
        struct fxt_sql_trace *trace, const struct fxt_source *source, const struct fxt_scan_sizes *sizes)
{
	const struct fxt_scan_listener listener = {trace_hear_begin, trace_hear_record, trace};

	fxt_spill_init(&trace->begun, sizeof(struct fxt_sql_awaited), FXT_SPILL_MEMORY_BYTES);
	fxt_scan_listened(&trace->scan, source, sizes, &listener);
	fxt_spill_sort(&trace->begun, trace_by_offset);
	fxt_spill_begin_items(&trace->begun);
}

/* ---- the trace ---- */

void fxt_sql_trace_open(struct fxt_sql_trace *trace, const char *name, const struct fxt_source *source,
        const struct fxt_scan_sizes *sizes)
{
	*trace = (struct fxt_sql_trace){.name = name};
	trace_scan(trace, source, sizes);
	const struct fxt_tables *t = &trace->scan.tables;

	fxt_tables_view(&trace->view, t);
	fxt_tables_init_noting(&trace->texts, NULL);
	trace_find_processes(trace);
	trace->start_ns = fxt_scan_ns(&trace->scan, trace->scan.start);
	trace->thread_names = fxt_resize(NULL, t->thread_count, sizeof(*trace->thread_names));
	trace->process_names = fxt_resize(NULL, t->thread_count, sizeof(*trace->process_names));
	trace->is_mark = fxt_resize(NULL, t->string_count, sizeof(*trace->is_mark));
	for (size_t i = 0; i < t->string_count; i++)
		trace->is_mark[i] = trace_is_mark(t->strings[i]);
	for (size_t i = 0; i < t->thread_count; i++) {
		trace->thread_names[i] = fxt_tables_object_name(t, FXT_OBJECT_THREAD, t->threads[i].thread);
		trace->process_names[i] =
		        fxt_tables_object_name(t, FXT_OBJECT_PROCESS, t->threads[i].process);
	}
}

void fxt_sql_trace_close(struct fxt_sql_trace *trace)
{
	free(trace->thread_names);
	free(trace->process_names);
	free(trace->is_mark);
	free(trace->processes);
	free(trace->process_of);
	free(trace->threads_of);
	fxt_tables_free(&trace->view);
	fxt_tables_free(&trace->texts);
	fxt_spill_free(&trace->begun);
	fxt_scan_free(&trace->scan);
}

/* Ids of the scan's tables come first, then those of the other texts. */
uint32_t fxt_sql_string(struct fxt_sql_trace *trace, struct fxt_tables *t, struct fxt_string string)
{
	uint32_t id = fxt_tables_string(t, string);

	if (id != FXT_NOTHING || !(string.ref & FXT_STRING_INLINE_BIT))
		return id;
	return (uint32_t)trace->scan.tables.string_count +
	       fxt_tables_intern(&trace->texts, fxt_inline_text(string));
}

struct fxt_span fxt_sql_text(const struct fxt_sql_trace *trace, uint32_t string)
{
	size_t count = trace->scan.tables.string_count;

	return string < count ? trace->scan.tables.strings[string] : trace->texts.strings[string - count];
}

/* Converts nanoseconds to units of the scan, rounded down, plus `more` units. */
static uint64_t trace_units(const struct fxt_sql_trace *trace, __int128 ns, int more)
{
	__int128 units = -1;

	if (ns > UINT64_MAX)
		ns = UINT64_MAX;
	if (ns >= 0)
		units = (__int128)((unsigned __int128)ns * trace->scan.rate.ticks_per_second /
		                   FXT_NS_PER_SECOND);
	units += more;
	return units < 0 ? 0 : units > UINT64_MAX ? UINT64_MAX : (uint64_t)units;
}

uint64_t fxt_sql_time_before(const struct fxt_sql_trace *trace, int64_t ns)
{
	return trace_units(trace, (__int128)ns + trace->start_ns, -1);
}

uint64_t fxt_sql_time_behind(const struct fxt_sql_trace *trace, int64_t ns)
{
	return trace_units(trace, (__int128)ns + trace->start_ns + 1, 2);
}

uint64_t fxt_sql_length_below(const struct fxt_sql_trace *trace, int64_t ns)
{
	return trace_units(trace, (__int128)ns - 1, -1);
}

uint64_t fxt_sql_length_above(const struct fxt_sql_trace *trace, int64_t ns)
{
	return trace_units(trace, (__int128)ns + 2, 2);
}

bool fxt_sql_record_times(const struct fxt_sql_trace *trace, uint64_t id, uint64_t *start, uint64_t *end)
{
	const struct fxt_source *source = trace->scan.source;
	uint64_t words[2], last;

	if (!trace->scan.in_ticks || id % 8 != 0 ||
	        fxt_source_read(source, id, words, sizeof(words)) < sizeof(words) ||
	        fxt_record_type(words[0]) != FXT_RECORD_EVENT)
		return false;
	*start = words[1];
	*end = UINT64_MAX;
	if (fxt_field(words[0], 16, 4) == FXT_EVENT_DURATION_COMPLETE && fxt_record_words(words[0]) >= 3 &&
	        fxt_source_read(source, id + 8 * (fxt_record_words(words[0]) - 1), &last, 8) == 8)
		*end = last;
	return true;
}
