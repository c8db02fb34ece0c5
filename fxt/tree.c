/*
 * fxt tree: what a trace's time was spent on, by path of calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "reader/groups.h"
#include "reader/paths.h"
#include "reader/text.h"
#include "reader/walk.h"
#include "words.h"

static const char help[] =
        "usage: fxt tree [OPTION]... [FILE]...\n"
        "\n"
        "Prints who called what, all calls of one path being one line:\n"
        "  share    of the whole time\n"
        "  total    time in this function, called this way\n"
        "  self     the same without the functions it called\n"
        "  off CPU  of the total, when its thread was not on a CPU; where the trace has context\n"
        "           switches\n"
        "  calls    how often\n"
        "\n"
        "      --bottom-up      each function by its self time, and below it who called it\n"
        "  -b, --by=KEY         a tree for each process or thread\n"
        "      --fold=PERCENT   what has less of the whole time is one line [0.5]\n"
        "  -n, --limit=N        the first N lines\n" FXT_HELP_CHOICE FXT_HELP_FORMAT FXT_HELP_FILE;

enum { CALLERS_MAX = 64 }; /* that stand below a function, bottom-up */

static struct fxt_options wanted;
static bool bottom_up;
static enum fxt_paths_by by;
static double fold;

/* ---- the lines ---- */

/* A tree with the children of each node behind each other, the longest first. */
struct tree {
	const struct fxt_scan *scan;
	const struct fxt_paths *paths;
	uint32_t *children;
	size_t *first; /* by node: its first child; paths->count + 1 of them */
	double whole;  /* time */
	double least;  /* of a node that is no part of a fold */
	bool has_off;
	uint64_t lines_left;
};

static const struct fxt_paths *compared;

static int tree_compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (compared->items[a].total != compared->items[b].total)
		return compared->items[a].total > compared->items[b].total ? -1 : 1;
	return a < b ? -1 : 1;
}

static void tree_sort(struct tree *tree)
{
	const struct fxt_paths *paths = tree->paths;

	tree->children = fxt_allocate(paths->count * sizeof(*tree->children));
	tree->first = fxt_allocate((paths->count + 2) * sizeof(*tree->first));
	for (size_t i = 1; i < paths->count; i++)
		tree->first[paths->items[i].parent + 2]++;
	for (size_t i = 2; i < paths->count + 2; i++)
		tree->first[i] += tree->first[i - 1];
	for (size_t i = 1; i < paths->count; i++)
		tree->children[tree->first[paths->items[i].parent + 1]++] = (uint32_t)i;
	compared = paths;
	for (size_t i = 0; i < paths->count; i++)
		if (tree->first[i + 1] > tree->first[i])
			qsort(tree->children + tree->first[i], tree->first[i + 1] - tree->first[i],
			        sizeof(*tree->children), tree_compare);
}

static const struct fxt_column columns[] = {{"share", "share", FXT_COLUMN_SHARE, 0},
        {"total_ns", "total", FXT_COLUMN_TIME, 0}, {"self_ns", "self", FXT_COLUMN_TIME, 1},
        {"off_cpu_ns", "off CPU", FXT_COLUMN_TIME, 2}, {"calls", "calls", FXT_COLUMN_COUNT, 0},
        {"name", "function", FXT_COLUMN_TEXT, 0}, {"depth", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"not_ended", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"folded", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};

/* A line of one node, or of so many that are folded, with their sums. */
static void tree_row(
        struct tree *tree, const struct fxt_path *path, struct fxt_span name, unsigned depth, uint64_t folded)
{
	bool is_group = path->kind == FXT_PATH_GROUP && folded == 0;
	struct fxt_cell text = fxt_cell_text(name);
	char remark[48];

	text.indent = 2 * depth;
	if (path->open > 0) {
		snprintf(remark, sizeof(remark), " (%" PRIu64 " not ended)", path->open);
		text.remark = fxt_span(remark);
	}
	fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)path->total / tree->whole),
	        fxt_cell_number((double)path->total),
	        is_group ? fxt_cell_unknown() : fxt_cell_number((double)path->self),
	        tree->has_off ? fxt_cell_number((double)path->off) : fxt_cell_unknown(),
	        is_group ? fxt_cell_unknown() : fxt_cell_number((double)path->calls), text,
	        fxt_cell_number(depth), fxt_cell_number((double)path->open),
	        fxt_cell_number((double)folded)});
	tree->lines_left--;
}

static void tree_path_row(struct tree *tree, uint32_t node, unsigned depth)
{
	const struct fxt_path *path = &tree->paths->items[node];
	const struct fxt_tables *t = &tree->scan->tables;
	struct fxt_words group;

	if (path->kind != FXT_PATH_GROUP) {
		tree_row(tree, path, t->strings[path->name], depth, 0);
		return;
	}
	fxt_words_begin(&group);
	if (by == FXT_PATHS_BY_THREAD)
		fxt_groups_write_thread(group.out, t, t->threads[path->name]);
	else
		fxt_groups_write_object(group.out, t, FXT_OBJECT_PROCESS, t->threads[path->name].process);
	tree_row(tree, path, fxt_words_end(&group), depth, 0);
	fxt_words_free(&group);
}

/* All of a node's children from this one on, as one line. */
static void tree_fold_row(struct tree *tree, size_t child, size_t end, unsigned depth)
{
	struct fxt_path sum = {.kind = FXT_PATH_CALL};
	char name[48];

	for (size_t i = child; i < end; i++) {
		const struct fxt_path *path = &tree->paths->items[tree->children[i]];

		sum.calls += path->calls;
		sum.total += path->total;
		sum.self += path->self;
		sum.off += path->off;
	}
	snprintf(name, sizeof(name), "(%zu more)", end - child);
	tree_row(tree, &sum, fxt_span(name), depth, end - child);
}

/* Prints the tree from top to bottom; the ways back up are on a stack, for calls may be nested deeply. */
static void tree_rows(struct tree *tree)
{
	struct way {
		size_t child, end;
	} *ways = NULL;
	size_t depth = 0, room = 0;

	fxt_make_room(ways, depth, room);
	ways[0] = (struct way){tree->first[0], tree->first[1]};
	for (;;) {
		struct way *way = &ways[depth];

		if (way->child == way->end || tree->lines_left == 0) {
			if (depth-- == 0)
				break;
			continue;
		}
		uint32_t node = tree->children[way->child];

		if ((double)tree->paths->items[node].total < tree->least) {
			tree_fold_row(tree, way->child, way->end, (unsigned)depth);
			way->child = way->end;
			continue;
		}
		way->child++;
		tree_path_row(tree, node, (unsigned)depth);
		depth++;
		fxt_make_room(ways, depth, room);
		ways[depth] = (struct way){tree->first[node], tree->first[node + 1]};
	}
	free(ways);
}

/* ---- the trace ---- */

static struct fxt_pastimes pastimes;

static void tree_print(const char *name, const struct fxt_scan *scan, const struct fxt_paths *paths)
{
	struct tree tree = {.scan = scan,
	        .paths = paths,
	        .has_off = pastimes.has_switches && !bottom_up,
	        .lines_left = fxt_options_limit(&wanted, UINT64_MAX)};
	struct fxt_column shown[sizeof(columns) / sizeof(*columns)];
	uint64_t calls = 0;

	memcpy(shown, columns, sizeof(columns));
	shown[3].rank = tree.has_off ? shown[3].rank : FXT_COLUMN_DATA;
	for (size_t i = 1; i < paths->count; i++) {
		if (paths->items[i].parent == 0)
			tree.whole += (double)paths->items[i].total;
		if (paths->items[i].kind == FXT_PATH_CALL && (!bottom_up || paths->items[i].parent == 0))
			calls += paths->items[i].calls;
	}
	tree.whole = tree.whole > 0 ? tree.whole : 1;
	tree.least = tree.whole * fold / 100;
	tree_sort(&tree);
	fxt_print_line("%s: %" PRIu64 " call%s, %s in all threads together", name, calls, fxt_plural(calls),
	        fxt_time_text(tree.whole).text);
	fxt_print_fact("calls", (double)calls);
	fxt_print_fact("whole_ns", tree.whole);
	fxt_table_begin(bottom_up ? "bottom_up" : "tree", NULL, shown, sizeof(shown) / sizeof(*shown));
	tree_rows(&tree);
	fxt_table_end();
	fxt_print_missing(scan);
	free(tree.children);
	free(tree.first);
}

static int tree_answer(const char *name, struct fxt_scan *scan)
{
	struct fxt_paths paths;

	fxt_pastimes_finish(&pastimes, scan);
	bool is_whole = fxt_paths_read(&paths, scan, by, &pastimes, fxt_walk_workers(scan));

	fxt_paths_to_ns(&paths, scan);
	if (bottom_up)
		fxt_paths_turn_over(&paths, CALLERS_MAX);
	tree_print(name, scan, &paths);
	fxt_paths_free(&paths);
	return fxt_tell_changed(name, is_whole);
}

/* ---- the command ---- */

enum { BOTTOM_UP = FXT_OPTION_OWN, FOLD };

static int tree_option(const char *command, int option)
{
	char *end;

	if (option == BOTTOM_UP) {
		bottom_up = true;
	} else if (option == 'b') {
		by = strcmp(optarg, "process") == 0  ? FXT_PATHS_BY_PROCESS
		     : strcmp(optarg, "thread") == 0 ? FXT_PATHS_BY_THREAD
		                                     : FXT_PATHS_TOGETHER;
		if (by == FXT_PATHS_TOGETHER)
			return fxt_bad_usage(command, "cannot group by '%s'", optarg);
	} else if (option == FOLD) {
		fold = strtod(optarg, &end);
		if (*optarg < '0' || *optarg > '9' || (*end && strcmp(end, "%") != 0) || fold > 100)
			return fxt_bad_usage(command, "'%s' is no percentage", optarg);
	}
	return FXT_DONE;
}

int fxt_command_tree(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        {"bottom-up", no_argument, NULL, BOTTOM_UP}, {"by", required_argument, NULL, 'b'},
	        {"fold", required_argument, NULL, FOLD}, {0}};
	int option, status = FXT_DONE;

	wanted = (struct fxt_options){.listener = &pastimes.listener};
	bottom_up = false;
	by = FXT_PATHS_TOGETHER;
	fold = 0.5;
	fxt_options_begin();
	while (status == FXT_DONE && (option = fxt_option(argc, argv, options, help)) != -1)
		if (!fxt_options_take(&wanted, argv[0], option))
			status = tree_option(argv[0], option);
	if (status == FXT_DONE && bottom_up && by != FXT_PATHS_TOGETHER)
		status = fxt_bad_usage(argv[0], "--bottom-up and --by do not go together");
	fxt_pastimes_init(&pastimes);
	if (status == FXT_DONE)
		status = fxt_each_scan(argc, argv, &wanted, tree_answer);
	fxt_pastimes_free(&pastimes);
	return status;
}
