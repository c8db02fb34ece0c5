/*
 * Folds recursion in two passes over the tree, neither of which recurses. The first finds
 * how deep each function is inside of itself, the second builds the folded tree. It must
 * add up what each node has for itself, and never totals: those of folded nodes contain
 * each other.
 */
#include "recursion.h"

#include <stdlib.h>
#include <string.h>

/* A node while its tree is folded. */
struct fold {
	uint32_t child, next; /* its first child, and its parent's next one; 0: none */
	uint32_t around;      /* the innermost node around it of the same function; 0: none */
	uint32_t outermost;   /* the outermost one, or the node itself */
	uint32_t level;       /* nodes of the function from the outermost one to this one */
	uint32_t most;        /* of an outermost node: the highest level below it */
	uint32_t place;       /* in the folded tree */
};

struct folding {
	const struct fxt_paths *from;
	struct fold *folds; /* by node */
	uint32_t *latest;   /* by name: the innermost open node of the function; 0: none */
	uint32_t most, deeper;
	struct fxt_paths to;
	uint32_t *depths; /* by node of the folded tree, with room for as many as in the other */
};

static void recursion_link(struct folding *f)
{
	for (uint32_t i = (uint32_t)f->from->count; i-- > 1;) {
		struct fold *parent = &f->folds[f->from->items[i].parent];

		f->folds[i].next = parent->child;
		parent->child = i;
	}
}

/* Returns the node that follows, children behind their parents; 0 after the last one.
 * Leaves each node that has no more children. */
static uint32_t recursion_next(
        struct folding *f, uint32_t node, void (*leave)(struct folding *f, uint32_t node))
{
	if (f->folds[node].child != 0)
		return f->folds[node].child;
	for (; node != 0; node = f->from->items[node].parent) {
		leave(f, node);
		if (f->folds[node].next != 0)
			return f->folds[node].next;
	}
	return 0;
}

/* ---- how deep ---- */

static void recursion_enter(struct folding *f, uint32_t node)
{
	const struct fxt_path *path = &f->from->items[node];
	struct fold *fold = &f->folds[node];

	fold->outermost = node;
	fold->level = fold->most = 1;
	if (path->kind != FXT_PATH_CALL)
		return;
	fold->around = f->latest[path->name];
	f->latest[path->name] = node;
	if (fold->around == 0)
		return;
	fold->outermost = f->folds[fold->around].outermost;
	fold->level = f->folds[fold->around].level + 1;
	if (fold->level > f->folds[fold->outermost].most)
		f->folds[fold->outermost].most = fold->level;
}

static void recursion_leave(struct folding *f, uint32_t node)
{
	if (f->from->items[node].kind == FXT_PATH_CALL)
		f->latest[f->from->items[node].name] = f->folds[node].around;
}

static void recursion_find_levels(struct folding *f)
{
	uint32_t names = 1;

	for (size_t i = 0; i < f->from->count; i++)
		if (f->from->items[i].kind == FXT_PATH_CALL && f->from->items[i].name >= names)
			names = f->from->items[i].name + 1;
	f->latest = fxt_allocate(names * sizeof(*f->latest));
	for (uint32_t node = f->folds[0].child; node != 0; node = recursion_next(f, node, recursion_leave))
		recursion_enter(f, node);
	free(f->latest);
}

/* ---- the folded tree ---- */

static uint32_t recursion_place(struct folding *f, uint32_t node)
{
	const struct fxt_path *path = &f->from->items[node];
	const struct fold *fold = &f->folds[node];
	uint32_t above = f->folds[path->parent].place;

	if (fold->outermost != node && f->folds[fold->outermost].most > FXT_RECURSION_LEVELS)
		return f->folds[fold->around].place;
	if (f->depths[above] > f->most)
		return above;
	if (f->depths[above] == f->most)
		return fxt_paths_child(&f->to, above, FXT_PATH_CALL, f->deeper);
	return fxt_paths_child(&f->to, above, path->kind, path->name);
}

/* Adds all of a node but its total and its time off the CPU. */
static void recursion_add(struct folding *f, uint32_t node)
{
	const struct fxt_path *path = &f->from->items[node];
	struct fold *fold = &f->folds[node];

	fold->place = recursion_place(f, node);
	struct fxt_path *to = &f->to.items[fold->place];

	f->depths[fold->place] = f->depths[to->parent] + 1;
	to->calls += path->calls;
	to->open += path->open;
	to->self += path->self;
	if (fold->most > FXT_RECURSION_LEVELS && fold->most > to->levels)
		to->levels = fold->most;
	if (path->min < to->min)
		to->min = path->min;
	if (path->max > to->max)
		to->max = path->max;
}

/* Folds totals by node, in their place. Then the totals of the folded tree come first. */
static void recursion_fold_totals(const struct folding *f, uint64_t *totals)
{
	uint64_t *folded = fxt_allocate(f->to.count * sizeof(*folded));

	for (size_t i = 0; i < f->from->count; i++) {
		folded[f->folds[i].place] += totals[i];
		if (i > 0)
			folded[f->folds[f->from->items[i].parent].place] -= totals[i];
	}
	for (size_t i = f->to.count; i-- > 1;)
		folded[f->to.items[i].parent] += folded[i];
	memcpy(totals, folded, f->to.count * sizeof(*folded));
	free(folded);
}

/* The same for the totals of the tree itself, and for its times off the CPU. */
static void recursion_fold_times(struct folding *f)
{
	uint64_t *times = fxt_allocate(f->from->count * sizeof(*times));

	for (size_t i = 0; i < f->from->count; i++)
		times[i] = f->from->items[i].total;
	recursion_fold_totals(f, times);
	for (size_t i = 0; i < f->to.count; i++)
		f->to.items[i].total = times[i];
	for (size_t i = 0; i < f->from->count; i++)
		times[i] = f->from->items[i].off;
	recursion_fold_totals(f, times);
	for (size_t i = 0; i < f->to.count; i++)
		f->to.items[i].off = times[i];
	free(times);
}

static uint32_t recursion_most_levels(const struct fxt_paths *paths)
{
	uint32_t most = 0;

	for (size_t i = 1; i < paths->count; i++)
		if (paths->items[i].levels > most)
			most = paths->items[i].levels;
	return most;
}

uint32_t fxt_paths_fold_recursion(struct fxt_paths *paths, uint32_t most, uint32_t deeper, uint64_t *totals)
{
	struct folding f = {.from = paths, .most = most, .deeper = deeper};

	f.folds = fxt_allocate(paths->count * sizeof(*f.folds));
	f.depths = fxt_allocate(paths->count * sizeof(*f.depths));
	recursion_link(&f);
	recursion_find_levels(&f);
	fxt_paths_init(&f.to);
	f.to.items[0] = paths->items[0];
	for (uint32_t node = 1; node < paths->count; node++)
		recursion_add(&f, node);
	recursion_fold_times(&f);
	if (totals)
		recursion_fold_totals(&f, totals);
	free(f.folds);
	free(f.depths);
	fxt_paths_free(paths);
	*paths = f.to;
	return recursion_most_levels(paths);
}
