/*
 * The view of the timeline, for who sends the user there.
 */
#ifndef FXT_FXT_TUI_TIMELINE_H
#define FXT_FXT_TUI_TIMELINE_H

#include "reader/slices/slice.h"

/* Shows a slice, with a tenth of its length before and behind, and selects it. */
void fxt_timeline_show(const struct fxt_slice *slice);

#endif
