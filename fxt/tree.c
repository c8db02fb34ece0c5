/*
 * fxt tree: shows the call paths of a trace. Several threads walk the trace; the main
 * thread prints. Folding must never lose time: the lines of a level add up to their parent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "branches.h"
#include "options.h"
#include "reader/stats/groups.h"
#include "reader/stats/recursion.h"
#include "reader/trace/text.h"
#include "reader/slices/walk.h"
#include "describe.h"

static const char help[] = "usage: fxt tree [OPTION]... [FILE]...\n"
                           "\n"
                           "Prints who called what; all calls with the same call path are one line:\n"
                           "  share    of the whole time\n"
                           "  total    time in this function, called this way, without the tracer's own\n"
                           "           waits\n"
                           "  self     the same without the functions it called\n"
                           "  off CPU  part of the total in which its thread was not on a CPU; if the trace\n"
                           "           has context switches\n"
                           "  calls    number of calls\n"
                           "\n"
                           "      --bottom-up      each function by its self time, and its callers below it\n"
                           "  -b, --by=KEY         a tree for each process or thread\n"
                           "      --fold=PERCENT   lines with less of the whole time are folded into one\n"
                           "                       [0.5]\n"
                           "  -n, --limit=N        the first N lines\n" FXT_HELP_CHOICE FXT_HELP_FOLD
                                   FXT_HELP_FORMAT FXT_HELP_FILE;

/* The options, and the state while traces are read. */
struct tree_command {
	struct fxt_options wanted;
	bool bottom_up;
	enum fxt_paths_by by;
	double fold;
	struct fxt_thread_times times;
};

/* ---- the lines ---- */

struct tree {
	struct fxt_branches branches;
	double least; /* least time of a node that is not folded */
	uint64_t lines_left;
};

/* Prints a line for one node, or for `folded` nodes with their sums. */
static void tree_row(
        struct tree *tree, const struct fxt_path *path, struct fxt_span name, unsigned depth, uint64_t folded)
{
	struct fxt_cell cells[FXT_BRANCH_CELLS];
	char remark[FXT_BRANCH_REMARK];

	fxt_branch_cells(&tree->branches, path, name, depth, folded, cells, remark);
	fxt_table_row(cells);
	tree->lines_left--;
}

static void tree_path_row(struct tree_command *c, struct tree *tree, uint32_t node, unsigned depth)
{
	const struct fxt_path *path = &tree->branches.paths->items[node];
	const struct fxt_tables *t = &tree->branches.scan->tables;
	struct fxt_describer group;

	if (path->kind != FXT_PATH_GROUP) {
		tree_row(tree, path, t->strings[path->name], depth, 0);
		return;
	}
	fxt_describe_begin(&group);
	if (c->by == FXT_PATHS_BY_THREAD)
		fxt_groups_write_thread(group.out, t, t->threads[path->name]);
	else
		fxt_groups_write_object(group.out, t, FXT_OBJECT_PROCESS, t->threads[path->name].process);
	tree_row(tree, path, fxt_describe_end(&group), depth, 0);
	fxt_describe_free(&group);
}

/* Prints all children of a node from this one on as one line. */
static void tree_fold_row(struct tree *tree, size_t child, size_t end, unsigned depth)
{
	struct fxt_path sum = {.kind = FXT_PATH_CALL};
	char name[48];

	for (size_t i = child; i < end; i++) {
		const struct fxt_path *path = &tree->branches.paths->items[tree->branches.children[i]];

		sum.calls += path->calls;
		sum.total += path->total;
		sum.self += path->self;
		sum.off += path->off;
	}
	snprintf(name, sizeof(name), "(%zu more)", end - child);
	tree_row(tree, &sum, fxt_span(name), depth, end - child);
}

/* Prints the tree from top to bottom. Uses an explicit stack, because calls may be
 * nested deeply. */
static void tree_rows(struct tree_command *c, struct tree *tree)
{
	struct way {
		size_t child, end;
	} *ways = NULL;
	size_t depth = 0, room = 0;

	fxt_make_room(ways, depth, room);
	ways[0] = (struct way){tree->branches.first[0], tree->branches.first[1]};
	for (;;) {
		struct way *way = &ways[depth];

		if (way->child == way->end || tree->lines_left == 0) {
			if (depth-- == 0)
				break;
			continue;
		}
		uint32_t node = tree->branches.children[way->child];

		if ((double)tree->branches.paths->items[node].total < tree->least) {
			tree_fold_row(tree, way->child, way->end, (unsigned)depth);
			way->child = way->end;
			continue;
		}
		way->child++;
		tree_path_row(c, tree, node, (unsigned)depth);
		depth++;
		fxt_make_room(ways, depth, room);
		ways[depth] = (struct way){tree->branches.first[node], tree->branches.first[node + 1]};
	}
	free(ways);
}

/* ---- the trace ---- */

static void tree_print(struct tree_command *c, const char *name, const struct fxt_scan *scan,
        const struct fxt_paths *paths, uint32_t levels)
{
	struct tree tree = {.lines_left = fxt_options_limit(&c->wanted, UINT64_MAX)};
	struct fxt_column columns[FXT_BRANCH_CELLS];

	fxt_branches_make(&tree.branches, scan, paths, c->bottom_up, c->times.has_switches);
	tree.least = tree.branches.whole * c->fold / 100;
	fxt_print_line("%s: %s call%s, %s in all threads together", name,
	        fxt_calls_text(scan, tree.branches.calls).text, fxt_plural(tree.branches.calls),
	        fxt_time_text(tree.branches.whole).text);
	fxt_print_fact("calls", (double)tree.branches.calls);
	fxt_print_fact("whole_ns", tree.branches.whole);
	if (levels > 0)
		fxt_print_line("recursion deeper than %d calls is folded: \"x %" PRIu32
		               "\" is so many calls inside each other",
		        FXT_RECURSION_LEVELS, levels);
	fxt_branch_columns(&tree.branches, columns);
	fxt_table_begin(c->bottom_up ? "bottom_up" : "tree", NULL, columns, FXT_BRANCH_CELLS);
	tree_rows(c, &tree);
	fxt_table_end();
	fxt_print_missing(scan);
	fxt_branches_free(&tree.branches);
}

static int tree_answer(void *state, const char *name, struct fxt_scan *scan)
{
	struct tree_command *c = state;
	struct fxt_paths paths;

	fxt_thread_times_finish(&c->times, scan);
	bool is_whole = fxt_paths_read(&paths, scan, c->by, &c->times, fxt_walk_workers(scan));
	uint32_t levels = 0;

	/* Programs get each path. */
	if (c->wanted.format == FXT_FORMAT_TEXT)
		levels = fxt_paths_fold_recursion(&paths, UINT32_MAX, FXT_NOTHING, NULL);
	fxt_paths_to_ns(&paths, scan);
	if (c->bottom_up)
		fxt_paths_turn_over(&paths, FXT_BRANCH_CALLERS);
	tree_print(c, name, scan, &paths, levels);
	fxt_paths_free(&paths);
	return fxt_report_changed(name, is_whole);
}

/* ---- the command ---- */

enum { BOTTOM_UP = FXT_OPTION_OWN, FOLD };

static int tree_option(struct tree_command *c, const char *command, int option)
{
	char *end;

	if (option == BOTTOM_UP) {
		c->bottom_up = true;
	} else if (option == 'b') {
		c->by = strcmp(optarg, "process") == 0  ? FXT_PATHS_BY_PROCESS
		        : strcmp(optarg, "thread") == 0 ? FXT_PATHS_BY_THREAD
		                                        : FXT_PATHS_TOGETHER;
		if (c->by == FXT_PATHS_TOGETHER)
			return fxt_bad_usage(command, "cannot group by '%s'", optarg);
	} else if (option == FOLD) {
		c->fold = strtod(optarg, &end);
		if (*optarg < '0' || *optarg > '9' || (*end && strcmp(end, "%") != 0) || c->fold > 100)
			return fxt_bad_usage(command, "'%s' is not a percentage", optarg);
	}
	return FXT_DONE;
}

int fxt_command_tree(int argc, char **argv)
{
	struct tree_command command = {0}, *c = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        FXT_OPTIONS_FOLD, {"bottom-up", no_argument, NULL, BOTTOM_UP},
	        {"by", required_argument, NULL, 'b'}, {"fold", required_argument, NULL, FOLD}, {0}};
	int option, status = FXT_DONE;

	c->wanted = (struct fxt_options){.listener = &c->times.listener};
	fxt_options_fold(&c->wanted);
	c->by = FXT_PATHS_TOGETHER;
	c->fold = 0.5;
	fxt_options_begin();
	while (status == FXT_DONE && (option = fxt_option(argc, argv, options, help)) != -1)
		if (!fxt_options_take(&c->wanted, argv[0], option))
			status = tree_option(c, argv[0], option);
	if (status == FXT_DONE && c->bottom_up && c->by != FXT_PATHS_TOGETHER)
		status = fxt_bad_usage(argv[0], "--bottom-up and --by do not go together");
	fxt_thread_times_init(&c->times);
	if (status == FXT_DONE)
		status = fxt_each_scan(argc, argv, &c->wanted, tree_answer, c);
	fxt_thread_times_free(&c->times);
	return status;
}
