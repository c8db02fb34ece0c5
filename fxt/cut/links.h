/*
 * Flows and asynchronous events, which consist of several records each: all of them are
 * kept, or none. They are gathered in a spill while the trace is read, then sorted, and
 * decided on one by one.
 */
#ifndef FXT_FXT_CUT_LINKS_H
#define FXT_FXT_CUT_LINKS_H

#include "keep.h"

struct fxt_links {
	struct fxt_spill spill;
};

void fxt_links_init(struct fxt_links *links);

/* Takes a record of a flow or async event. is_kept: its thread and time are chosen. */
void fxt_links_add(struct fxt_links *links, const struct fxt_keep *k, struct fxt_tables *t,
        const struct fxt_view *view, uint64_t offset, bool is_kept);

/* Decides on all of them, and frees them. */
void fxt_links_keep(struct fxt_links *links, struct fxt_keep *k);

#endif
