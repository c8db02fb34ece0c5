/*
 * Rows on their way: what the visitor that makes them of slices (rows.c) and the one that makes them of other
 * records (row_records.c) share.
 */
#ifndef FXT_FXT_SQL_ROW_STATE_H
#define FXT_FXT_SQL_ROW_STATE_H

#include "rows.h"

/* What the record of a slice says besides its times and names, from when it is met until the slice is left.
 */
struct fxt_sql_details {
	uint64_t offset; /* of the record */
	uint64_t number;
	uint32_t label;
	bool is_abandoned, has_object, has_descriptor;
	char *arguments;
};

struct fxt_sql_rows {
	struct fxt_sql_trace *trace;
	enum fxt_sql_rows_kind kind;
	struct fxt_sql_limits limits;
	unsigned needs;
	struct fxt_walker walker;
	bool is_done;

	struct fxt_spill rows; /* of the latest step */
	uint64_t next;         /* of these */
	char *arguments;       /* of the one handed out */

	struct fxt_sql_details *
	        *pending; /* of records whose slices are not entered yet, by descending offset */
	size_t pending_count, pending_room;

	/* Of wanted slices that are open: all that is inside them has to be read. */
	size_t wanted_open;
	uint64_t wanted_from, wanted_to;
};

/* Whether rows of this kind are made of a slice, or of a loss that is an instant. */
bool fxt_sql_rows_has(const struct fxt_sql_rows *rows, const struct fxt_slice *slice);

/* Sets what a row is in, `parent` being the innermost slice around. */
void fxt_sql_rows_set_caller(
        const struct fxt_sql_rows *rows, struct fxt_sql_row *row, const struct fxt_walk_frame *parent);

/* The visitor's record(). */
void fxt_sql_rows_see_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset);

/* Whether it is within the limits. */
static inline bool fxt_sql_is_within(const struct fxt_sql_limits *l, uint64_t start, uint64_t end,
        uint32_t thread, uint32_t name, uint32_t category, uint64_t id)
{
	return start >= l->start_from && start <= l->start_to && end >= l->end_from && end <= l->end_to &&
	       end - start >= l->shortest && end - start <= l->longest && (l->id == 0 || l->id == id) &&
	       (!l->threads || l->threads[thread]) && (!l->names || l->names[name]) &&
	       (!l->categories || l->categories[category]);
}

#endif
