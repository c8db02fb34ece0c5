/*
 * Draws a table on the screen, and moves its cursor. Runs on the main thread. It must ask
 * only for the cells of the rows that it shows.
 */
#include "grid.h"

#include "fxt/layout.h"
#include "fxt/terminal.h"

static bool grid_is_shown(const struct fxt_grid *grid, size_t column, unsigned highest)
{
	unsigned rank = grid->columns[column].rank;

	return column == grid->name || (column == grid->sorted && rank != FXT_COLUMN_DATA) || rank <= highest;
}

/* The width of all columns except the name's. */
static unsigned grid_width(const struct fxt_grid *grid, unsigned highest)
{
	unsigned width = 0;

	for (size_t i = 0; i < grid->column_count; i++)
		if (i != grid->name && grid_is_shown(grid, i, highest))
			width += grid->widths[i] + FXT_LAYOUT_GAP;
	return width;
}

/* The highest rank of the columns that fit. */
static unsigned grid_highest_rank(const struct fxt_grid *grid)
{
	unsigned highest = FXT_COLUMN_DATA - 1;

	while (highest > 0 && grid_width(grid, highest) + FXT_LAYOUT_LEAST > (unsigned)COLS)
		highest--;
	return highest;
}

static void grid_widen(struct fxt_grid *grid, const struct fxt_cell *cells)
{
	for (size_t i = 0; i < grid->column_count; i++) {
		unsigned width =
		        fxt_text_columns(fxt_span(fxt_number_text(grid->columns[i].kind, &cells[i]).text));

		if (i != grid->name && grid->columns[i].rank != FXT_COLUMN_DATA && width > grid->widths[i])
			grid->widths[i] = width;
	}
}

static void grid_scroll(struct fxt_grid *grid, int lines)
{
	grid->page = lines > 1 ? (size_t)lines - 1 : 1;
	if (grid->cursor >= grid->rows)
		grid->cursor = grid->rows > 0 ? grid->rows - 1 : 0;
	if (grid->cursor < grid->top)
		grid->top = grid->cursor;
	if (grid->cursor >= grid->top + grid->page)
		grid->top = grid->cursor - grid->page + 1;
	if (grid->top + grid->page > grid->rows)
		grid->top = grid->rows > grid->page ? grid->rows - grid->page : 0;
}

/* The blanks before a column have its look, so that the cursor's line has no gaps. */
static void grid_number(int line, int *column, unsigned width, enum fxt_look look, const char *text)
{
	int before = *column > 0 ? FXT_LAYOUT_GAP : 0;
	int blanks = before + (int)width - (int)fxt_text_columns(fxt_span(text));

	fxt_screen_print(
	        line, *column, before + (int)width, look, "%*s%s", blanks > 0 ? blanks : 0, "", text);
	*column += before + (int)width;
}

static void grid_name(int line, int column, enum fxt_look look, const struct fxt_cell *cell)
{
	int before = column > 0 ? FXT_LAYOUT_GAP : 0, room = COLS - column - before;
	char level[FXT_LAYOUT_LEVEL_BYTES];
	int indent = (int)fxt_layout_indent(cell, room > 0 ? (unsigned)room : 0, level);
	int remark = (int)fxt_text_columns(cell->remark);

	fxt_screen_print(line, column, before + indent, look, "%*s", before + indent, level);
	column += before + indent;
	room -= indent;
	remark = remark < room / 2 ? remark : 0;
	int used = (int)fxt_text_columns(cell->text);

	used = used < room - remark ? used : room - remark;
	fxt_screen_text(line, column, used, look, cell->text);
	fxt_screen_text(line, column + used, room - used, look, remark ? cell->remark : fxt_span(""));
}

static enum fxt_look grid_cell_look(
        enum fxt_column_kind kind, const struct fxt_cell *cell, enum fxt_look look)
{
	if (kind != FXT_COLUMN_SHARE || look != FXT_LOOK_PLAIN || !cell->is_known)
		return look;
	return cell->number >= 0.2 ? FXT_LOOK_MUCH : cell->number >= 0.05 ? FXT_LOOK_MORE : look;
}

static void grid_titles(const struct fxt_grid *grid, int line, unsigned highest)
{
	int column = 0;

	for (size_t i = 0; i < grid->column_count; i++) {
		enum fxt_look look = i == grid->sorted ? FXT_LOOK_SORTED : FXT_LOOK_TITLE;
		const char *title = grid->columns[i].title;
		int blanks = i != grid->name ? (int)(grid->widths[i] - fxt_text_columns(fxt_span(title))) : 0;

		if (!grid_is_shown(grid, i, highest) || i == grid->name)
			continue;
		grid_number(line, &column, (unsigned)blanks, FXT_LOOK_TITLE, "");
		fxt_screen_text(line, column, (int)strlen(title), look, fxt_span(title));
		column += (int)strlen(title);
	}
	column += column > 0 ? FXT_LAYOUT_GAP : 0;
	fxt_screen_print(line, column, COLS - column,
	        grid->sorted == grid->name ? FXT_LOOK_SORTED : FXT_LOOK_TITLE, "%s",
	        grid->columns[grid->name].title);
}

void fxt_grid_draw(struct fxt_grid *grid, int line, int lines)
{
	struct fxt_cell cells[FXT_GRID_COLUMNS];

	grid_scroll(grid, lines);
	size_t end = grid->top + grid->page < grid->rows ? grid->top + grid->page : grid->rows;

	for (size_t i = 0; i < grid->column_count; i++)
		if (fxt_text_columns(fxt_span(grid->columns[i].title)) > grid->widths[i])
			grid->widths[i] = fxt_text_columns(fxt_span(grid->columns[i].title));
	for (size_t row = grid->top; row < end; row++) {
		grid->row(row, cells);
		grid_widen(grid, cells);
	}
	unsigned highest = grid_highest_rank(grid);

	grid_titles(grid, line, highest);
	for (size_t row = grid->top; row < end; row++) {
		enum fxt_look look = grid->row(row, cells);
		int column = 0;

		line++;
		if (row == grid->cursor)
			look = FXT_LOOK_CURSOR;
		for (size_t i = 0; i < grid->column_count; i++)
			if (i != grid->name && grid_is_shown(grid, i, highest))
				grid_number(line, &column, grid->widths[i],
				        grid_cell_look(grid->columns[i].kind, &cells[i], look),
				        fxt_number_text(grid->columns[i].kind, &cells[i]).text);
		grid_name(line, column, look, &cells[grid->name]);
	}
}

bool fxt_grid_key(struct fxt_grid *grid, struct fxt_key key)
{
	size_t last = grid->rows > 0 ? grid->rows - 1 : 0, page = grid->page;

	if (key.other == KEY_UP || key.character == 'k')
		grid->cursor -= grid->cursor > 0;
	else if (key.other == KEY_DOWN || key.character == 'j')
		grid->cursor += grid->cursor < last;
	else if (key.other == KEY_PPAGE)
		grid->cursor -= grid->cursor < page ? grid->cursor : page;
	else if (key.other == KEY_NPAGE || key.character == ' ')
		grid->cursor = last - grid->cursor < page ? last : grid->cursor + page;
	else if (key.other == KEY_HOME || key.character == 'g')
		grid->cursor = 0;
	else if (key.other == KEY_END || key.character == 'G')
		grid->cursor = last;
	else
		return false;
	return true;
}
