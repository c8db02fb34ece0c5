/*
 * Reads the blocks around a stretch of time, and sums up the outermost slices that do not
 * last for all of it. Runs on the caller's thread.
 */
#include "meanwhile.h"

#include <stdlib.h>

struct search {
	struct fxt_meanwhile *meanwhile;
	uint32_t thread;
	uint64_t from, to;
};

static struct fxt_meanwhile_call *meanwhile_call(struct fxt_meanwhile *m, uint32_t name)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].name == name)
			return &m->items[i];
	fxt_make_room(m->items, m->count, m->room);
	m->items[m->count] = (struct fxt_meanwhile_call){.name = name};
	return &m->items[m->count++];
}

/* Takes a slice whose caller, if any, lasts for all of the stretch. Returns whether the
 * slice does so too. */
static bool meanwhile_take(struct search *search, const struct fxt_slice *slice)
{
	struct fxt_meanwhile *m = search->meanwhile;
	uint64_t start = slice->start > search->from ? slice->start : search->from;
	uint64_t end = slice->end < search->to ? slice->end : search->to;

	if (slice->start <= search->from && slice->end >= search->to) {
		fxt_make_room(m->around, m->around_count, m->around_room);
		m->around[m->around_count++] = slice->name;
		return true;
	}
	if (start >= end)
		return false;
	struct fxt_meanwhile_call *call = meanwhile_call(m, slice->name);

	call->time += end - start;
	call->calls++;
	m->own -= end - start;
	return false;
}

/* A frame's word is 1 inside a slice that is counted. */
static void meanwhile_enter(void *state, struct fxt_walk_frame *frame)
{
	struct search *search = state;

	if (frame->slice.thread != search->thread)
		return;
	frame->word = frame[-1].word;
	if (frame->word == 0)
		frame->word = !meanwhile_take(search, &frame->slice);
}

static void meanwhile_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct search *search = state;

	if (slice->thread == search->thread && parent->word == 0)
		meanwhile_take(search, slice);
}

static const struct fxt_visitor visitor = {
        .enter = meanwhile_enter, .leaf = meanwhile_leaf, .looks_near = true};

static int meanwhile_longest_first(const void *left, const void *right)
{
	const struct fxt_meanwhile_call *a = left, *b = right;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

bool fxt_meanwhile_read(struct fxt_meanwhile *meanwhile, const struct fxt_scan *scan, uint32_t thread,
        uint64_t from, uint64_t to)
{
	struct search search = {meanwhile, thread, from, to};
	struct fxt_walker walker;

	*meanwhile = (struct fxt_meanwhile){.own = to - from};
	fxt_walk_begin(&walker, scan);
	walker.filter = NULL;
	walker.from = from;
	walker.to = to;
	while (fxt_walk_step(&walker, &visitor, &search)) {
	}
	bool is_whole = !walker.is_short;

	fxt_walk_end(&walker);
	if (meanwhile->count > 1)
		qsort(meanwhile->items, meanwhile->count, sizeof(*meanwhile->items), meanwhile_longest_first);
	return is_whole;
}

void fxt_meanwhile_free(struct fxt_meanwhile *meanwhile)
{
	free(meanwhile->items);
	free(meanwhile->around);
	*meanwhile = (struct fxt_meanwhile){0};
}
