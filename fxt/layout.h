/*
 * A table as people see it: columns aligned, and on a terminal cut to its width. Functions are those of
 * table.h, which has the rest of a table.
 */
#ifndef FXT_FXT_LAYOUT_H
#define FXT_FXT_LAYOUT_H

#include "table.h"

/* The columns between two columns; and those that a text has, before others are left out for it. */
enum { FXT_LAYOUT_GAP = 2, FXT_LAYOUT_LEAST = 24, FXT_LAYOUT_LEVEL_BYTES = 12 };

/* The number of a cell as people read it, "-" for one that is not known. */
struct fxt_number_text {
	char text[40];
};
struct fxt_number_text fxt_number_text(enum fxt_column_kind kind, const struct fxt_cell *cell);

void fxt_layout_begin(const char *of, const struct fxt_column *columns, size_t count);
void fxt_layout_row(const struct fxt_cell *cells);
void fxt_layout_end(void);

/* Of a text that is moved in: by how many columns, of `width` by half of them at most. `level`: what stands
 * at the end of these where that is not all, since lines one below the other are no more on one level there:
 * "17 "; else "". */
unsigned fxt_layout_indent(const struct fxt_cell *cell, unsigned width, char level[FXT_LAYOUT_LEVEL_BYTES]);

#endif
