/*
 * Functions that were muted while their program ran (fxtrun --auto), as the trace tells of them
 * (writer/muted.h): of their calls there may have been more than it has.
 */
#ifndef FXT_READER_MUTED_H
#define FXT_READER_MUTED_H

#include "reader/trace/tables.h"

struct fxt_muted_function {
	uint32_t name;  /* an id */
	uint64_t since; /* of all processes the first moment, in the unit that it was seen with */
	uint64_t calls; /* that are recorded of it */
};

struct fxt_muted {
	struct fxt_muted_function *items;
	size_t count, room;
	struct fxt_index by_name;
};

/* Takes an instant event of that name, at that time. What is malformed tells nothing. */
void fxt_muted_see(struct fxt_muted *muted, struct fxt_tables *t, const struct fxt_view *view, uint64_t time);

/* The function of that name; NULL: it was not muted. */
struct fxt_muted_function *fxt_muted_find(const struct fxt_muted *muted, uint32_t name);

/* " since 412.345 ms: 12345 calls until then", to stand behind a name; `since_ns`: since the trace began. */
struct fxt_muted_text {
	char text[80];
};
struct fxt_muted_text fxt_muted_text(const struct fxt_muted_function *function, uint64_t since_ns);

void fxt_muted_free(struct fxt_muted *muted);

#endif
