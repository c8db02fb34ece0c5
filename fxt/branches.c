#include "branches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"

/* Sorts by time, longest first, then by name. The numbers of nodes are no order: they
 * depend on which thread came to a node first when the trace was read. */
static int branches_compare(const void *left, const void *right, void *state)
{
	const struct fxt_branches *branches = state;
	const struct fxt_path *a = &branches->paths->items[*(const uint32_t *)left];
	const struct fxt_path *b = &branches->paths->items[*(const uint32_t *)right];
	const struct fxt_span *strings = branches->scan->tables.strings;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->kind == FXT_PATH_GROUP)
		return a->name < b->name ? -1 : 1;
	return fxt_spans_compare(strings[a->name], strings[b->name]);
}

/* Returns by node whether it or a node below it has calls, or it is a group. An
 * inherited call with nothing inside has none. The caller frees the array. */
static bool *branches_find(const struct fxt_paths *paths)
{
	bool *has = fxt_allocate(paths->count * sizeof(*has));

	for (size_t i = paths->count; i-- > 1;) {
		has[i] |= paths->items[i].kind == FXT_PATH_GROUP || paths->items[i].calls > 0;
		has[paths->items[i].parent] |= has[i];
	}
	return has;
}

static void branches_sort(struct fxt_branches *branches)
{
	const struct fxt_paths *paths = branches->paths;
	uint32_t *children = fxt_allocate(paths->count * sizeof(*children));
	size_t *first = fxt_allocate((paths->count + 2) * sizeof(*first));
	bool *has = branches_find(paths);

	for (size_t i = 1; i < paths->count; i++)
		first[paths->items[i].parent + 2] += has[i];
	for (size_t i = 2; i < paths->count + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 1; i < paths->count; i++)
		if (has[i])
			children[first[paths->items[i].parent + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < paths->count; i++)
		if (first[i + 1] > first[i])
			qsort_r(children + first[i], first[i + 1] - first[i], sizeof(*children),
			        branches_compare, branches);
	free(has);
	branches->children = children;
	branches->first = first;
}

void fxt_branches_make(struct fxt_branches *branches, const struct fxt_scan *scan,
        const struct fxt_paths *paths, bool is_turned_over, bool has_switches)
{
	*branches = (struct fxt_branches){
	        .scan = scan, .paths = paths, .has_off = has_switches && !is_turned_over};
	for (size_t i = 1; i < paths->count; i++) {
		const struct fxt_path *path = &paths->items[i];

		if (path->parent == 0)
			branches->whole += (double)path->total;
		if (path->kind == FXT_PATH_CALL && (!is_turned_over || path->parent == 0))
			branches->calls += path->calls;
	}
	branches_sort(branches);
}

void fxt_branches_free(struct fxt_branches *branches)
{
	free(branches->children);
	free(branches->first);
	*branches = (struct fxt_branches){0};
}

void fxt_branch_columns(const struct fxt_branches *branches, struct fxt_column columns[FXT_BRANCH_CELLS])
{
	const struct fxt_column all[FXT_BRANCH_CELLS] = {{"share", "share", FXT_COLUMN_SHARE, 0},
	        {"total_ns", "total", FXT_COLUMN_TIME, 0}, {"self_ns", "self", FXT_COLUMN_TIME, 1},
	        {"off_cpu_ns", "off CPU", FXT_COLUMN_TIME, branches->has_off ? 2 : FXT_COLUMN_DATA},
	        {"calls", "calls", FXT_COLUMN_COUNT, 0}, {"name", "function", FXT_COLUMN_TEXT, 0},
	        {"depth", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
	        {"not_ended", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
	        {"folded", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};

	memcpy(columns, all, sizeof(all));
}

void fxt_branch_cells(const struct fxt_branches *branches, const struct fxt_path *path, struct fxt_span name,
        unsigned depth, uint64_t folded, struct fxt_cell cells[FXT_BRANCH_CELLS],
        char remark[FXT_BRANCH_REMARK])
{
	bool is_group = path->kind == FXT_PATH_GROUP && folded == 0;
	struct fxt_cell text = fxt_cell_text(name);

	text.indent = FXT_INDENT * depth;
	remark[0] = 0;
	if (path->levels > 0)
		snprintf(remark, FXT_BRANCH_REMARK, " x %" PRIu32, path->levels);
	if (path->open > 0)
		snprintf(remark + strlen(remark), FXT_BRANCH_REMARK - strlen(remark),
		        " (%" PRIu64 " not ended)", path->open);
	text.remark = fxt_span(remark);
	double share = branches->whole > 0 ? (double)path->total / branches->whole : 0;
	const struct fxt_cell all[FXT_BRANCH_CELLS] = {fxt_cell_number(share),
	        fxt_cell_number((double)path->total),
	        is_group ? fxt_cell_unknown() : fxt_cell_number((double)path->self),
	        branches->has_off ? fxt_cell_number((double)path->off) : fxt_cell_unknown(),
	        is_group ? fxt_cell_unknown() : fxt_cell_number((double)path->calls), text,
	        fxt_cell_number(depth), fxt_cell_number((double)path->open), fxt_cell_number((double)folded)};

	memcpy(cells, all, sizeof(all));
	cells[1].is_least = cells[4].is_least = fxt_lacks_calls(branches->scan);
}
