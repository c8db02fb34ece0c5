/*
 * fxt tui: a trace on the terminal, in three views with the figures of other commands:
 * functions (fxt report), the call tree (fxt tree), and the timeline of the threads. The
 * timeline reads again the part of the trace that is shown (lane_slices.h). Memory grows
 * with functions and call paths, not with calls.
 */
#ifndef FXT_FXT_TUI_TUI_H
#define FXT_FXT_TUI_TUI_H

#include "fxt/lanes.h"
#include "prompt.h"
#include "reader/stats/functions.h"
#include "screen.h"

enum fxt_tui_view { FXT_TUI_FUNCTIONS, FXT_TUI_TREE, FXT_TUI_TIMELINE, FXT_TUI_VIEWS };

struct fxt_tui {
	const char *title; /* the trace's name */
	const struct fxt_scan *scan;
	const struct fxt_thread_times *times;
	const struct fxt_functions *threads; /* by id, in units of the scan */
	const struct fxt_functions *all;     /* the sum of `threads`, in ns */
	const struct fxt_lanes *losses;
	enum fxt_tui_view view;
	struct fxt_prompt prompt;
	char note[160];  /* the result of the last key, shown at the bottom until the
	                    next one */
	bool is_changed; /* not all of the file could be read again */
};

extern struct fxt_tui fxt_tui;

/* Shows the name of a lengthy operation while it runs and, for a walk over the trace,
 * its progress. Esc and q stop it; then fxt_tui_was_stopped() returns true until the
 * next operation. */
void fxt_tui_busy(const char *what);
bool fxt_tui_was_stopped(void);

/* Leaves a note. Names are cut to their beginning, because they may be long. */
void fxt_tui_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- the views: what they draw is between the bars; they take keys ---- */

struct fxt_tui_page {
	const char *title, *keys;          /* the keys are shown in the bar at the bottom */
	bool (*draw)(int line, int lines); /* false: draw the view in fxt_tui.view
	                                      instead */
	void (*key)(struct fxt_key key);   /* keys that a view does not know have no
	                                      effect */
	void (*filter)(void);              /* called after the prompt's text has changed;
	                                      NULL: the view has no filter */
	void (*search)(bool is_forward);   /* goes to the next match of the text */
	void (*free)(void);
};
extern const struct fxt_tui_page fxt_tui_functions, fxt_tui_tree, fxt_tui_timeline;

#endif
