/*
 * fxt tui: a trace on the terminal, in three views of the same figures that other commands print: functions
 * (fxt report), the tree of calls (fxt tree), and the timeline of the threads, of which that part is read
 * again which is looked at (lane_slices.h). What is kept in memory grows with functions and paths of calls,
 * not with calls.
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
	const struct fxt_functions *all;     /* the sum of these, in ns */
	const struct fxt_lanes *losses;
	enum fxt_tui_view view;
	struct fxt_prompt prompt;
	char note[160];  /* what the last key did, at the bottom, until the next one */
	bool is_changed; /* not all of the file could be read again */
};

extern struct fxt_tui fxt_tui;

/* Shows what takes a while, and is done while it is shown: how far that is, too, if it is a walk over the
 * trace. Esc and q stop that; fxt_tui_was_stopped() tells so until something else is done. */
void fxt_tui_busy(const char *what);
bool fxt_tui_was_stopped(void);

/* Leaves a note; of names only the beginning, for they may be long. */
void fxt_tui_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- the views: what they draw is between the bars; they take keys ---- */

struct fxt_tui_page {
	const char *title, *keys;          /* what the bar at the bottom says of the latter */
	bool (*draw)(int line, int lines); /* false: what fxt_tui says now is to be drawn instead */
	void (*key)(struct fxt_key key);   /* one that it does not know changes nothing */
	void (*filter)(void);              /* by the prompt's text, which has changed; NULL: there is none */
	void (*search)(bool is_forward);   /* goes to the next that has the text */
	void (*free)(void);
};
extern const struct fxt_tui_page fxt_tui_functions, fxt_tui_tree, fxt_tui_timeline;

#endif
