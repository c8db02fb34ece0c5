/*
 * The screen of fxt tui: ncurses, and how texts of a trace are shown on it. A name takes
 * exactly the columns that it was given, whatever bytes it has (terminal.h), and only
 * printable text of it reaches the terminal.
 */
#ifndef FXT_FXT_TUI_SCREEN_H
#define FXT_FXT_TUI_SCREEN_H

#include <ncurses.h>
#include "reader/slices/span.h"

/* The looks of texts. On a terminal without colours, looks that differ by colour alone
 * are the same. */
enum fxt_look {
	FXT_LOOK_PLAIN,
	FXT_LOOK_BAR,    /* the lines at the top and the bottom */
	FXT_LOOK_CHOSEN, /* in a bar: the current view */
	FXT_LOOK_TITLE,
	FXT_LOOK_SORTED, /* title of the column that a table is sorted by */
	FXT_LOOK_CURSOR,
	FXT_LOOK_FAINT, /* an entry that is no call */
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

/* Takes over the terminal. Returns 0, or -1 after reporting why there is none.
 * fxt_screen_end() gives it back, and so does any other end of the program. */
int fxt_screen_begin(void);
void fxt_screen_end(void);

/* The least lines and columns with which the screen is usable; on a smaller one it shows
 * a message. */
enum { FXT_SCREEN_LINES = 8, FXT_SCREEN_COLUMNS = 30 };

/* Writes a text into exactly `width` columns; a longer one is cut in its middle. */
void fxt_screen_text(int line, int column, int width, enum fxt_look look, struct fxt_span text);

/* As above, for a formatted text of up to 1023 bytes. */
void fxt_screen_print(int line, int column, int width, enum fxt_look look, const char *format, ...)
        __attribute__((format(printf, 5, 6)));

/* The look of slices with a name; it is always the same. */
enum fxt_look fxt_screen_slice_look(uint32_t name);

/* A key that was pressed: a character, or one of ncurses' KEY_*, which are above all of
 * these. */
struct fxt_key {
	wint_t character; /* 0: it is another key */
	int other;
};
struct fxt_key fxt_screen_key(void);

/* True if a key is waiting that stops the current work: Esc or q. Consumes that key; any
 * other stays in the queue. */
bool fxt_screen_stops(void);

#endif
