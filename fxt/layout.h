/*
 * A table as people see it: columns aligned, and on a terminal cut to its width. Functions are those of
 * table.h, which has the rest of a table.
 */
#ifndef FXT_FXT_LAYOUT_H
#define FXT_FXT_LAYOUT_H

#include "table.h"

void fxt_layout_begin(const char *of, const struct fxt_column *columns, size_t count);
void fxt_layout_row(const struct fxt_cell *cells);
void fxt_layout_end(void);

#endif
