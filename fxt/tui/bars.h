/*
 * The frame around a view: the bar at the top with the views and the trace, a line with the
 * contents of the trace and what it lacks, the bar at the bottom; and the help.
 */
#ifndef FXT_FXT_TUI_BARS_H
#define FXT_FXT_TUI_BARS_H

#include "tui.h"

/* Draws the screen with the current view; `pages` are indexed by enum fxt_tui_view. */
void fxt_bars_draw(const struct fxt_tui_page *const pages[FXT_TUI_VIEWS]);

/* Shows the help until a key is pressed. */
void fxt_bars_help(void);

#endif
