/*
 * Reads the tree of call paths in a walk with several threads; each worker has a tree of
 * its own, and the trees are added at the end. Memory must grow with the number of paths,
 * never with the number of calls.
 */
#include "paths.h"

#include <stdlib.h>
#include "reader/slices/walk.h"

enum { LATELY = 1024 }; /* a power of two */

/* ---- the tree ---- */

void fxt_paths_init(struct fxt_paths *paths)
{
	*paths = (struct fxt_paths){0};
	fxt_make_room(paths->items, 0, paths->room);
	paths->items[0] = (struct fxt_path){.kind = FXT_PATH_GROUP, .min = UINT64_MAX};
	paths->count = 1;
	paths->lately = fxt_allocate(LATELY * sizeof(*paths->lately));
}

void fxt_paths_free(struct fxt_paths *paths)
{
	free(paths->items);
	free(paths->lately);
	fxt_index_free(&paths->index);
	*paths = (struct fxt_paths){0};
}

static inline bool paths_is_child(
        const struct fxt_path *path, uint32_t parent, enum fxt_path_kind kind, uint32_t name)
{
	return path->name == name && path->parent == parent && path->kind == kind;
}

static uint32_t paths_find_child(
        struct fxt_paths *paths, uint32_t parent, enum fxt_path_kind kind, uint32_t name)
{
	uint32_t hash = fxt_hash_word(fxt_hash_mix((uint64_t)parent << 32 | name) + kind);
	uint32_t node = (uint32_t)paths->count;

	for (struct fxt_probe probe = fxt_probe(&paths->index, hash); fxt_probe_next(&paths->index, &probe);)
		if (paths_is_child(&paths->items[probe.id], parent, kind, name))
			return probe.id;
	fxt_make_room(paths->items, paths->count, paths->room);
	paths->items[paths->count++] =
	        (struct fxt_path){.parent = parent, .name = name, .kind = kind, .min = UINT64_MAX};
	fxt_index_add(&paths->index, hash, node);
	return node;
}

uint32_t fxt_paths_child(struct fxt_paths *paths, uint32_t parent, enum fxt_path_kind kind, uint32_t name)
{
	uint32_t *lately = &paths->lately[(parent * 31 + name) % LATELY];

	/* Node 0 is its own parent, but no node's child. */
	if (*lately == 0 || !paths_is_child(&paths->items[*lately], parent, kind, name))
		*lately = paths_find_child(paths, parent, kind, name);
	return *lately;
}

uint32_t fxt_paths_of_frame(struct fxt_paths *paths, const struct fxt_walk_frame *frame, bool calls_only)
{
	const struct fxt_walk_frame *outermost = frame;
	uint32_t node = 0;

	while (outermost->slice.offset != 0)
		outermost--;
	while (outermost++ < frame)
		if (outermost->slice.is_call || outermost->slice.is_inherited || !calls_only)
			node = fxt_paths_of_slice(paths, node, &outermost->slice);
	return node;
}

static void paths_add_sums(struct fxt_path *to, const struct fxt_path *from)
{
	to->calls += from->calls;
	to->open += from->open;
	to->total += from->total;
	to->self += from->self;
	to->lent += from->lent;
	to->lent_off += from->lent_off;
	to->off += from->off;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
}

/* The name of a node in the other tree; FXT_NOTHING: it has no node there. */
static uint32_t paths_name_there(const struct fxt_path *path, const struct fxt_path_names *names)
{
	const uint32_t *of = !names                         ? NULL
	                     : path->kind == FXT_PATH_GROUP ? names->of_groups
	                                                    : names->of_calls;

	return of ? of[path->name] : path->name;
}

void fxt_paths_add(struct fxt_paths *to, uint32_t to_node, const struct fxt_paths *from, uint32_t from_node,
        const struct fxt_path_names *names)
{
	/* By node of the other tree: its node here plus 1; 0 for nodes outside of the
	 * subtree. */
	uint32_t *node_of = fxt_allocate(from->count * sizeof(*node_of));

	node_of[from_node] = to_node + 1;
	paths_add_sums(&to->items[to_node], &from->items[from_node]);
	for (size_t i = (size_t)from_node + 1; i < from->count; i++) {
		const struct fxt_path *path = &from->items[i];
		uint32_t parent = node_of[path->parent];

		if (parent == 0)
			continue;
		uint32_t name = paths_name_there(path, names), node = parent - 1;

		if (name != FXT_NOTHING)
			node = fxt_paths_child(to, node, path->kind, name);

		paths_add_sums(&to->items[node], path);
		node_of[i] = node + 1;
	}
	free(node_of);
}

void fxt_paths_to_ns(struct fxt_paths *paths, const struct fxt_scan *scan)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct fxt_path *path = &paths->items[i];

		path->total = fxt_scan_ns(scan, path->total);
		path->self = fxt_scan_ns(scan, path->self);
		path->off = fxt_scan_ns(scan, path->off);
		path->min = path->calls > 0 ? fxt_scan_ns(scan, path->min) : path->min;
		path->max = fxt_scan_ns(scan, path->max);
	}
}

/* ---- the walk ---- */

struct reading {
	struct fxt_paths paths;
	/* by thread: the name of its group; NULL: there are no groups */
	const uint32_t *group_of;
	const struct fxt_thread_times *times; /* or NULL */
	bool has_off, has_waits;              /* of the current thread */
	struct fxt_interval_reader runnable, blocked, waited;
	uint32_t top; /* the node above the current thread's outermost slices */
};

static void paths_set_thread(void *state, uint32_t thread)
{
	struct reading *r = state;

	if (r->times) {
		const struct fxt_intervals *cpu = r->times->cpu;

		r->has_off = fxt_intervals_has(&cpu[FXT_CPU_RUNNABLE], thread) ||
		             fxt_intervals_has(&cpu[FXT_CPU_BLOCKED], thread);
		fxt_intervals_read(&r->runnable, &cpu[FXT_CPU_RUNNABLE], thread);
		fxt_intervals_read(&r->blocked, &cpu[FXT_CPU_BLOCKED], thread);
		r->has_waits = fxt_intervals_has(&r->times->waited, thread);
		fxt_intervals_read(&r->waited, &r->times->waited, thread);
	}
	r->top = r->group_of ? fxt_paths_child(&r->paths, 0, FXT_PATH_GROUP, r->group_of[thread]) : 0;
}

/* A frame's word is its node plus 1, because a thread's own frame has 0. This bit is added
 * for inherited calls. Hidden frames have the word of the frame around. */
#define PATHS_INHERITED (UINT64_C(1) << 32)

static inline uint32_t paths_node_of_slice(
        struct reading *r, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	uint32_t above = parent->word > 0 ? (uint32_t)parent->word - 1 : r->top;

	return fxt_paths_of_slice(&r->paths, above, slice);
}

static inline void paths_count_slice(struct reading *r, struct fxt_path *path, const struct fxt_slice *slice,
        const struct fxt_walk_frame *parent)
{
	uint64_t time, off = 0;

	if (slice->is_inherited)
		return;
	time = fxt_own_time(r->has_waits ? &r->waited : NULL, slice);
	path->calls++;
	path->open += slice->is_open;
	path->total += time;
	/* A wait for the tracer is a slice inside, so it is not in the self time. */
	path->self += slice->end - slice->start;
	if (r->has_off)
		off = fxt_intervals_between(&r->runnable, slice->start, slice->end) +
		      fxt_intervals_between(&r->blocked, slice->start, slice->end);
	path->off += off;
	if (time < path->min)
		path->min = time;
	if (time > path->max)
		path->max = time;
	if (parent->word & PATHS_INHERITED) {
		struct fxt_path *around = &r->paths.items[(uint32_t)parent->word - 1];

		around->lent += time;
		around->lent_off += off;
	}
}

static inline void paths_count_leaf(
        void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct reading *r = state;

	if (slice->is_inherited)
		return;
	uint32_t node = paths_node_of_slice(r, slice, parent);

	paths_count_slice(r, &r->paths.items[node], slice, parent);
}

static inline void paths_enter(void *state, struct fxt_walk_frame *frame)
{
	struct reading *r = state;
	uint32_t node = paths_node_of_slice(r, &frame->slice, frame - 1);

	frame->word = ((uint64_t)node + 1) | (frame->slice.is_inherited ? PATHS_INHERITED : 0);
	if (!frame->is_context)
		paths_count_slice(r, &r->paths.items[node], &frame->slice, frame - 1);
}

static inline void paths_leave(void *state, const struct fxt_walk_frame *frame)
{
	/* A context adds only this. Another worker counts the slice itself, and unsigned
	 * sums come out right once they are added up. */
	if (!frame->slice.is_inherited)
		((struct reading *)state)->paths.items[frame->word - 1].self -= frame->inside;
}

static const struct fxt_visitor visitor = {.thread = paths_set_thread,
        .enter = paths_enter,
        .leave = paths_leave,
        .leaf = paths_count_leaf,
        .looks_near = true};

static void paths_read_ranges(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &visitor, state);
}

/* By thread: the id of the first thread of its process. */
static void paths_group_by_process(const struct fxt_tables *tables, uint32_t *group_of, size_t count)
{
	struct fxt_index index = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint64_t process = tables->threads[i].process;
		uint32_t hash = fxt_hash_word(process);
		bool is_known = false;

		for (struct fxt_probe probe = fxt_probe(&index, hash);
		        !is_known && fxt_probe_next(&index, &probe);) {
			is_known = tables->threads[probe.id].process == process;
			group_of[i] = probe.id;
		}
		if (is_known)
			continue;
		group_of[i] = i;
		fxt_index_add(&index, hash, i);
	}
	fxt_index_free(&index);
}

/* Slices around an inherited call are inherited too, and contain what is inside it. */
static void paths_sum_up_lent(struct fxt_paths *paths)
{
	for (size_t i = paths->count; i-- > 1;) {
		struct fxt_path *path = &paths->items[i], *parent = &paths->items[path->parent];

		path->total += path->lent;
		path->off += path->lent_off;
		if (parent->kind != FXT_PATH_GROUP) {
			parent->lent += path->lent;
			parent->lent_off += path->lent_off;
		}
	}
}

static void paths_sum_up_groups(struct fxt_paths *paths)
{
	for (size_t i = paths->count; i-- > 1;) {
		struct fxt_path *parent = &paths->items[paths->items[i].parent];

		if (parent->kind == FXT_PATH_GROUP) {
			parent->total += paths->items[i].total;
			parent->off += paths->items[i].off;
		}
	}
}

/* Waits for the tracer are in no total, so their time off the CPU is nowhere either. */
static void paths_take_off_waits(struct fxt_paths *paths, const struct fxt_scan *scan)
{
	for (size_t i = paths->count; i-- > 1;) {
		struct fxt_path *path = &paths->items[i];
		uint64_t off = path->off;

		if (path->kind != FXT_PATH_OTHER || path->name != scan->waited_name || off == 0)
			continue;
		path->off = 0;
		for (uint32_t at = path->parent; paths->items[at].kind != FXT_PATH_GROUP;
		        at = paths->items[at].parent)
			paths->items[at].off -= off;
	}
}

bool fxt_paths_read(struct fxt_paths *paths, const struct fxt_scan *scan, enum fxt_paths_by by,
        const struct fxt_thread_times *times, unsigned workers)
{
	struct reading *readings = fxt_allocate(workers * sizeof(*readings));
	uint32_t *group_of = NULL;

	if (by != FXT_PATHS_TOGETHER)
		group_of = fxt_allocate(scan->thread_count * sizeof(*group_of));
	if (by == FXT_PATHS_BY_PROCESS)
		paths_group_by_process(&scan->tables, group_of, scan->thread_count);
	for (uint32_t i = 0; by == FXT_PATHS_BY_THREAD && i < scan->thread_count; i++)
		group_of[i] = i;
	for (unsigned i = 0; i < workers; i++) {
		readings[i].group_of = group_of;
		readings[i].times = times;
		fxt_paths_init(&readings[i].paths);
	}
	bool complete = fxt_walk(scan, paths_read_ranges, readings, sizeof(*readings), workers);

	*paths = readings[0].paths;
	for (unsigned i = 1; i < workers; i++) {
		fxt_paths_add(paths, 0, &readings[i].paths, 0, NULL);
		fxt_paths_free(&readings[i].paths);
	}
	free(readings);
	free(group_of);
	paths_take_off_waits(paths, scan);
	paths_sum_up_lent(paths);
	paths_sum_up_groups(paths);
	return complete;
}

void fxt_paths_turn_over(struct fxt_paths *paths, unsigned callers)
{
	struct fxt_paths turned;

	fxt_paths_init(&turned);
	for (uint32_t i = 1; i < paths->count; i++) {
		const struct fxt_path *path = &paths->items[i];
		uint32_t node = 0, at = i;

		if (path->kind == FXT_PATH_GROUP || path->calls == 0)
			continue;
		turned.items[0].total += path->self;
		for (unsigned depth = 0; at > 0 && depth <= callers; depth++, at = paths->items[at].parent) {
			node = fxt_paths_child(&turned, node, paths->items[at].kind, paths->items[at].name);
			turned.items[node].calls += path->calls;
			turned.items[node].total += path->self;
			turned.items[node].open += path->open;
			turned.items[node].self += at == i ? path->self : 0;
		}
	}
	fxt_paths_free(paths);
	*paths = turned;
}
