#include "longest.h"

#include <stdlib.h>
#include "walk.h"

/* What a walker has found: a heap, whose first slice is the one that goes first. */
struct found {
	const bool *names;
	struct fxt_slice *slices;
	size_t count, most;
	uint64_t calls, start, end;
};

/* Whether `a` stands behind `b` in the result. */
static bool longest_is_behind(const struct fxt_slice *a, const struct fxt_slice *b)
{
	uint64_t a_length = a->end - a->start, b_length = b->end - b->start;

	if (a_length != b_length)
		return a_length < b_length;
	return a->start != b->start ? a->start > b->start : a->offset > b->offset;
}

static void longest_exchange(struct fxt_slice *a, struct fxt_slice *b)
{
	struct fxt_slice old = *a;

	*a = *b;
	*b = old;
}

static void longest_sift_up(struct fxt_slice *heap, size_t at)
{
	while (at > 0 && longest_is_behind(&heap[at], &heap[(at - 1) / 2])) {
		longest_exchange(&heap[at], &heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static void longest_sift_down(struct fxt_slice *heap, size_t count)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && longest_is_behind(&heap[child + 1], &heap[child]))
			child++;
		if (!longest_is_behind(&heap[child], &heap[at]))
			return;
		longest_exchange(&heap[at], &heap[child]);
		at = child;
	}
}

static void longest_consider(struct found *found, const struct fxt_slice *slice)
{
	if (found->count < found->most) {
		found->slices[found->count] = *slice;
		longest_sift_up(found->slices, found->count++);
	} else if (found->most > 0 && longest_is_behind(&found->slices[0], slice)) {
		found->slices[0] = *slice;
		longest_sift_down(found->slices, found->count);
	}
}

static inline void longest_see(struct found *found, const struct fxt_slice *slice)
{
	if (!found->names[slice->name])
		return;
	found->calls++;
	if (slice->start < found->start)
		found->start = slice->start;
	if (slice->end > found->end)
		found->end = slice->end;
	longest_consider(found, slice);
}

static inline void longest_enter(void *state, struct fxt_walk_frame *frame)
{
	if (!frame->is_context)
		longest_see(state, &frame->slice);
}

static inline void longest_leave(void *state, const struct fxt_walk_frame *frame)
{
	(void)state;
	(void)frame;
}

static inline void longest_leaf(
        void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	longest_see(state, slice);
}

static const struct fxt_visitor longest_visitor = {
        .enter = longest_enter, .leave = longest_leave, .leaf = longest_leaf};

static void longest_walk(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &longest_visitor, state);
}

static int longest_compare(const void *left, const void *right)
{
	return longest_is_behind(left, right) ? 1 : -1;
}

bool fxt_longest_read(
        struct fxt_longest *longest, const struct fxt_scan *scan, const bool *names, size_t most)
{
	unsigned workers = fxt_walk_workers(scan);
	struct found *found = fxt_allocate(workers * sizeof(*found));

	for (unsigned i = 0; i < workers; i++)
		found[i] = (struct found){.names = names,
		        .slices = fxt_resize(NULL, most + 1, sizeof(*found->slices)),
		        .most = most,
		        .start = UINT64_MAX};
	bool is_whole = fxt_walk(scan, longest_walk, found, sizeof(*found), workers);

	for (unsigned i = 1; i < workers; i++) {
		for (size_t j = 0; j < found[i].count; j++)
			longest_consider(&found[0], &found[i].slices[j]);
		free(found[i].slices);
		found[0].calls += found[i].calls;
		if (found[i].start < found[0].start)
			found[0].start = found[i].start;
		if (found[i].end > found[0].end)
			found[0].end = found[i].end;
	}
	*longest = (struct fxt_longest){
	        found[0].slices, found[0].count, found[0].calls, found[0].start, found[0].end};
	qsort(longest->slices, longest->count, sizeof(*longest->slices), longest_compare);
	free(found);
	return is_whole;
}

void fxt_longest_free(struct fxt_longest *longest)
{
	free(longest->slices);
	*longest = (struct fxt_longest){0};
}
