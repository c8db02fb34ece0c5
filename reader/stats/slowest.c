/*
 * Finds the slowest calls in a walk with several threads; each worker keeps a heap of its
 * own slowest, and the heaps are merged at the end. The result must not depend on the
 * number of threads.
 */
#include "slowest.h"

#include <stdlib.h>
#include "reader/slices/walk.h"
#include "reader/time/thread_times.h"

/* Buckets for durations: the highest bit, and the five bits behind it. */
enum { FINE_BITS = 5, BUCKETS = (64 - FINE_BITS + 1) << FINE_BITS };

/* Each worker has a call for each value of an argument. With more values there is a single
 * worker, because a trace may have a value a record. */
enum { VALUES_MAX = 1 << 16 };

struct search {
	const struct fxt_scan *scan;
	const bool *is_wanted;
	bool calls_only;
	const struct fxt_values *by;
	const struct fxt_intervals *waits; /* for the tracer */
	struct fxt_interval_reader waited; /* those of the thread that is walked */
	bool has_waits;
	struct fxt_slow_call *best; /* with `by`: by value, the slowest one; no offset: none */
	struct fxt_slow_call *heap; /* the fastest of them on top */
	size_t count, most;
	uint64_t start, end; /* of all calls */
	uint64_t buckets[BUCKETS];
	struct fxt_slow_call examples[BUCKETS]; /* one call from each bucket, if there is
	                                           any */
	struct fxt_paths paths;
};

static unsigned slowest_bucket(uint64_t duration)
{
	unsigned shift;

	if (duration >> FINE_BITS == 0)
		return (unsigned)duration;
	shift = 63 - FINE_BITS - (unsigned)__builtin_clzll(duration);
	return ((shift + 1) << FINE_BITS) + (unsigned)((duration >> shift) - (1u << FINE_BITS));
}

static bool slowest_is_slower(const struct fxt_slow_call *left, const struct fxt_slow_call *right)
{
	const struct fxt_slice *a = &left->slice, *b = &right->slice;

	if (left->time != right->time)
		return left->time > right->time;
	return a->start != b->start ? a->start < b->start : a->offset < b->offset;
}

static void slowest_sift(struct search *s, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= s->count)
			return;
		if (child + 1 < s->count && slowest_is_slower(&s->heap[child], &s->heap[child + 1]))
			child++;
		if (!slowest_is_slower(&s->heap[at], &s->heap[child]))
			return;
		struct fxt_slow_call call = s->heap[at];

		s->heap[at] = s->heap[child];
		s->heap[child] = call;
		at = child;
	}
}

static void slowest_put(struct search *s, const struct fxt_slow_call *call)
{
	if (s->count == s->most) {
		s->heap[0] = *call;
		slowest_sift(s, 0);
		return;
	}
	size_t at = s->count++;

	for (; at > 0 && slowest_is_slower(&s->heap[(at - 1) / 2], call); at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = *call;
}

/* The node of an open slice. Each frame remembers its own node, plus 1, so that a deep
 * recursion is climbed once and not for each of its calls. A hidden frame has the word of
 * the frame around it. */
static uint32_t slowest_node(struct search *s, const struct fxt_walk_frame *frame)
{
	const struct fxt_walk_frame *known = frame;
	uint32_t node = 0;

	while (known->slice.offset != 0 && (known->word == 0 || known->is_hidden))
		known--;
	if (known->slice.offset != 0)
		node = (uint32_t)known->word - 1;
	/* The visitor may write to frames; only a leaf's caller is passed as const. */
	for (struct fxt_walk_frame *f = (struct fxt_walk_frame *)(uintptr_t)known + 1; f <= frame; f++) {
		node = fxt_paths_of_slice(&s->paths, node, &f->slice);
		f->word = (uint64_t)node + 1;
	}
	return node;
}

static bool slowest_is_best(const struct search *s, uint32_t value, const struct fxt_slow_call *call)
{
	const struct fxt_slow_call *best = &s->best[value];

	return value != FXT_NOTHING && (best->slice.offset == 0 || slowest_is_slower(call, best));
}

/* True for the wait in a recorded library call: the call has its name and counts already. */
static bool slowest_is_own_wait(
        const struct search *s, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	return slice->category == s->scan->sync_category && parent->slice.is_call &&
	       parent->slice.name == slice->name;
}

static inline void slowest_consider(
        struct search *s, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	unsigned bucket;

	if (!s->is_wanted[slice->name] || slice->is_inherited || slowest_is_own_wait(s, slice, parent) ||
	        (s->calls_only && !slice->is_call && slice->category != s->scan->sync_category))
		return;
	if (slice->start < s->start)
		s->start = slice->start;
	if (slice->end > s->end)
		s->end = slice->end;
	struct fxt_slow_call call = {
	        .slice = *slice, .time = fxt_own_time(s->has_waits ? &s->waited : NULL, slice)};

	bucket = slowest_bucket(call.time);
	/* Each bucket keeps its last call in the file. A walk meets it first, and the
	 * result is the same with any number of workers. */
	bool is_example = slice->offset > s->examples[bucket].slice.offset;
	uint32_t value = s->by ? fxt_values_of(s->by, slice->offset) : FXT_NOTHING;
	bool is_slow = s->by ? slowest_is_best(s, value, &call)
	                     : s->most > 0 && (s->count < s->most || slowest_is_slower(&call, &s->heap[0]));

	s->buckets[bucket]++;
	if (!is_example && !is_slow)
		return;
	call.path = fxt_paths_of_slice(&s->paths, slowest_node(s, parent), slice);
	if (is_example)
		s->examples[bucket] = call;
	if (is_slow && s->by)
		s->best[value] = call;
	else if (is_slow)
		slowest_put(s, &call);
}

static void slowest_thread(void *state, uint32_t thread)
{
	struct search *s = state;

	s->has_waits = fxt_intervals_has(s->waits, thread);
	fxt_intervals_read(&s->waited, s->waits, thread);
}

static void slowest_enter(void *state, struct fxt_walk_frame *frame)
{
	if (!frame->is_context)
		slowest_consider(state, &frame->slice, frame - 1);
}

static void slowest_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	slowest_consider(state, slice, parent);
}

static const struct fxt_visitor slowest_visitor = {
        .thread = slowest_thread, .enter = slowest_enter, .leaf = slowest_leaf};

static void slowest_walk(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &slowest_visitor, state);
}

/* Adds the results of another worker. */
static void slowest_add(struct search *s, const struct search *other)
{
	uint32_t *node_of = fxt_allocate(other->paths.count * sizeof(*node_of));
	struct fxt_slow_call call;

	for (size_t i = 1; i < other->paths.count; i++) {
		const struct fxt_path *path = &other->paths.items[i];

		node_of[i] = fxt_paths_child(&s->paths, node_of[path->parent], path->kind, path->name);
	}
	for (unsigned i = 0; i < BUCKETS; i++) {
		call = other->examples[i];
		call.path = node_of[call.path];
		if (call.slice.offset > s->examples[i].slice.offset)
			s->examples[i] = call;
		s->buckets[i] += other->buckets[i];
	}
	for (size_t i = 0; i < other->count; i++) {
		call = other->heap[i];
		call.path = node_of[call.path];
		if (s->count < s->most || slowest_is_slower(&call, &s->heap[0]))
			slowest_put(s, &call);
	}
	for (size_t i = 0; s->by && i < s->by->text_count; i++) {
		call = other->best[i];
		call.path = node_of[call.path];
		if (call.slice.offset > 0 && slowest_is_best(s, (uint32_t)i, &call))
			s->best[i] = call;
	}
	if (other->start < s->start)
		s->start = other->start;
	if (other->end > s->end)
		s->end = other->end;
	free(node_of);
}

/* Takes the slowest calls of the values over into the heap. */
static void slowest_take_best(struct search *s)
{
	for (size_t i = 0; s->by && s->most > 0 && i < s->by->text_count; i++) {
		const struct fxt_slow_call *call = &s->best[i];

		if (call->slice.offset > 0 && (s->count < s->most || slowest_is_slower(call, &s->heap[0])))
			slowest_put(s, call);
	}
	free(s->best);
}

static int slowest_first(const void *left, const void *right)
{
	return slowest_is_slower(left, right) ? -1 : 1;
}

static void slowest_find_median(struct fxt_slowest *slowest, const struct search *s)
{
	uint64_t before = 0;

	for (unsigned i = 0; i < BUCKETS; i++)
		slowest->all_calls += s->buckets[i];
	for (unsigned i = 0; i < BUCKETS; i++) {
		before += s->buckets[i];
		if (before > 0 && 2 * before >= slowest->all_calls) {
			slowest->median = s->examples[i];
			return;
		}
	}
}

bool fxt_slowest_read(struct fxt_slowest *slowest, const struct fxt_scan *scan, const bool *is_wanted,
        bool calls_only, const struct fxt_values *by, size_t most, unsigned workers)
{
	workers = by && by->text_count > VALUES_MAX ? 1 : workers;
	struct search *searches = fxt_allocate(workers * sizeof(*searches));
	struct fxt_intervals waits;
	uint64_t waited_time;
	bool complete;

	fxt_waited_read(&waits, scan, &waited_time);
	for (unsigned i = 0; i < workers; i++) {
		searches[i].scan = scan;
		searches[i].is_wanted = is_wanted;
		searches[i].calls_only = calls_only;
		searches[i].by = by;
		searches[i].waits = &waits;
		searches[i].best = by ? fxt_allocate(by->text_count * sizeof(*searches[i].best)) : NULL;
		searches[i].start = UINT64_MAX;
		searches[i].most = most;
		searches[i].heap = fxt_resize(NULL, most + 1, sizeof(*searches[i].heap));
		fxt_paths_init(&searches[i].paths);
	}
	complete = fxt_walk(scan, slowest_walk, searches, sizeof(*searches), workers);
	for (unsigned i = 1; i < workers; i++) {
		slowest_add(&searches[0], &searches[i]);
		fxt_paths_free(&searches[i].paths);
		free(searches[i].heap);
		free(searches[i].best);
	}
	slowest_take_best(&searches[0]);
	if (searches[0].count > 1)
		qsort(searches[0].heap, searches[0].count, sizeof(*searches[0].heap), slowest_first);
	*slowest = (struct fxt_slowest){.calls = searches[0].heap,
	        .count = searches[0].count,
	        .start = searches[0].start,
	        .end = searches[0].end,
	        .paths = searches[0].paths};
	slowest_find_median(slowest, &searches[0]);
	fxt_intervals_free(&waits);
	free(searches);
	return complete;
}

void fxt_slowest_free(struct fxt_slowest *slowest)
{
	free(slowest->calls);
	fxt_paths_free(&slowest->paths);
	*slowest = (struct fxt_slowest){0};
}
