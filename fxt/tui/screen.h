/*
 * The screen of fxt tui: ncurses, and how texts of a trace get onto it. Whatever bytes a name has, it takes
 * the columns that it was given and no others (terminal.h), and nothing of it but text reaches the terminal.
 */
#ifndef FXT_FXT_TUI_SCREEN_H
#define FXT_FXT_TUI_SCREEN_H

#include <ncurses.h>
#include "reader/slices/span.h"

/* What texts look like. Without colours those that are told apart by colour alone are by nothing. */
enum fxt_look {
	FXT_LOOK_PLAIN,
	FXT_LOOK_BAR,    /* the lines at the top and the bottom */
	FXT_LOOK_CHOSEN, /* in a bar: the view that is shown */
	FXT_LOOK_TITLE,
	FXT_LOOK_SORTED, /* the title of the column by which a table is sorted */
	FXT_LOOK_CURSOR,
	FXT_LOOK_FAINT, /* what is no call */
	FXT_LOOK_FOUND,
	FXT_LOOK_MUCH,
	FXT_LOOK_MORE,
	FXT_LOOK_RUNNING,
	FXT_LOOK_RUNNABLE,
	FXT_LOOK_BLOCKED,
	FXT_LOOK_LOST,
	FXT_LOOK_WAIT, /* a slice that is no call */
	FXT_LOOK_SLICES
};
enum { FXT_LOOK_SLICE_COLOURS = 8, FXT_LOOKS = FXT_LOOK_SLICES + FXT_LOOK_SLICE_COLOURS };

/* Takes the terminal. Returns 0, or -1 after telling why there is none. It is given back by
 * fxt_screen_end(), and however else the program ends. */
int fxt_screen_begin(void);
void fxt_screen_end(void);

bool fxt_screen_has_colours(void);

/* Of that many lines and columns the screen is of use; else it says so. */
enum { FXT_SCREEN_LINES = 8, FXT_SCREEN_COLUMNS = 30 };

/* Writes a text, cut in its middle, into exactly so many columns. */
void fxt_screen_text(int line, int column, int width, enum fxt_look look, struct fxt_span text);

/* The same, of what was formatted, up to 1023 bytes of it. */
void fxt_screen_print(int line, int column, int width, enum fxt_look look, const char *format, ...)
        __attribute__((format(printf, 5, 6)));

/* The look of slices of a name, always the same. */
enum fxt_look fxt_screen_slice_look(uint32_t name);

/* A key that was pressed: a character, or one of ncurses' KEY_*, which are above all of these. */
struct fxt_key {
	wint_t character; /* 0: another one */
	int other;
};
struct fxt_key fxt_screen_key(void);

/* Whether the next key is pressed already and is one that stops what is going on, Esc or q, which is taken;
 * another one is left. */
bool fxt_screen_stops(void);

#endif
