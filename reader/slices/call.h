/*
 * Defines a call: a duration of any category except the tracer's own: "fxt" (about itself),
 * "process", "sync" (waits), and "inherited" (calls of a forked child's parent,
 * writer/format/inherited.h). All code that counts calls asks here.
 */
#ifndef FXT_READER_CALL_H
#define FXT_READER_CALL_H

#include "reader/trace/tables.h"
#include "writer/format/inherited.h"

/* Ids of strings. */
struct fxt_call_categories {
	uint32_t tracer, process, sync, inherited;
};

static inline struct fxt_call_categories fxt_categories(struct fxt_tables *t)
{
	return (struct fxt_call_categories){
	        .tracer = fxt_tables_intern(t, fxt_span("fxt")),
	        .process = fxt_tables_intern(t, fxt_span("process")),
	        .sync = fxt_tables_intern(t, fxt_span("sync")),
	        .inherited = fxt_tables_intern(t, fxt_span(FXT_INHERITED_CATEGORY)),
	};
}

/* Whether durations of a category are calls. */
static inline bool fxt_is_call(const struct fxt_call_categories *categories, uint32_t category)
{
	return category != categories->tracer && category != categories->process &&
	       category != categories->sync && category != categories->inherited;
}

#endif
