#include "row_state.h"

bool fxt_sql_rows_has(const struct fxt_sql_rows *rows, const struct fxt_slice *slice)
{
	const struct fxt_scan *scan = &rows->trace->scan;

	switch (rows->kind) {
	case FXT_SQL_CALLS:
		return slice->is_call;
	case FXT_SQL_SLICES:
		return true;
	case FXT_SQL_WAITS:
		return slice->category == scan->sync_category && slice->end > slice->start &&
		       !rows->trace->is_mark[slice->name];
	case FXT_SQL_LOSSES:
		return slice->category == scan->tracer_category &&
		       (slice->name == scan->lost_name || slice->name == scan->overwritten_name);
	default:
		return false;
	}
}

/* Returns the call that a slice is in; `frame` is the slice's parent. NULL: it is in no
 * call. */
static const struct fxt_walk_frame *rows_caller(
        const struct fxt_sql_rows *rows, uint32_t thread, const struct fxt_walk_frame *frame)
{
	const struct fxt_walk_frame *first = rows->walker.stacks[thread].frames;

	while (frame > first && !frame->slice.is_call && !frame->slice.is_inherited)
		frame--;
	return frame > first ? frame : NULL;
}

void fxt_sql_rows_set_caller(
        const struct fxt_sql_rows *rows, struct fxt_sql_row *row, const struct fxt_walk_frame *parent)
{
	const struct fxt_walk_frame *caller = rows_caller(rows, row->thread, parent);

	row->depth = (uint32_t)(parent - rows->walker.stacks[row->thread].frames);
	if (caller) {
		row->caller = caller->slice.offset;
		row->caller_name = caller->slice.name;
	}
}
