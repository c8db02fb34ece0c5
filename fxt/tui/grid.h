/*
 * A table on the screen. Narrow screens leave out columns by rank, as a printed table does
 * (table.h). One row has the cursor, and the rows that fit are shown.
 */
#ifndef FXT_FXT_TUI_GRID_H
#define FXT_FXT_TUI_GRID_H

#include "fxt/table.h"
#include "screen.h"

enum { FXT_GRID_COLUMNS = 24 };

struct fxt_grid {
	const struct fxt_column *columns;
	size_t column_count;
	size_t name;   /* the column that gets the remaining width */
	size_t sorted; /* the column that is never left out; column_count: none */
	size_t rows, cursor, top;
	size_t page;                       /* number of rows that were shown last */
	unsigned widths[FXT_GRID_COLUMNS]; /* the widest so far, so that scrolling does
	                                      not make columns jump */
	/* Fills in the cells of a row, and returns its look. The texts live until the
	 * next call. */
	enum fxt_look (*row)(size_t row, struct fxt_cell *cells);
};

/* Draws the titles and, below them, rows. */
void fxt_grid_draw(struct fxt_grid *grid, int line, int lines);

/* Moves the cursor if the key is a cursor key. Returns true if it is. */
bool fxt_grid_key(struct fxt_grid *grid, struct fxt_key key);

#endif
