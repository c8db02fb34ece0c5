/*
 * Async spans: what began and ended by async events, on any threads. A begin and an end
 * belong together by process, category, name and id; an end ends the span that began last.
 * Records of several threads stand in no order of time, so spans are matched once all are
 * known.
 */
#ifndef FXT_READER_ASYNC_H
#define FXT_READER_ASYNC_H

#include "functions.h"

/* Times are in units of the scan. */
struct fxt_async_span {
	uint64_t start, end, id;
	uint64_t offset; /* of the record of its begin */
	uint32_t thread; /* that began it */
	uint32_t group;
	bool is_open; /* it never ended, and lasts until the end of the trace */
};

/* The spans of one name and category. */
struct fxt_async_group {
	uint32_t name, category;
	bool is_shared; /* another group has the name */
};

struct fxt_asyncs {
	struct fxt_async_span *spans; /* by group, and in it by process and id */
	size_t count, room;
	struct fxt_async_group *groups;
	size_t group_count, group_room;
	uint64_t ends_without_begin;
};

/* Reads the spans that the scan's filter shows, each by its begin; a span that reaches out
 * of the filter's time has the part inside. Returns false if not all of the file could be
 * read again. A trace without async events is not read. */
bool fxt_asyncs_read(struct fxt_asyncs *asyncs, const struct fxt_scan *scan);

/* Adds the spans with wanted[name] to sums by group, or by key 1 if by_group is false.
 * NULL: all are wanted. */
void fxt_asyncs_sum(
        const struct fxt_asyncs *asyncs, const bool *wanted, bool by_group, struct fxt_functions *sums);

void fxt_asyncs_free(struct fxt_asyncs *asyncs);

#endif
