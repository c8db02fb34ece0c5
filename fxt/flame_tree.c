/*
 * Reads the tree of a flame graph with one cost for each node: from the calls, or from the
 * heap. Runs on the main thread; the calls are walked on several. The tree must not outlive
 * its trace.
 */
#include "flame_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "options.h"
#include "reader/trace/text.h"
#include "reader/slices/walk.h"

/* The most callers that the graph of an innermost function shows. Each path is followed
 * upwards as a whole: without a limit a recursion of 100,000 calls would take as many
 * steps for each of its nodes. */
#define CALLERS_MAX 512

/* Paths end at this depth, whatever is deeper. A picture is then at most 18,000 pixels
 * high, and the paths of a file take no more than a thousand names each. */
#define LEVELS_MAX  1000
#define DEEPER_NAME "(deeper than 1000 calls)"

/* ---- groups ---- */

static uint32_t flame_label(struct fxt_flame_tree *tree, const char *text)
{
	size_t bytes = strlen(text) + 1;

	fxt_make_room(tree->labels, tree->label_count, tree->label_room);
	tree->labels[tree->label_count] = memcpy(fxt_resize(NULL, bytes, 1), text, bytes);
	return fxt_tables_intern(tree->tables, fxt_span(tree->labels[tree->label_count++]));
}

static uint32_t flame_group_name(
        struct fxt_flame_tree *tree, enum fxt_object_type type, uint64_t koid, uint32_t name)
{
	const char *what = type == FXT_OBJECT_THREAD ? "thread" : "process";
	char text[256];

	if (name != FXT_NOTHING && type == FXT_OBJECT_PROCESS)
		return name;
	snprintf(text, sizeof(text), "%s %" PRIu64, what, koid);
	if (name != FXT_NOTHING) {
		struct fxt_span span = tree->tables->strings[name];

		snprintf(text, sizeof(text), "%.*s, %s %" PRIu64, (int)(span.bytes < 200 ? span.bytes : 200),
		        span.data, what, koid);
	}
	return flame_label(tree, text);
}

static uint32_t flame_name_of_group(struct fxt_flame_tree *tree, uint32_t thread, bool by_thread)
{
	struct fxt_koids koids = tree->tables->threads[thread];
	enum fxt_object_type type = by_thread ? FXT_OBJECT_THREAD : FXT_OBJECT_PROCESS;
	uint64_t koid = by_thread ? koids.thread : koids.process;

	return flame_group_name(tree, type, koid, fxt_tables_object_name(tree->tables, type, koid));
}

/* Finds the names of the groups by the threads in them: ids of strings. All are
 * FXT_NOTHING for a single process, which is not a group. */
static void flame_find_groups(struct fxt_flame_tree *tree, uint32_t *groups, bool by_thread)
{
	uint32_t first = FXT_NOTHING;
	bool is_single = !by_thread;

	for (uint32_t i = 1; i < tree->paths.count; i++) {
		const struct fxt_path *path = &tree->paths.items[i];

		if (path->kind != FXT_PATH_GROUP)
			continue;
		groups[path->name] = flame_name_of_group(tree, path->name, by_thread);
		is_single &= first == FXT_NOTHING || groups[path->name] == first;
		first = groups[path->name];
	}
	for (size_t i = 0; is_single && i < tree->tables->thread_count; i++)
		groups[i] = FXT_NOTHING;
}

/* Rebuilds the tree with groups that have the names' string ids. */
static void flame_name_groups(struct fxt_flame_tree *tree, bool by_thread)
{
	uint32_t *groups = fxt_allocate(tree->tables->thread_count * sizeof(*groups));
	struct fxt_paths named;

	flame_find_groups(tree, groups, by_thread);
	fxt_paths_init(&named);
	fxt_paths_add(&named, 0, &tree->paths, 0, &(struct fxt_path_names){.of_groups = groups});
	fxt_paths_free(&tree->paths);
	free(groups);
	tree->paths = named;
}

/* ---- costs ---- */

bool fxt_flame_cost_named(const char *name, enum fxt_flame_cost *cost)
{
	static const char *const names[FXT_FLAME_COSTS] = {
	        [FXT_FLAME_TIME] = "time",
	        [FXT_FLAME_OFF_CPU] = "off-cpu",
	        [FXT_FLAME_CALLS] = "calls",
	        [FXT_FLAME_PEAK] = "peak",
	        [FXT_FLAME_LEAKED] = "leaked",
	        [FXT_FLAME_ALLOCATED] = "allocated",
	        [FXT_FLAME_TEMPORARY] = "temporary",
	};

	for (int i = 0; i < FXT_FLAME_COSTS; i++) {
		if (strcmp(name, names[i]) == 0) {
			*cost = (enum fxt_flame_cost)i;
			return true;
		}
	}
	return false;
}

bool fxt_flame_is_time(enum fxt_flame_cost cost)
{
	return cost <= FXT_FLAME_OFF_CPU;
}

bool fxt_flame_is_heap(enum fxt_flame_cost cost)
{
	return cost >= FXT_FLAME_PEAK;
}

/* Sets the sums of the groups and the root from the nodes below them. */
static void flame_sum_up_groups(struct fxt_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		if (paths->items[i].kind == FXT_PATH_GROUP)
			paths->items[i].total = 0;
	for (size_t i = paths->count; i-- > 1;)
		if (paths->items[paths->items[i].parent].kind == FXT_PATH_GROUP)
			paths->items[paths->items[i].parent].total += paths->items[i].total;
}

/* Sets each node's total from `self` of all nodes. */
static void flame_sum_up(struct fxt_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		paths->items[i].total = paths->items[i].self;
	for (size_t i = paths->count; i-- > 1;)
		paths->items[paths->items[i].parent].total += paths->items[i].total;
}

/* Sets each node's `self` from all totals: the part that no node below it has. In an
 * inverted tree, uses the paths that end at the node. */
static void flame_take_own(struct fxt_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		paths->items[i].self = paths->items[i].total;
	for (size_t i = paths->count; i-- > 1;)
		paths->items[paths->items[i].parent].self -= paths->items[i].total;
}

static void flame_take_off_cpu(struct fxt_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		paths->items[i].self = paths->items[i].off;
	for (size_t i = paths->count; i-- > 1;)
		paths->items[paths->items[i].parent].self -= paths->items[i].off;
}

/* The tracer's own waits are no time of the program: they are no boxes, and not in those
 * around them. Calls are without them already (fxt_own_time()). */
static void flame_take_off_waits(struct fxt_flame_tree *tree)
{
	struct fxt_paths *paths = &tree->paths;
	uint64_t *waited = fxt_allocate(paths->count * sizeof(*waited)); /* by node, inside it */

	for (size_t i = paths->count; i-- > 1;) {
		struct fxt_path *path = &paths->items[i];

		if (path->kind == FXT_PATH_OTHER && path->name == tree->scan.waited_name) {
			waited[i] = path->total;
			path->total = path->self = 0;
		} else if (path->kind == FXT_PATH_OTHER) {
			path->total -= waited[i] < path->total ? waited[i] : path->total;
		}
		waited[path->parent] += waited[i];
	}
	free(waited);
}

/* Reads the calls of a scanned trace. Returns false if not all of it could be read
 * again. */
static bool flame_read_calls(struct fxt_flame_tree *tree, const struct fxt_flame_wanted *wanted,
        const struct fxt_thread_times *times)
{
	bool complete = fxt_paths_read(&tree->paths, &tree->scan,
	        wanted->by_thread ? FXT_PATHS_BY_THREAD : FXT_PATHS_BY_PROCESS, times,
	        fxt_walk_workers(&tree->scan));

	for (size_t i = 0; wanted->cost == FXT_FLAME_CALLS && i < tree->paths.count; i++) {
		struct fxt_path *path = &tree->paths.items[i];

		path->self = path->kind == FXT_PATH_CALL ? path->calls : 0;
	}
	if (wanted->cost == FXT_FLAME_TIME)
		flame_take_off_waits(tree);
	if (wanted->cost == FXT_FLAME_OFF_CPU)
		flame_take_off_cpu(&tree->paths);
	flame_name_groups(tree, wanted->by_thread);
	return complete;
}

/* Reads a trace of calls. Returns FXT_DONE, or FXT_FAILED after reporting the reason. */
static int flame_scan(struct fxt_flame_tree *tree, const char *name, const struct fxt_source *source,
        const struct fxt_flame_wanted *wanted, bool *complete)
{
	bool asks_switches = wanted->cost == FXT_FLAME_OFF_CPU;
	struct fxt_thread_times times;
	char error[4096 + 256];

	fxt_thread_times_init(&times);
	fxt_scan_listened(&tree->scan, source, NULL, asks_switches ? &times.listener : wanted->listener);
	if (wanted->choice && fxt_query_filter_apply(wanted->choice, &tree->scan, &tree->filter, error,
	                              sizeof(error)) != 0) {
		fxt_report_name(name, error);
		fxt_thread_times_free(&times);
		fxt_scan_free(&tree->scan);
		return FXT_FAILED;
	}
	fxt_thread_times_finish(&times, &tree->scan);
	tree->lacks_switches = asks_switches && !times.has_switches;
	tree->tables = &tree->scan.tables;
	tree->records_lost = tree->scan.records_lost + tree->scan.records_overwritten;
	tree->is_finished = tree->scan.state.is_finished;
	tree->is_recovered = tree->scan.state.is_finished == FXT_ARCHIVE_RECOVERED;
	*complete = flame_read_calls(tree, wanted, &times);
	fxt_thread_times_free(&times);
	return FXT_DONE;
}

static const enum fxt_heap_cost heap_cost_of[FXT_FLAME_COSTS] = {
        [FXT_FLAME_PEAK] = FXT_HEAP_PEAK,
        [FXT_FLAME_LEAKED] = FXT_HEAP_LEAKED,
        [FXT_FLAME_ALLOCATED] = FXT_HEAP_ALLOCATED,
        [FXT_FLAME_TEMPORARY] = FXT_HEAP_TEMPORARY,
};

static void flame_read_heap(struct fxt_flame_tree *tree, enum fxt_flame_cost cost)
{
	const struct fxt_heap *heap = &tree->heap;
	const uint32_t *names;
	size_t heaps = 0;

	for (size_t i = 0; i < heap->process_count; i++)
		heaps += fxt_heap_has_events(&heap->processes[i]);
	fxt_paths_init(&tree->paths);
	for (uint32_t i = 0; i < heap->node_count; i++) {
		struct fxt_heap_sums sums = fxt_heap_cost(&heap->nodes[i], heap_cost_of[cost]);
		const struct fxt_heap_process *process = &heap->processes[heap->nodes[i].process];
		uint32_t at = 0;

		if (sums.blocks == 0)
			continue;
		if (heaps > 1)
			at = fxt_paths_child(&tree->paths, 0, FXT_PATH_GROUP,
			        flame_group_name(tree, FXT_OBJECT_PROCESS, process->koid,
			                fxt_heap_process_name(heap, process)));
		size_t depth = fxt_heap_path(heap, i, FXT_HEAP_DEPTH, &names);

		for (size_t j = 0; j < depth; j++)
			at = fxt_paths_child(&tree->paths, at, FXT_PATH_CALL, names[j]);
		tree->paths.items[at].self += (uint64_t)sums.bytes;
		tree->paths.items[at].calls += (uint64_t)sums.blocks;
	}
}

/* ---- the tree ---- */

void fxt_flame_tree_fold(struct fxt_flame_tree *tree)
{
	uint32_t deeper = flame_label(tree, DEEPER_NAME);
	uint32_t levels = fxt_paths_fold_recursion(&tree->paths, LEVELS_MAX, deeper, tree->before);

	tree->recursion = levels > tree->recursion ? levels : tree->recursion;
}

int fxt_flame_tree_read(struct fxt_flame_tree *tree, const char *name, const struct fxt_source *source,
        const struct fxt_flame_wanted *wanted)
{
	char error[4096 + 256];
	bool complete = true;

	*tree = (struct fxt_flame_tree){.is_heap = fxt_flame_is_heap(wanted->cost), .is_finished = true};
	if (tree->is_heap) {
		if (fxt_archive_open_fd(&tree->archive, source->fd, name, error, sizeof(error)) != 0) {
			fprintf(stderr, "fxt: %s\n", error);
			return FXT_FAILED;
		}
		fxt_heap_read(&tree->heap, &tree->archive, 0, false);
		tree->tables = &tree->heap.tables;
		tree->records_lost = tree->heap.records_lost;
		flame_read_heap(tree, wanted->cost);
	} else {
		if (flame_scan(tree, name, source, wanted, &complete) != FXT_DONE)
			return FXT_FAILED;
	}
	if (wanted->bottom_up) {
		fxt_flame_tree_fold(tree);
		fxt_paths_turn_over(&tree->paths, CALLERS_MAX);
		flame_take_own(&tree->paths);
	} else if (wanted->cost == FXT_FLAME_TIME) {
		flame_sum_up_groups(&tree->paths);
	} else {
		flame_sum_up(&tree->paths);
	}
	if (fxt_flame_is_time(wanted->cost))
		fxt_paths_to_ns(&tree->paths, &tree->scan);
	if (fxt_report_changed(name, complete) != FXT_DONE)
		return FXT_BROKEN;
	return tree->is_heap
	               ? fxt_report_unread(name, tree->heap.malformed, tree->heap.unknown, &tree->heap.fault)
	               : fxt_report_unread(name, tree->scan.malformed, tree->scan.unknown, &tree->scan.fault);
}

const char *fxt_flame_lack(const struct fxt_flame_tree *tree, enum fxt_flame_cost cost)
{
	if (tree->is_heap && tree->heap.process_count == 0)
		return "no heap was recorded; fxtrun --heap=objects records it";
	if (tree->is_heap)
		return cost == FXT_FLAME_LEAKED      ? "all blocks of its heap were freed"
		       : cost == FXT_FLAME_TEMPORARY ? "no block of its heap was temporary"
		                                     : "there are no blocks in its heap";
	if (tree->lacks_switches)
		return "it has no context switches; fxtrun records them if the kernel allows it, and "
		       "otherwise says why not";
	return cost == FXT_FLAME_OFF_CPU ? "no call was off its CPU" : "there are no calls in it";
}

void fxt_flame_tree_free(struct fxt_flame_tree *tree)
{
	fxt_paths_free(&tree->paths);
	free(tree->before);
	if (tree->is_heap) {
		fxt_heap_free(&tree->heap);
		fxt_archive_close(&tree->archive);
	} else {
		fxt_filter_free(&tree->filter);
		fxt_scan_free(&tree->scan);
	}
	for (size_t i = 0; i < tree->label_count; i++)
		free(tree->labels[i]);
	free(tree->labels);
}

void fxt_flame_tree_compare(struct fxt_flame_tree *tree, const struct fxt_flame_tree *before)
{
	const struct fxt_paths *old = &before->paths;
	uint32_t *node_of = fxt_allocate(old->count * sizeof(*node_of));
	uint32_t *name_of = fxt_allocate(before->tables->string_count * sizeof(*name_of));

	for (size_t i = 1; i < old->count; i++) {
		const struct fxt_path *path = &old->items[i];
		uint32_t *name = &name_of[path->name];

		if (*name == 0)
			*name = fxt_tables_intern(tree->tables, before->tables->strings[path->name]) + 1;
		node_of[i] = fxt_paths_child(&tree->paths, node_of[path->parent], path->kind, *name - 1);
	}
	tree->before = fxt_allocate(tree->paths.count * sizeof(*tree->before));
	for (size_t i = 0; i < old->count; i++)
		tree->before[node_of[i]] += old->items[i].total;
	free(name_of);
	free(node_of);
}
