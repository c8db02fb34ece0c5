/*
 * The timeline view, for other views that send the user there.
 */
#ifndef FXT_FXT_TUI_TIMELINE_H
#define FXT_FXT_TUI_TIMELINE_H

#include "reader/slices/slice.h"

/* Shows a slice, with a tenth of its length before and after it, and selects it. */
void fxt_timeline_show(const struct fxt_slice *slice);

#endif
