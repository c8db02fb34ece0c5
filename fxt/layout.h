/*
 * A table in text form: columns are aligned and, on a terminal, texts that are too wide
 * take several lines. These functions implement table.h for people; see there for the rest
 * of a table.
 */
#ifndef FXT_FXT_LAYOUT_H
#define FXT_FXT_LAYOUT_H

#include "table.h"

/* The columns between two columns; the least width of a text column before other columns
 * are left out; and the bytes of a level's text. */
enum { FXT_LAYOUT_GAP = 2, FXT_LAYOUT_LEAST = 24, FXT_LAYOUT_LEVEL_BYTES = 12 };

/* A cell's number formatted for people, "-" if it is not known. */
struct fxt_number_text {
	char text[40];
};
struct fxt_number_text fxt_number_text(enum fxt_column_kind kind, const struct fxt_cell *cell);

/* Prints the empty line before a table or a note, except at the beginning of the output.
 * fxt_layout_set_text() says whether anything has been printed. */
void fxt_layout_gap(void);
void fxt_layout_set_text(bool has_text);

void fxt_layout_begin(const char *of, const struct fxt_column *columns, size_t count);
void fxt_layout_row(const struct fxt_cell *cells);
void fxt_layout_end(void);

/* Returns the indentation of a text in columns, at most half of `width`. If the full
 * indentation does not fit, `level` is set to text such as "17 " that ends the
 * indentation: once the indentation is clamped, rows of different depth line up.
 * Otherwise `level` is "". */
unsigned fxt_layout_indent(const struct fxt_cell *cell, unsigned width, char level[FXT_LAYOUT_LEVEL_BYTES]);

#endif
