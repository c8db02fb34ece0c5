/*
 * What a call is: a duration of any category but those by which the tracer tells of something else, itself
 * ("fxt"), processes, and waits ("sync"). All that count calls ask here.
 */
#ifndef FXT_READER_CALL_H
#define FXT_READER_CALL_H

#include "tables.h"

/* Ids of strings. */
struct fxt_call_categories {
	uint32_t tracer, process, sync;
};

static inline struct fxt_call_categories fxt_categories(struct fxt_tables *t)
{
	return (struct fxt_call_categories){
	        .tracer = fxt_tables_intern(t, fxt_span("fxt")),
	        .process = fxt_tables_intern(t, fxt_span("process")),
	        .sync = fxt_tables_intern(t, fxt_span("sync")),
	};
}

/* Whether durations of a category are calls. */
static inline bool fxt_is_call(const struct fxt_call_categories *categories, uint32_t category)
{
	return category != categories->tracer && category != categories->process &&
	       category != categories->sync;
}

#endif
