/*
 * A trace's line by its comparisons with another clock (timeline.h, "round trips").
 */
#ifndef FXT_FXT_MERGE_MARKS_H
#define FXT_FXT_MERGE_MARKS_H

#include "timeline.h"

void fxt_merge_marks_add(struct fxt_merge_clock *clock, const struct fxt_merge_mark *mark);

/* Sets the clock's line and error by its marks. The clock must have a mark, and the line
 * between its anchors. */
void fxt_merge_marks_take(struct fxt_merge_clock *clock);

#endif
