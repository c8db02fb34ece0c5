#include "window.h"

#include "tui.h"

/* An item takes about 50 bytes. */
enum { SLICES_MAX = 100000, ACTIVITY_MAX = 40000 };

static struct fxt_window_lanes whole, part;

void fxt_window_boundaries(uint64_t *first, uint64_t *last)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	const struct fxt_filter *filter = scan->filter;

	*first = filter && filter->from > scan->start ? filter->from : scan->start;
	*last = filter && filter->to < scan->end ? filter->to : scan->end;
	if (*last > *first)
		return;
	*first -= *first == UINT64_MAX;
	*last = *first + 1;
}

static void window_free(struct fxt_window_lanes *lanes)
{
	fxt_lanes_free(&lanes->slices);
	fxt_lanes_free(&lanes->activity);
	lanes->is_read = false;
}

void fxt_window_free(void)
{
	window_free(&whole);
	window_free(&part);
}

/* Reads the lanes again. Returns NULL if that was stopped; the lanes then stay as they
 * were. */
static const struct fxt_window_lanes *window_read(struct fxt_window_lanes *lanes, uint64_t from, uint64_t to)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	struct fxt_window_lanes read = {.from = from, .to = to, .is_read = true};

	fxt_tui_busy("reading the timeline");
	fxt_lanes_init(&read.slices, SLICES_MAX);
	fxt_lanes_init(&read.activity, ACTIVITY_MAX);
	fxt_tui.is_changed |= !fxt_lanes_add_slices(&read.slices, scan, from, to);
	if (fxt_tui_was_stopped()) {
		window_free(&read);
		return NULL;
	}
	fxt_lanes_add_activity(&read.activity, scan, &fxt_tui.times->timeline, fxt_tui.threads,
	        fxt_scan_ns(scan, from), fxt_scan_ns(scan, to));
	window_free(lanes);
	*lanes = read;
	return lanes;
}

static bool window_is_fine(const struct fxt_window_lanes *lanes, uint64_t ns, unsigned columns)
{
	return lanes->slices.width <= ns / columns && lanes->activity.width <= ns / columns;
}

const struct fxt_window_lanes *fxt_window_read(uint64_t from, uint64_t to, unsigned columns)
{
	uint64_t ns = fxt_scan_ns(fxt_tui.scan, to - from), length = to - from, first, last;

	fxt_window_boundaries(&first, &last);
	if (whole.is_read && window_is_fine(&whole, ns, columns))
		return &whole;
	/* Reads the surroundings of the range too, for small moves. If the lanes of this
	 * small range are too coarse, there are no finer ones. */
	uint64_t begin = from - first > length ? from - length : first;
	uint64_t end = last - to > length ? to + length : last;

	if (begin == first && end == last)
		return whole.is_read ? &whole : window_read(&whole, first, last);
	if (part.is_read && part.from <= from && part.to >= to &&
	        (window_is_fine(&part, ns, columns) || (part.to - part.from) / 3 <= length))
		return &part;
	return window_read(&part, begin, end);
}
