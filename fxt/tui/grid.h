/*
 * A table on the screen: columns that know what to leave out first, as those of a printed table do (table.h),
 * rows of which one is the cursor's, and as many of them as there is room for.
 */
#ifndef FXT_FXT_TUI_GRID_H
#define FXT_FXT_TUI_GRID_H

#include "fxt/table.h"
#include "screen.h"

enum { FXT_GRID_COLUMNS = 24 };

struct fxt_grid {
	const struct fxt_column *columns;
	size_t column_count;
	size_t name;   /* the column that has what room is left */
	size_t sorted; /* the column that is never left out; column_count: none */
	size_t rows, cursor, top;
	size_t page;                       /* rows that were shown last */
	unsigned widths[FXT_GRID_COLUMNS]; /* so far: scrolling does not make columns jump */
	/* The cells of a row, whose texts live until the next call; and what it looks like. */
	enum fxt_look (*row)(size_t row, struct fxt_cell *cells);
};

/* Draws the titles and, below them, rows. */
void fxt_grid_draw(struct fxt_grid *grid, int line, int lines);

/* Moves the cursor, if the key is one for that. */
bool fxt_grid_key(struct fxt_grid *grid, struct fxt_key key);

#endif
