/*
 * Flows and asynchronous events, which are several records each: kept together, or not at all. They are
 * gathered in a spill while the trace is read, sorted, and decided on one by one.
 */
#ifndef FXT_FXT_CUT_LINKS_H
#define FXT_FXT_CUT_LINKS_H

#include "keep.h"

struct fxt_links {
	struct fxt_spill spill;
};

void fxt_links_init(struct fxt_links *links);

/* Takes a flow's or an async event's record; is_kept: its thread and time are chosen. */
void fxt_links_see(struct fxt_links *links, const struct fxt_keep *k, struct fxt_tables *t,
        const struct fxt_view *view, uint64_t offset, bool is_kept);

/* Decides on all, and frees them. */
void fxt_links_keep(struct fxt_links *links, struct fxt_keep *k);

#endif
