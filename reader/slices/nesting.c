/*
 * Builds each thread's tree of slices from slices that come nearly in the order of their
 * ends. Runs on the thread that reads the archive. A thread that proves out of order needs
 * another run; results of a run that is to be repeated must not count.
 */
#include "nesting.h"

#include <stdlib.h>

struct subtree {
	uint64_t start;
	uint64_t end;
};

struct fxt_nesting_thread {
	struct fxt_spill unclaimed; /* struct subtree, by start; initialised at first use */
	/* slices not in the tree yet: those that may not be next, or all */
	struct fxt_nested_slice *held;
	size_t held_count, held_room;
	uint64_t claimed_end; /* all slices in the tree end by then; held ones end later */
	uint64_t held_end;    /* the latest end of those held */
	bool collected;       /* in this run, because an earlier run found it out of order */
	bool unordered;       /* found out of order in this run */
};

static struct fxt_nesting_thread *nesting_find(struct fxt_nesting *n, uint32_t thread)
{
	fxt_make_zeroed(n->threads, n->thread_count, thread);
	return &n->threads[thread];
}

/* Puts a slice into the tree; all slices inside it are there already. */
static void nesting_claim(
        struct fxt_nesting *n, struct fxt_nesting_thread *t, const struct fxt_nested_slice *slice)
{
	uint32_t thread = (uint32_t)(t - n->threads);
	enum fxt_nesting_fault fault = FXT_NESTS;
	struct subtree newest;

	if (t->unclaimed.item_bytes == 0)
		fxt_spill_init(&t->unclaimed, sizeof(newest), fxt_spill_bytes_of_thread(thread));
	for (; t->unclaimed.count > 0; fxt_spill_cut(&t->unclaimed, t->unclaimed.count - 1)) {
		fxt_spill_read(&t->unclaimed, t->unclaimed.count - 1, 1, &newest);
		if (newest.start < slice->start) {
			if (newest.end > slice->start)
				fault = FXT_OVERLAP;
			break;
		}
		if (newest.start == slice->start)
			fault = FXT_SAME_START;
	}
	fxt_spill_add(&t->unclaimed, &(struct subtree){slice->start, slice->end});
	n->finished(n->context, thread, slice, fault);
}

static int nesting_by_end_inner_first(const void *left, const void *right)
{
	const struct fxt_nested_slice *a = left, *b = right;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

static void nesting_claim_held(struct fxt_nesting *n, struct fxt_nesting_thread *t)
{
	if (t->held_count > 1)
		qsort(t->held, t->held_count, sizeof(*t->held), nesting_by_end_inner_first);
	for (size_t i = 0; i < t->held_count; i++)
		nesting_claim(n, t, &t->held[i]);
	t->held_count = 0;
	t->claimed_end = t->held_end;
}

static void nesting_hold(struct fxt_nesting_thread *t, const struct fxt_nested_slice *slice)
{
	if (t->held_count == 0 || slice->end > t->held_end)
		t->held_end = slice->end;
	fxt_make_room(t->held, t->held_count, t->held_room);
	t->held[t->held_count++] = *slice;
}

void fxt_nesting_slice(struct fxt_nesting *n, uint32_t thread, const struct fxt_nested_slice *slice)
{
	struct fxt_nesting_thread *t = nesting_find(n, thread);

	if (t->held_count > 0 && !t->collected) {
		if (slice->end > t->held_end)
			nesting_claim_held(n, t);
		else if (t->unclaimed.count > 0 && slice->end <= t->claimed_end)
			t->unordered = true;
		if (t->unordered)
			return;
	}
	nesting_hold(t, slice);
}

bool fxt_nesting_finish(struct fxt_nesting *n)
{
	bool again = false;

	for (size_t i = 0; i < n->thread_count; i++)
		again |= n->threads[i].unordered;
	for (size_t i = 0; i < n->thread_count; i++) {
		struct fxt_nesting_thread *t = &n->threads[i];

		if (!again)
			nesting_claim_held(n, t);
		t->held_count = 0;
		if (t->unclaimed.item_bytes > 0)
			fxt_spill_clear(&t->unclaimed);
		t->collected |= t->unordered;
		t->unordered = false;
	}
	return !again;
}

void fxt_nesting_free(struct fxt_nesting *n)
{
	for (size_t i = 0; i < n->thread_count; i++) {
		if (n->threads[i].unclaimed.item_bytes > 0)
			fxt_spill_free(&n->threads[i].unclaimed);
		free(n->threads[i].held);
	}
	free(n->threads);
	*n = (struct fxt_nesting){0};
}
