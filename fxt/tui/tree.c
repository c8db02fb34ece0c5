/*
 * The call tree view, as in fxt tree, top-down or bottom-up. Nodes are opened one by one.
 * Runs on the main thread.
 */
#include <stdlib.h>
#include "fxt/branches.h"
#include "fxt/describe.h"
#include "grid.h"
#include "jump.h"
#include "reader/slices/walk.h"
#include "tui.h"

struct tree_row {
	uint32_t node;
	unsigned depth;
};

/* The top-down tree and the inverted one, which is made of the first when it is first
 * shown. */
static struct tree_side {
	struct fxt_paths paths;
	struct fxt_branches branches;
	bool *is_open; /* by node */
	bool *is_kept; /* by node: it or a node below it matches the filter */
	uint32_t node; /* the node that the cursor was on */
} sides[2], *side = &sides[0];

static struct fxt_column columns[FXT_BRANCH_CELLS];
static bool is_filtered;
static struct tree_row *rows;
static size_t row_room;

static enum fxt_look tree_cells(size_t row, struct fxt_cell *cells);
static struct fxt_grid grid = {.columns = columns,
        .column_count = FXT_BRANCH_CELLS,
        .name = FXT_BRANCH_NAME,
        .sorted = FXT_BRANCH_CELLS,
        .row = tree_cells};

static struct fxt_span tree_name(uint32_t node)
{
	return fxt_tui.scan->tables.strings[side->paths.items[node].name];
}

static bool tree_has_children(uint32_t node)
{
	return side->branches.first[node + 1] > side->branches.first[node];
}

/* With a filter, all nodes that lead to a match are open. */
static bool tree_shows_children(uint32_t node)
{
	return is_filtered || side->is_open[node];
}

static enum fxt_look tree_cells(size_t row, struct fxt_cell *cells)
{
	static char remark[FXT_BRANCH_REMARK];
	static struct fxt_describer words;
	uint32_t node = rows[row].node;
	const struct fxt_path *path = &side->paths.items[node];
	struct fxt_span name = tree_name(node);

	fxt_describe_free(&words);
	fxt_describe_begin(&words);
	fputs(!tree_has_children(node) ? "  " : tree_shows_children(node) ? "▾ " : "▸ ", words.out);
	fwrite(name.data, 1, name.bytes, words.out);
	fxt_branch_cells(&side->branches, path, fxt_describe_end(&words), rows[row].depth, 0, cells, remark);
	return path->kind == FXT_PATH_CALL ? FXT_LOOK_PLAIN : FXT_LOOK_FAINT;
}

/* ---- the rows ---- */

/* Lists the rows from top to bottom. Nodes still to be opened are kept on an explicit
 * stack, because calls may be nested deeply. */
static void tree_list(void)
{
	struct tree_row *left = NULL;
	size_t count = 0, room = 0;

	grid.rows = 0;
	fxt_make_room(left, count, room);
	left[count++] = (struct tree_row){0};
	while (count > 0) {
		struct tree_row row = left[--count];

		if (row.node != 0) {
			fxt_make_room(rows, grid.rows, row_room);
			rows[grid.rows++] = (struct tree_row){row.node, row.depth - 1};
			if (!tree_shows_children(row.node))
				continue;
		}
		for (size_t i = side->branches.first[row.node + 1]; i-- > side->branches.first[row.node];) {
			if (is_filtered && !side->is_kept[side->branches.children[i]])
				continue;
			fxt_make_room(left, count, room);
			left[count++] = (struct tree_row){side->branches.children[i], row.depth + 1};
		}
	}
	free(left);
}

/* Lists the rows again, with the cursor on a node. */
static void tree_list_at(uint32_t node)
{
	tree_list();
	grid.cursor = 0;
	for (size_t i = 0; i < grid.rows; i++)
		if (rows[i].node == node)
			grid.cursor = i;
}

static uint32_t tree_at_cursor(void)
{
	return grid.rows > 0 ? rows[grid.cursor].node : 0;
}

/* A node's number is higher than its parent's, so one pass from the end is enough. */
static void tree_filter(void)
{
	if (side->paths.count == 0)
		return;
	is_filtered = *fxt_tui.prompt.filter != '\0';
	for (size_t i = 0; i < side->paths.count; i++)
		side->is_kept[i] = i > 0 && fxt_prompt_matches(fxt_tui.prompt.filter, tree_name((uint32_t)i));
	for (size_t i = side->paths.count; i-- > 1;)
		side->is_kept[side->paths.items[i].parent] |= side->is_kept[i];
	tree_list_at(tree_at_cursor());
}

static bool tree_is_turned_over(void)
{
	return side == &sides[1];
}

static void tree_begin_side(void)
{
	fxt_branches_make(&side->branches, fxt_tui.scan, &side->paths, tree_is_turned_over(),
	        fxt_tui.times->has_switches);
	side->is_open = fxt_allocate(side->paths.count * sizeof(*side->is_open));
	side->is_kept = fxt_allocate(side->paths.count * sizeof(*side->is_kept));
	for (size_t i = 1; !tree_is_turned_over() && i < side->paths.count; i++)
		side->is_open[i] = side->paths.items[i].parent == 0;
}

/* Returns true if the tree is there. It may not be, because reading can be stopped. */
static bool tree_begin(void)
{
	const struct fxt_scan *scan = fxt_tui.scan;

	fxt_tui_busy("reading the call tree");
	fxt_tui.is_changed |= !fxt_paths_read(
	        &side->paths, scan, FXT_PATHS_TOGETHER, fxt_tui.times, fxt_walk_workers(scan));
	if (fxt_tui_was_stopped()) {
		fxt_paths_free(&side->paths);
		side->paths = (struct fxt_paths){0};
		fxt_tui.view = FXT_TUI_FUNCTIONS;
		fxt_tui_note("reading the call tree was stopped");
		return false;
	}
	fxt_paths_to_ns(&side->paths, scan);
	tree_begin_side();
	fxt_branch_columns(&side->branches, columns);
	tree_filter();
	return true;
}

/* Switches to the other tree, and to the cursor's last place in it. */
static void tree_turn_over(void)
{
	side->node = tree_at_cursor();
	side = tree_is_turned_over() ? &sides[0] : &sides[1];
	if (side->paths.count == 0) {
		fxt_paths_init(&side->paths);
		fxt_paths_add(&side->paths, 0, &sides[0].paths, 0, NULL);
		fxt_paths_turn_over(&side->paths, FXT_BRANCH_CALLERS);
		tree_begin_side();
	}
	fxt_branch_columns(&side->branches, columns);
	tree_list_at(side->node);
	tree_filter();
}

/* ---- the view ---- */

static bool tree_draw(int line, int lines)
{
	if (side->paths.count == 0 && !tree_begin())
		return false;
	fxt_grid_draw(&grid, line, lines);
	if (grid.rows == 0)
		fxt_screen_print(line + 1, 0, COLS, FXT_LOOK_FAINT, "nothing has that in its name");
	return true;
}

static void tree_open_all_below(uint32_t node)
{
	/* includes the node itself */
	bool *is_below = fxt_allocate(side->paths.count * sizeof(*is_below));

	side->is_open[node] = is_below[node] = true;
	for (size_t i = node + 1; i < side->paths.count; i++) {
		is_below[i] = is_below[side->paths.items[i].parent];
		side->is_open[i] |= is_below[i];
	}
	free(is_below);
}

/* Closes a node, or goes to its parent if it is not open. */
static uint32_t tree_close(uint32_t node)
{
	if (!side->is_open[node] || !tree_has_children(node) || is_filtered)
		return side->paths.items[node].parent != 0 ? side->paths.items[node].parent : node;
	side->is_open[node] = false;
	return node;
}

static void tree_key(struct fxt_key key)
{
	uint32_t node = tree_at_cursor();

	if (key.character == 'b') {
		tree_turn_over();
		return;
	}
	if (fxt_grid_key(&grid, key) || node == 0)
		return;
	if (key.character == '\n' || key.character == '\r')
		side->is_open[node] = !side->is_open[node];
	else if (key.other == KEY_RIGHT)
		side->is_open[node] = true;
	else if (key.other == KEY_LEFT)
		node = tree_close(node);
	else if (key.character == 't')
		fxt_tui_jump(side->paths.items[node].name, side->paths.items[node].kind == FXT_PATH_CALL);
	else if (key.character == '*')
		tree_open_all_below(node);
	else
		return;
	tree_list_at(node);
}

/* Goes to the next node with the text in the order of the tree, and opens its ancestors. */
static void tree_search(bool is_forward)
{
	uint32_t node = tree_at_cursor(), found = 0;
	bool *was_open = side->is_open;
	size_t at = 0;

	side->is_open = fxt_allocate(side->paths.count * sizeof(*side->is_open));
	memset(side->is_open, true, side->paths.count);
	tree_list();
	for (size_t i = 0; i < grid.rows; i++)
		at = rows[i].node == node ? i : at;
	for (size_t i = 1; i <= grid.rows && found == 0; i++) {
		size_t row = (at + (is_forward ? i : grid.rows - i)) % grid.rows;

		if (fxt_prompt_matches(fxt_tui.prompt.search, tree_name(rows[row].node)))
			found = rows[row].node;
	}
	free(side->is_open);
	side->is_open = was_open;
	if (found == 0)
		fxt_tui_note("nothing has '%s' in its name", fxt_tui.prompt.search);
	for (uint32_t above = side->paths.items[found].parent; above != 0;
	        above = side->paths.items[above].parent)
		side->is_open[above] = true;
	tree_list_at(found != 0 ? found : node);
}

static void tree_free(void)
{
	for (side = sides; side < sides + 2; side++) {
		if (side->paths.count == 0)
			continue;
		fxt_branches_free(&side->branches);
		fxt_paths_free(&side->paths);
		free(side->is_open);
		free(side->is_kept);
	}
	side = sides;
	free(rows);
}

const struct fxt_tui_page fxt_tui_tree = {.title = "Tree",
        .keys = "Enter open  ← close  * all  b bottom-up  t slowest  & filter  / search  ? help",
        .draw = tree_draw,
        .key = tree_key,
        .filter = tree_filter,
        .search = tree_search,
        .free = tree_free};
