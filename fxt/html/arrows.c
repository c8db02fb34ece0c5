/*
 * Writes arrows from thread to thread: the flows that the program says, and messages of
 * MPI. Runs on the main thread. A trace may have an arrow a call, so only the longest are
 * written.
 */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ARROWS_MAX = 4000 }; /* an arrow takes about 30 bytes of the page */

struct arrow {
	const struct fxt_hop_event *from, *to;
};

static int arrows_by_flow_and_time(const void *left, const void *right)
{
	const struct fxt_hop_event *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int arrows_longest_first(const void *left, const void *right)
{
	const struct arrow *a = left, *b = right;
	uint64_t of_a = a->to->ns - a->from->ns, of_b = b->to->ns - b->from->ns;

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static bool arrows_shows(const struct fxt_html *page, const struct fxt_hop_event *event)
{
	return page->threads[event->thread].count > 0 &&
	       fxt_filter_has_thread(page->scan->filter, event->thread) &&
	       fxt_filter_has_time(page->scan->filter, page->scan->in_ticks ? event->ticks : event->ns);
}

static struct arrow *arrows_find(struct fxt_html *page, size_t *count)
{
	struct fxt_hop_event *events = page->hops->events;
	size_t event_count = page->hops->event_count;
	struct arrow *arrows = fxt_allocate((event_count + 1) * sizeof(*arrows));

	if (event_count > 1)
		qsort(events, event_count, sizeof(*events), arrows_by_flow_and_time);
	*count = 0;
	for (size_t i = 1; i < event_count; i++)
		if (events[i].process == events[i - 1].process && events[i].id == events[i - 1].id &&
		        events[i].thread != events[i - 1].thread && arrows_shows(page, &events[i - 1]) &&
		        arrows_shows(page, &events[i]))
			arrows[(*count)++] = (struct arrow){&events[i - 1], &events[i]};
	if (*count > 1)
		qsort(arrows, *count, sizeof(*arrows), arrows_longest_first);
	return arrows;
}

void fxt_html_arrows(struct fxt_html *page)
{
	uint64_t start = fxt_scan_ns(page->scan, page->scan->start);
	size_t count, shown;
	struct arrow *arrows = arrows_find(page, &count);

	shown = count < ARROWS_MAX ? count : ARROWS_MAX;
	fprintf(page->out, "\"arrows_not_drawn\": %zu,\n\"arrows\": [", count - shown);
	for (size_t i = 0; i < shown; i++)
		fprintf(page->out, "%s[%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 "]", i > 0 ? "," : "\n",
		        arrows[i].from->thread, arrows[i].from->ns - start, arrows[i].to->thread,
		        arrows[i].to->ns - start);
	fputs("]", page->out);
	free(arrows);
}
