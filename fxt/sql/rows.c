/*
 * Produces rows on demand: walks one block, then hands out the rows that it gave. Runs on
 * the main thread. It must not hold more rows in memory than a block gives.
 */
#include "row_state.h"

#include <stdlib.h>
#include "writer/shared/search.h"

const struct fxt_sql_constraints fxt_sql_no_constraints = {
        .start_to = UINT64_MAX, .end_to = UINT64_MAX, .longest = UINT64_MAX};

static void rows_free_constraints(struct fxt_sql_constraints *constraints)
{
	free(constraints->threads);
	free(constraints->names);
	free(constraints->categories);
	*constraints = fxt_sql_no_constraints;
}

/* ---- slices ---- */

static inline bool rows_wants_slice(const struct fxt_sql_rows *rows, const struct fxt_slice *slice)
{
	return fxt_sql_is_within(&rows->constraints, slice->start, slice->end, slice->thread, slice->name,
	               slice->category, slice->offset) &&
	       fxt_sql_rows_has(rows, slice);
}

static void rows_add_slice(struct fxt_sql_rows *rows, const struct fxt_slice *slice,
        const struct fxt_walk_frame *frame, const struct fxt_walk_frame *parent,
        struct fxt_sql_details *details)
{
	struct fxt_sql_row row = {.id = slice->offset,
	        .start = slice->start,
	        .end = slice->end,
	        .thread = slice->thread,
	        .name = slice->name,
	        .category = slice->category,
	        .is_open = slice->is_open};

	if (frame) {
		row.inside = frame->inside;
		row.calls = frame->calls;
	}
	if (details) {
		row.number = details->lost;
		row.is_abandoned = details->is_abandoned;
		row.arguments = details->arguments;
		details->arguments = NULL;
	}
	if (rows->kind == FXT_SQL_WAITS) {
		const struct fxt_sql_awaited awaited =
		        details ? details->awaited : fxt_sql_begun(rows->trace, slice->offset);

		row.number = awaited.number;
		row.label = awaited.symbol;
		row.has_object = awaited.has_object;
		row.has_descriptor = awaited.has_descriptor;
	}
	fxt_sql_rows_set_caller(rows, &row, parent);
	if (rows->constraints.caller == 0 || rows->constraints.caller == row.caller)
		fxt_spill_add(&rows->rows, &row);
	else
		free(row.arguments);
}

static void rows_free_details(struct fxt_sql_details *details)
{
	if (details)
		free(details->arguments);
	free(details);
}

/* Removes the details of a slice from the pending ones and returns them. */
static struct fxt_sql_details *rows_take_details(struct fxt_sql_rows *rows, uint64_t offset)
{
	uint64_t at = partition_point(i, rows->pending_count, rows->pending[i]->offset > offset);

	if (at == rows->pending_count || rows->pending[at]->offset != offset)
		return NULL;
	struct fxt_sql_details *details = rows->pending[at];

	rows->pending_count--;
	memmove(rows->pending + at, rows->pending + at + 1,
	        (rows->pending_count - at) * sizeof(struct fxt_sql_details *));
	return details;
}

/* A frame's word is 0 if its slice is not wanted, 1 if it is, or else a pointer to its
 * details. */
static inline void rows_enter(void *state, struct fxt_walk_frame *frame)
{
	struct fxt_sql_rows *rows = state;
	const struct fxt_slice *slice = &frame->slice;
	struct fxt_sql_details *details =
	        rows->pending_count > 0 ? rows_take_details(rows, slice->offset) : NULL;

	if (!rows_wants_slice(rows, slice)) {
		rows_free_details(details);
		return;
	}
	frame->word = details ? (uint64_t)(uintptr_t)details : 1;
	if (rows->wanted_open++ == 0 || slice->start < rows->wanted_from)
		rows->wanted_from = slice->start;
	if (rows->wanted_open == 1 || slice->end > rows->wanted_to)
		rows->wanted_to = slice->end;
}

static inline void rows_leave(void *state, const struct fxt_walk_frame *frame)
{
	struct fxt_sql_rows *rows = state;
	struct fxt_sql_details *details =
	        frame->word > 1 ? (struct fxt_sql_details *)(uintptr_t)frame->word : NULL;

	if (frame->word == 0)
		return;
	rows->wanted_open--;
	rows_add_slice(rows, &frame->slice, frame, frame - 1, details);
	rows_free_details(details);
}

static inline void rows_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct fxt_sql_rows *rows = state;

	if (rows_wants_slice(rows, slice))
		rows_add_slice(rows, slice, NULL, parent, NULL);
}

/* ---- the walk ---- */

static const struct fxt_visitor rows_visitor = {
        .enter = rows_enter, .leave = rows_leave, .leaf = rows_leaf, .record = fxt_sql_rows_on_record};

/* Sets the range of blocks to read: those within the constraints, and those inside a wanted
 * slice that is open. */
static void rows_set_window(struct fxt_sql_rows *rows)
{
	const struct fxt_sql_constraints *l = &rows->constraints;
	struct fxt_walker *w = &rows->walker;

	w->from = l->start_from > l->end_from ? l->start_from : l->end_from;
	w->to = l->start_to < l->end_to ? l->start_to : l->end_to;
	if (rows->wanted_open == 0 || !(rows->needs & FXT_SQL_NEEDS_INSIDE))
		return;
	if (rows->wanted_from < w->from)
		w->from = rows->wanted_from;
	if (rows->wanted_to > w->to)
		w->to = rows->wanted_to;
}

struct fxt_sql_rows *fxt_sql_rows_open(struct fxt_sql_trace *trace, enum fxt_sql_rows_kind kind,
        const struct fxt_sql_constraints *constraints, unsigned needs)
{
	struct fxt_sql_rows *rows = fxt_allocate(sizeof(*rows));

	rows->trace = trace;
	rows->kind = kind;
	rows->constraints = *constraints;
	rows->needs = needs;
	rows->is_done = constraints->start_from > constraints->start_to ||
	                constraints->end_from > constraints->end_to ||
	                constraints->shortest > constraints->longest;
	fxt_walk_begin(&rows->walker, &trace->scan);
	rows->walker.takes_records = true;
	rows->walker.omits_plain = kind >= FXT_SQL_WAITS && !(needs & FXT_SQL_NEEDS_CALLER);
	fxt_spill_init(&rows->rows, sizeof(struct fxt_sql_row), FXT_SPILL_MEMORY_BYTES);
	return rows;
}

static void rows_clear(struct fxt_sql_rows *rows)
{
	struct fxt_sql_row row;

	for (; rows->next < rows->rows.count; rows->next++) {
		fxt_spill_read(&rows->rows, rows->next, 1, &row);
		free(row.arguments);
	}
}

void fxt_sql_rows_close(struct fxt_sql_rows *rows)
{
	const struct fxt_walker *w = &rows->walker;

	rows_clear(rows);
	for (size_t i = 0; i < w->scan->thread_count; i++)
		for (size_t j = 1; j <= w->stacks[i].top; j++)
			if (w->stacks[i].frames[j].word > 1)
				rows_free_details(
				        (struct fxt_sql_details *)(uintptr_t)w->stacks[i].frames[j].word);
	for (size_t i = 0; i < rows->pending_count; i++)
		rows_free_details(rows->pending[i]);
	free(rows->pending);
	free(rows->arguments);
	fxt_spill_free(&rows->rows);
	fxt_walk_end(&rows->walker);
	rows_free_constraints(&rows->constraints);
	free(rows);
}

/* A block's rows are in memory, except those of a very deep stack. */
static const struct fxt_sql_row *rows_at(struct fxt_sql_rows *rows, uint64_t index)
{
	if (fxt_spill_is_in_memory(&rows->rows))
		return (const struct fxt_sql_row *)(const void *)rows->rows.memory + index;
	fxt_spill_read(&rows->rows, index, 1, &rows->filed);
	return &rows->filed;
}

const struct fxt_sql_row *fxt_sql_rows_next(struct fxt_sql_rows *rows)
{
	const struct fxt_sql_row *row;

	free(rows->arguments);
	rows->arguments = NULL;
	while (rows->next == rows->rows.count) {
		if (rows->is_done || rows->trace->is_interrupted)
			return NULL;
		fxt_spill_clear(&rows->rows);
		rows->next = 0;
		rows_set_window(rows);
		rows->is_done = !fxt_walk_step(&rows->walker, &rows_visitor, rows);
		rows->trace->bytes_read += rows->is_done ? 0 : rows->walker.block->bytes;
		rows->trace->is_short |= rows->walker.is_short;
	}
	row = rows_at(rows, rows->next++);
	rows->arguments = row->arguments;
	return row;
}
