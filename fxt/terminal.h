/*
 * The terminal that a command may print on: how wide it is, whether it has colours, and the pager in front of
 * it. Where the standard output is no terminal nothing of that exists: lines are whole, and plain.
 */
#ifndef FXT_FXT_TERMINAL_H
#define FXT_FXT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>
#include "reader/slices/span.h"

struct fxt_terminal {
	bool is_terminal; /* the standard output, before there was a pager */
	bool has_colours; /* NO_COLOR takes them away */
	unsigned columns; /* UINT_MAX where it is no terminal */
};

/* The terminal; found out at the first call. */
const struct fxt_terminal *fxt_terminal(void);

/* What is printed on a terminal from here on takes the line of progress away first
 * (reader/trace/progress_line.h), until fxt_terminal_end(): who draws the screen needs the terminal, and
 * streams that know of it. */
void fxt_terminal_begin(void);
void fxt_terminal_end(void);

/*
 * From here on, what is printed goes through $PAGER (less -FRX if there is none; "" and "cat" for none at
 * all), if the standard output is a terminal. It begins with the first thing that is printed, and is
 * waited for at the program's end. Does nothing a second time.
 */
void fxt_terminal_page(void);

/* How many columns a text of the archive takes when it is shown with its escapes (fxt_escape()). */
unsigned fxt_text_columns(struct fxt_span text);

/* The bytes of the longest beginning of a text that takes no more than so many columns when it is shown;
 * *columns is then what it takes. */
size_t fxt_text_beginning(struct fxt_span text, unsigned *columns);

/* Shows a text in so many columns at most. One that takes more loses what its names can do without
 * (fxt_fold_names()), and if that is not enough its middle, with "…" in its place. Returns how many it took.
 */
unsigned fxt_write_cut(FILE *out, struct fxt_span text, unsigned columns);

#endif
