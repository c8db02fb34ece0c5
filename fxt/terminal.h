/*
 * The terminal that a command may print on: its width, whether it has colours, and the
 * pager in front of it. If the standard output is no terminal, there is no pager, and lines
 * are complete and plain.
 */
#ifndef FXT_FXT_TERMINAL_H
#define FXT_FXT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>
#include "reader/slices/span.h"

struct fxt_terminal {
	bool is_terminal; /* the standard output is one, before the pager was started */
	bool has_colours; /* false if NO_COLOR is set */
	unsigned columns; /* UINT_MAX if it is no terminal */
};

/* The terminal; its properties are determined by the first call. */
const struct fxt_terminal *fxt_terminal(void);

/* From this call until fxt_terminal_end(), output to a terminal first erases the
 * progress line (reader/trace/progress_line.h). Code that draws the screen itself needs
 * the terminal, and streams that know of it. */
void fxt_terminal_begin(void);
void fxt_terminal_end(void);

/*
 * Sends further output through $PAGER (less -FRX if it is not set; "" and "cat" mean no
 * pager), if the standard output is a terminal. The pager starts with the first output, and
 * the program waits for it before it ends. A second call has no effect.
 */
void fxt_terminal_page(void);

/* The columns that a text of the archive takes when it is shown with its escapes
 * (fxt_escape()). */
unsigned fxt_text_columns(struct fxt_span text);

/* The length in bytes of the longest prefix of a text that takes at most *columns
 * columns when it is shown. Sets *columns to the columns it takes. */
size_t fxt_text_beginning(struct fxt_span text, unsigned *columns);

/* Returns the bytes of a text's first line of `width` columns: up to a blank, or behind a
 * separator of names, unless that leaves most of the line empty. */
size_t fxt_text_first_line(struct fxt_span text, unsigned width);

/* Prints a sentence, without a newline at its end. On a terminal it takes as many lines as it
 * needs, and those behind the first are indented. Elsewhere it stays one line. */
void fxt_print_wrapped(struct fxt_span text);

/* Shows a text in at most `columns` columns. A longer text first loses the dispensable
 * parts of its names (fxt_fold_names()) and, if that is not enough, its middle, with "…"
 * in its place. Returns the columns that it took. */
unsigned fxt_write_cut(FILE *out, struct fxt_span text, unsigned columns);

#endif
