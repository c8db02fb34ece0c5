/*
 * What threads did when, as data of the page: lanes (lanes.h) of calls, by thread and depth; of whether the
 * thread ran; and of what was lost, whose weight is a number of records. The latter is noted while the trace
 * is scanned.
 */
#ifndef FXT_FXT_HTML_TIMELINE_H
#define FXT_FXT_HTML_TIMELINE_H

#include "page.h"

/* For the scan's listener. */
void fxt_html_losses_begin(struct fxt_lanes *losses);
void fxt_html_losses_record(struct fxt_lanes *losses, struct fxt_tables *t, const struct fxt_view *view);

#endif
