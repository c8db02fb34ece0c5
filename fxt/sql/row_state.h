/*
 * The state of rows that are being made. It is shared by the visitor that makes them of
 * slices (rows.c) and the one that makes them of other records (row_records.c).
 */
#ifndef FXT_FXT_SQL_ROW_STATE_H
#define FXT_FXT_SQL_ROW_STATE_H

#include "rows.h"

/* The properties of a slice from its record, besides times and names. They are kept from
 * the time the record is read until the slice is left. */
struct fxt_sql_details {
	uint64_t offset; /* the record's */
	uint64_t lost;   /* records */
	bool is_abandoned;
	char *arguments;
	struct fxt_sql_awaited awaited;
};

struct fxt_sql_rows {
	struct fxt_sql_trace *trace;
	enum fxt_sql_rows_kind kind;
	struct fxt_sql_constraints constraints;
	unsigned needs;
	struct fxt_walker walker;
	bool is_done;

	struct fxt_spill rows;    /* rows made by the latest step */
	uint64_t next;            /* the next one of `rows` to hand out */
	char *arguments;          /* of the row that was handed out last */
	struct fxt_sql_row filed; /* the same row, if it was in the file */

	struct fxt_sql_details **pending; /* from records with slices that are not entered yet, by
	                                     descending offset */
	size_t pending_count, pending_room;

	/* The number of wanted slices that are open: everything inside them must be
	 * read. */
	size_t wanted_open;
	uint64_t wanted_from, wanted_to;
};

/* True if rows of this kind are made of slices such as this one, or of a loss that is an
 * instant. */
bool fxt_sql_rows_has(const struct fxt_sql_rows *rows, const struct fxt_slice *slice);

/* Sets the caller of a row; `parent` is the innermost slice around it. */
void fxt_sql_rows_set_caller(
        const struct fxt_sql_rows *rows, struct fxt_sql_row *row, const struct fxt_walk_frame *parent);

/* The visitor's record(). */
void fxt_sql_rows_on_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset);

/* True if a row is within the constraints. */
static inline bool fxt_sql_is_within(const struct fxt_sql_constraints *l, uint64_t start, uint64_t end,
        uint32_t thread, uint32_t name, uint32_t category, uint64_t id)
{
	return start >= l->start_from && start <= l->start_to && end >= l->end_from && end <= l->end_to &&
	       end - start >= l->shortest && end - start <= l->longest && (l->id == 0 || l->id == id) &&
	       (!l->threads || l->threads[thread]) && (!l->names || l->names[name]) &&
	       (!l->categories || l->categories[category]);
}

#endif
