/*
 * The view of functions, and of slices that are not calls, with the figures of fxt report.
 * Runs on the main thread. It draws what was summed up before, and must not walk
 * the trace again.
 */
#include <stdlib.h>
#include "fxt/lines.h"
#include "grid.h"
#include "jump.h"
#include "tui.h"

static struct fxt_groups groups; /* no grouping: each function is a line */
static struct fxt_lines lines = {.groups = &groups, .order = FXT_TOTAL};
static struct fxt_column columns[FXT_LINE_CELLS];
static struct fxt_line *shown;
static bool is_upside_down;

static enum fxt_look functions_row(size_t row, struct fxt_cell *cells);
static struct fxt_grid grid = {.columns = columns,
        .column_count = FXT_LINE_CELLS,
        .name = FXT_LINE_NAME,
        .sorted = FXT_TOTAL,
        .row = functions_row};

static struct fxt_line *functions_line(size_t row)
{
	return &shown[is_upside_down ? grid.rows - 1 - row : row];
}

static enum fxt_look functions_row(size_t row, struct fxt_cell *cells)
{
	static char remark[FXT_LINE_REMARK];
	const struct fxt_line *line = functions_line(row);

	fxt_line_cells(&lines, line, cells, remark);
	return line->function->of_tracer ? FXT_LOOK_FAINT : FXT_LOOK_PLAIN;
}

/* Merges both tables of a report into one, sorted by weight; at equal weight calls come
 * first. */
static void functions_merge(
        const struct fxt_line *calls, size_t call_count, const struct fxt_line *others, size_t other_count)
{
	size_t call = 0, other = 0;

	grid.rows = 0;
	while (call < call_count || other < other_count) {
		bool is_other =
		        call == call_count ||
		        (other < other_count &&
		                (others[other].weight > calls[call].weight ||
		                        (lines.order == FXT_LINE_NAME && fxt_spans_compare(others[other].name,
		                                                                 calls[call].name) < 0)));
		struct fxt_line line = is_other ? others[other++] : calls[call++];

		if (fxt_prompt_matches(fxt_tui.prompt.filter, line.name))
			shown[grid.rows++] = line;
	}
}

/* Sorts and filters again. The cursor stays on its line if that is still there. */
static void functions_choose(void)
{
	const struct fxt_function *at = grid.rows > 0 ? functions_line(grid.cursor)->function : NULL;
	size_t call_count, other_count;
	struct fxt_line *calls = fxt_lines_sort(&lines, fxt_tui.all, false, &call_count);
	struct fxt_line *others = fxt_lines_sort(&lines, fxt_tui.all, true, &other_count);

	free(shown);
	shown = fxt_allocate((call_count + other_count + 1) * sizeof(*shown));
	functions_merge(calls, call_count, others, other_count);
	free(calls);
	free(others);
	grid.cursor = 0;
	for (size_t i = 0; i < grid.rows; i++)
		if (functions_line(i)->function == at)
			grid.cursor = i;
}

static void functions_begin(void)
{
	lines.scan = fxt_tui.scan;
	lines.has_switches = fxt_tui.times->has_switches;
	fxt_line_columns(&lines, columns);
	functions_choose();
}

static bool functions_draw(int line, int count)
{
	if (!shown)
		functions_begin();
	fxt_grid_draw(&grid, line, count);
	if (grid.rows == 0)
		fxt_screen_print(line + 1, 0, COLS, FXT_LOOK_FAINT, "no function has that in its name");
	return true;
}

static bool functions_can_sort(size_t column)
{
	return columns[column].rank != FXT_COLUMN_DATA &&
	       (column == FXT_LINE_NAME ||
	               (column < FXT_FIGURES && fxt_figure_has_use((enum fxt_figure)column, FXT_TO_SORT)));
}

/* Sorts by the next column that allows it: to the right (`step` 1) or to the left (-1). */
static void functions_sort(int step)
{
	do
		grid.sorted = (grid.sorted + FXT_LINE_CELLS + (size_t)step) % FXT_LINE_CELLS;
	while (!functions_can_sort(grid.sorted));
	lines.order = (unsigned)grid.sorted;
	grid.rows = 0; /* after a change of order the user wants to see the heaviest line */
	functions_choose();
}

static void functions_key(struct fxt_key key)
{
	if (fxt_grid_key(&grid, key))
		return;
	if (key.other == KEY_LEFT || key.character == '<') {
		functions_sort(-1);
	} else if (key.other == KEY_RIGHT || key.character == '>') {
		functions_sort(1);
	} else if (key.character == 'r') {
		is_upside_down = !is_upside_down;
		grid.cursor = 0;
	} else if ((key.character == '\n' || key.character == '\r') && grid.rows > 0) {
		const struct fxt_function *f = functions_line(grid.cursor)->function;

		fxt_tui_jump(f->name, !f->of_tracer);
	}
}

static void functions_search(bool is_forward)
{
	for (size_t i = 1; i <= grid.rows; i++) {
		size_t row = (grid.cursor + (is_forward ? i : grid.rows - i)) % grid.rows;

		if (fxt_prompt_matches(fxt_tui.prompt.search, functions_line(row)->name)) {
			grid.cursor = row;
			return;
		}
	}
	fxt_tui_note("no function has '%s' in its name", fxt_tui.prompt.search);
}

static void functions_free(void)
{
	free(shown);
	shown = NULL;
}

const struct fxt_tui_page fxt_tui_functions = {.title = "Functions",
        .keys = "←→ sort  r turn  & filter  / search  Enter slowest call  ? help  q quit",
        .draw = functions_draw,
        .key = functions_key,
        .filter = functions_choose,
        .search = functions_search,
        .free = functions_free};
