/*
 * Muted functions: excluded while their program ran (fxtrun --auto), as the trace reports
 * them (writer/format/muted.h). There may have been more calls of them than the trace has.
 */
#ifndef FXT_READER_MUTED_H
#define FXT_READER_MUTED_H

#include "reader/trace/tables.h"

struct fxt_muted_function {
	uint32_t name;  /* an id */
	uint64_t since; /* the first moment in all processes, in the unit of fxt_muted_add() */
	uint64_t calls; /* recorded calls */
};

struct fxt_muted {
	struct fxt_muted_function *items;
	size_t count, room;
	struct fxt_index by_name;
};

/* Takes an instant event of that name, at that time. A malformed event changes nothing. */
void fxt_muted_add(struct fxt_muted *muted, struct fxt_tables *t, const struct fxt_view *view, uint64_t time);

/* The muted function of that name; NULL: there is none. */
struct fxt_muted_function *fxt_muted_find(const struct fxt_muted *muted, uint32_t name);

/* " since 412.345 ms: 12345 calls until then", to follow a name; `since_ns` is since the
 * beginning of the trace. */
struct fxt_muted_text {
	char text[80];
};
struct fxt_muted_text fxt_muted_text(const struct fxt_muted_function *function, uint64_t since_ns);

/* Takes together what is muted of one function (reader/trace/namesakes.h). */
void fxt_muted_settle(struct fxt_muted *muted, const struct fxt_tables *t);

void fxt_muted_free(struct fxt_muted *muted);

#endif
