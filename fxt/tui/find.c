#include "find.h"

#include "reader/slices/walk.h"
#include "tui.h"

struct search {
	const bool *is_wanted;
	uint64_t start, offset; /* searches beyond this place, */
	bool is_forward;        /* in this direction */
	bool has_found;
	struct fxt_slice found; /* the nearest so far */
};

static bool find_is_before(uint64_t start, uint64_t offset, uint64_t other_start, uint64_t other_offset)
{
	return start != other_start ? start < other_start : offset < other_offset;
}

static inline void find_consider(struct search *s, const struct fxt_slice *slice)
{
	const struct fxt_slice *found = &s->found;

	if (!s->is_wanted[slice->name])
		return;
	if (s->is_forward ? !find_is_before(s->start, s->offset, slice->start, slice->offset)
	                  : !find_is_before(slice->start, slice->offset, s->start, s->offset))
		return;
	if (s->has_found &&
	        find_is_before(slice->start, slice->offset, found->start, found->offset) != s->is_forward)
		return;
	s->found = *slice;
	s->has_found = true;
}

static void find_enter(void *state, struct fxt_walk_frame *frame)
{
	if (!frame->is_context)
		find_consider(state, &frame->slice);
}

static void find_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	find_consider(state, slice);
}

static const struct fxt_visitor visitor = {.enter = find_enter, .leaf = find_leaf, .looks_near = true};

static void find_between(struct search *s, const struct fxt_scan *scan, uint64_t from, uint64_t to)
{
	struct fxt_walker walker;

	fxt_walk_begin(&walker, scan);
	walker.from = from;
	walker.to = to;
	while (fxt_walk_step(&walker, &visitor, s))
		/* When searching backward, anything earlier than a slice already found
		 * is of no use. */
		if (!s->is_forward && s->has_found && s->found.start > walker.from)
			walker.from = s->found.start;
	fxt_tui.is_changed |= walker.is_short;
	fxt_walk_end(&walker);
}

bool fxt_find_slice(struct fxt_slice *found, const struct fxt_scan *scan, const bool *is_wanted,
        uint64_t start, uint64_t offset, bool is_forward)
{
	struct search s = {
	        .is_wanted = is_wanted, .start = start, .offset = offset, .is_forward = is_forward};
	uint64_t length = (scan->end - scan->start) / 1024 + 1;

	if (!is_forward) {
		find_between(&s, scan, 0, start);
	} else {
		/* A slice that begins in a range of time may be in a later block that
		 * covers that time. */
		for (uint64_t from = start > scan->start ? start : scan->start;
		        !s.has_found && !fxt_tui_was_stopped() && from <= scan->end; length *= 2) {
			uint64_t to = scan->end - from > length ? from + length : scan->end;

			find_between(&s, scan, from, to);
			if (s.has_found && s.found.start > to)
				s.has_found = false;
			if (to == scan->end)
				break;
			from = to;
		}
	}
	*found = s.found;
	return s.has_found;
}
