/*
 * Makes rows of records that are not slices: events, counters, flows, context switches,
 * losses. Also takes the details of slices from their records. Runs on the main thread as
 * the visitor's record().
 */
#include "row_state.h"

#include "fxt/json.h"
#include "reader/trace/text.h"

/* ---- slices ---- */

static bool rows_find_argument(struct fxt_tables *t, const struct fxt_view *view, const char *name,
        enum fxt_argument_type type, struct fxt_argument *argument)
{
	return fxt_tables_argument(t, view, name, argument) && argument->type == type;
}

/* Returns the arguments of an event as JSON, allocated with malloc(); NULL if there are
 * none. */
static char *rows_arguments(struct fxt_tables *t, const struct fxt_view *view)
{
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	char *text = NULL;
	size_t bytes;

	if (view->arguments.left == 0)
		return NULL;
	FILE *out = fxt_memory_open(&text, &bytes);

	fxt_json_arguments(out, t, t->threads[thread].process, view->arguments);
	fxt_memory_close(out, &text);
	return text;
}

static void rows_on_slice(struct fxt_sql_rows *rows, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_tables *t = &rows->walker.tables;
	struct fxt_argument argument;
	struct fxt_sql_details details = {.offset = offset};

	if (view->event.extra < view->event.ticks)
		return;
	if (rows_find_argument(t, view, "abandoned", FXT_ARGUMENT_BOOL, &argument))
		details.is_abandoned = argument.value.word;
	if (rows->kind == FXT_SQL_LOSSES &&
	        rows_find_argument(t, view, "records", FXT_ARGUMENT_UINT64, &argument))
		details.lost = argument.value.word;
	if (rows->kind == FXT_SQL_WAITS)
		details.awaited = fxt_sql_awaited(rows->trace, t, view, offset);
	if (rows->needs & FXT_SQL_NEEDS_ARGUMENTS)
		details.arguments = rows_arguments(t, view);
	fxt_make_room(rows->pending, rows->pending_count, rows->pending_room);
	rows->pending[rows->pending_count] = fxt_allocate(sizeof(details));
	*rows->pending[rows->pending_count++] = details;
}

/* ---- other events ---- */

static enum fxt_sql_rows_kind rows_kind_of_event(enum fxt_event_type type)
{
	switch (type) {
	case FXT_EVENT_COUNTER:
		return FXT_SQL_COUNTERS;
	case FXT_EVENT_FLOW_BEGIN:
	case FXT_EVENT_FLOW_STEP:
	case FXT_EVENT_FLOW_END:
		return FXT_SQL_FLOWS;
	default:
		return FXT_SQL_EVENTS;
	}
}

/* Returns the innermost slice around a moment. If there is none, returns the frame that
 * stands for the thread, or NULL. */
static const struct fxt_walk_frame *rows_around(
        const struct fxt_sql_rows *rows, uint32_t thread, uint64_t time)
{
	const struct fxt_stack *stack = &rows->walker.stacks[thread];
	const struct fxt_walk_frame *frame = stack->frames ? &stack->frames[stack->top] : NULL;

	while (frame > stack->frames && (frame->slice.start > time || frame->slice.end < time))
		frame--;
	return frame;
}

static void rows_add_series(struct fxt_sql_rows *rows, const struct fxt_view *view, struct fxt_sql_row *row)
{
	struct fxt_arguments arguments = view->arguments;
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument)) {
		if (argument.type < FXT_ARGUMENT_INT32 || argument.type > FXT_ARGUMENT_DOUBLE)
			continue;
		row->label = fxt_sql_string(rows->trace, &rows->walker.tables, argument.name);
		row->type = argument.type;
		row->value = argument.value.word;
		fxt_spill_add(&rows->rows, row);
	}
}

static void rows_on_event(struct fxt_sql_rows *rows, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_tables *t = &rows->walker.tables;
	struct fxt_slice slice = fxt_scan_slice(&rows->trace->scan, t, view, offset);
	bool is_loss = rows->kind == FXT_SQL_LOSSES && view->event.type == FXT_EVENT_INSTANT;
	struct fxt_argument lost;
	struct fxt_sql_row row = {.id = offset,
	        .start = slice.start,
	        .end = slice.start,
	        .thread = slice.thread,
	        .name = slice.name,
	        .category = slice.category,
	        .number = view->event.extra,
	        .type = (uint8_t)view->event.type};

	if (!is_loss && rows_kind_of_event(view->event.type) != rows->kind)
		return;
	if (!fxt_sql_is_within(
	            &rows->constraints, row.start, row.end, row.thread, row.name, row.category, row.id))
		return;
	if (is_loss) {
		if (!fxt_sql_rows_has(rows, &slice) ||
		        !rows_find_argument(t, view, "records", FXT_ARGUMENT_UINT64, &lost))
			return;
		row.number = lost.value.word;
	}
	fxt_sql_rows_set_caller(rows, &row, rows_around(rows, row.thread, row.start));
	if (rows->constraints.caller && rows->constraints.caller != row.caller)
		return;
	if (rows->kind == FXT_SQL_COUNTERS) {
		rows_add_series(rows, view, &row);
		return;
	}
	if (rows->needs & FXT_SQL_NEEDS_ARGUMENTS)
		row.arguments = rows_arguments(t, view);
	fxt_spill_add(&rows->rows, &row);
}

/* ---- context switches ---- */

/* Returns the koid of a thread. The legacy record refers to its threads by index; the other
 * records have koids. */
static uint64_t rows_koid(struct fxt_tables *t, const struct fxt_view *view, struct fxt_thread thread)
{
	if (view->scheduling.type != FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH)
		return thread.thread;
	uint32_t id = fxt_tables_thread(t, thread); /* may reallocate the table */

	return t->threads[id].thread;
}

static void rows_on_switch(struct fxt_sql_rows *rows, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_tables *t = &rows->walker.tables;
	const struct fxt_scan *scan = &rows->trace->scan;
	uint64_t time = scan->in_ticks ? view->scheduling.ticks
	                               : fxt_provider_ns(t->provider, view->scheduling.ticks);
	struct fxt_sql_row row = {.id = offset,
	        .start = time,
	        .end = time,
	        .type = (uint8_t)view->scheduling.type,
	        .cpu = view->scheduling.cpu,
	        .state = view->scheduling.outgoing_state,
	        .number = rows_koid(t, view, view->scheduling.incoming),
	        .value = rows_koid(t, view, view->scheduling.outgoing)};

	if (fxt_sql_is_within(&rows->constraints, time, time, FXT_NOTHING, FXT_NOTHING, FXT_NOTHING, offset))
		fxt_spill_add(&rows->rows, &row);
}

void fxt_sql_rows_on_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_sql_rows *rows = state;
	struct fxt_view counters;

	(void)walker;
	if (fxt_view_heap_counters(view, &counters))
		view = &counters;
	if (view->type == FXT_RECORD_SCHEDULING && rows->kind == FXT_SQL_SWITCHES)
		rows_on_switch(rows, view, offset);
	else if (view->type == FXT_RECORD_EVENT && view->event.type == FXT_EVENT_DURATION_COMPLETE)
		rows->kind <= FXT_SQL_LOSSES ? rows_on_slice(rows, view, offset) : (void)0;
	else if (view->type == FXT_RECORD_EVENT && view->event.type != FXT_EVENT_DURATION_BEGIN &&
	         view->event.type != FXT_EVENT_DURATION_END) /* the walk makes slices of
	                                                        these */
		rows_on_event(rows, view, offset);
}
