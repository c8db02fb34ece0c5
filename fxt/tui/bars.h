/*
 * What is around a view: the bar at the top with the views and the trace, a line of what the trace holds and
 * what is missing of it, the bar at the bottom; and the help.
 */
#ifndef FXT_FXT_TUI_BARS_H
#define FXT_FXT_TUI_BARS_H

#include "tui.h"

/* Draws the screen with the view that is shown; `pages` are by enum fxt_tui_view. */
void fxt_bars_draw(const struct fxt_tui_page *const pages[FXT_TUI_VIEWS]);

/* Shows the help until a key is pressed. */
void fxt_bars_help(void);

#endif
