/*
 * Plays a trace forward: walks one piece of time backwards, sorts its slices, adds the
 * pauses of threads and the lines of logs, and hands them on. Runs on the caller's thread. Memory must never hold
 * more than one piece and the open slices.
 */
#include "playback.h"

#include <stdlib.h>

#define PIECE_BYTES ((uint64_t)2 << 20)

struct events {
	struct fxt_playback_event *items;
	size_t count, room;
};

struct playback {
	const struct fxt_scan *scan;
	const struct fxt_timeline *timeline;
	const struct fxt_log_lines *lines;
	uint64_t next_line;   /* of `lines` */
	uint64_t from, to;    /* of the piece, in units of the scan; `to` itself is not
	                         inside */
	struct events events; /* of the piece */
	struct events open;   /* a heap, with the earliest end on top */
	size_t *latest;       /* by thread: 1 + the index of the last event of the piece so
	                         far */
	fxt_playback_visit *visit;
	void *state;
	bool is_over;
};

/* ---- the walk ---- */

static void playback_add(struct playback *p, const struct fxt_slice *slice, uint64_t depth)
{
	if (slice->start < p->from || slice->start >= p->to)
		return;
	fxt_make_room(p->events.items, p->events.count, p->events.room);
	p->events.items[p->events.count++] = (struct fxt_playback_event){.kind = FXT_PLAYBACK_LEAF,
	        .ns = fxt_scan_ns(p->scan, slice->start),
	        .thread = slice->thread,
	        .depth = (uint32_t)depth,
	        .slice = *slice};
}

/* A frame's word is the depth of its children. */
static void playback_enter(void *state, struct fxt_walk_frame *frame)
{
	frame->word = frame[-1].word + 1;
	playback_add(state, &frame->slice, frame->word - 1);
}

static void playback_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	playback_add(state, slice, parent->word);
}

static const struct fxt_visitor playback_visitor = {
        .enter = playback_enter, .leaf = playback_leaf, .looks_near = true};

static bool playback_walk(struct playback *p)
{
	struct fxt_walker walker;

	fxt_walk_begin(&walker, p->scan);
	walker.from = p->from;
	walker.to = p->to - 1;
	while (fxt_walk_step(&walker, &playback_visitor, p))
		;
	bool complete = !walker.is_short;

	fxt_walk_end(&walker);
	return complete;
}

/* ---- pauses and lines ---- */

/* Whether the filter hides what is no slice. */
static bool playback_shows_slices_alone(const struct playback *p)
{
	const struct fxt_filter *filter = p->scan->filter;

	return filter && (filter->names || filter->under || filter->records);
}

static void playback_add_pauses(struct playback *p)
{
	const struct fxt_filter *filter = p->scan->filter;
	uint64_t from = fxt_scan_ns(p->scan, p->from), to = fxt_scan_ns(p->scan, p->to);
	uint64_t least = filter ? fxt_scan_ns(p->scan, filter->least) : 0;
	struct fxt_stretch stretch;

	if (!p->timeline || playback_shows_slices_alone(p))
		return;
	for (uint32_t i = 1; i < p->scan->thread_count; i++) {
		uint64_t koid = p->scan->tables.threads[i].thread;
		uint64_t at = fxt_timeline_thread_at(p->timeline, koid, from);

		if (!fxt_filter_has_thread(filter, i))
			continue;
		for (; fxt_timeline_of_thread(p->timeline, at, koid, &stretch) && stretch.start < to; at++) {
			if (stretch.activity == FXT_RUNNING || stretch.start < from ||
			        stretch.end == stretch.start || stretch.end - stretch.start < least)
				continue;
			fxt_make_room(p->events.items, p->events.count, p->events.room);
			p->events.items[p->events.count++] =
			        (struct fxt_playback_event){.kind = FXT_PLAYBACK_PAUSE,
			                .ns = stretch.start,
			                .thread = i,
			                .depth = UINT32_MAX,
			                .stretch = stretch};
		}
	}
}

static void playback_add_lines(struct playback *p)
{
	const struct fxt_filter *filter = p->scan->filter;
	uint64_t from = filter ? fxt_scan_ns(p->scan, filter->from) : 0, to = fxt_scan_ns(p->scan, p->to);

	if (!p->lines || playback_shows_slices_alone(p) || (filter && filter->least > 0))
		return;
	for (; p->next_line < p->lines->lines.count; p->next_line++) {
		struct fxt_log_line line = fxt_log_lines_item(p->lines, p->next_line);

		if (line.ns >= to)
			return;
		if (line.ns < from || !fxt_filter_has_thread(filter, line.thread))
			continue;
		fxt_make_room(p->events.items, p->events.count, p->events.room);
		p->events.items[p->events.count++] = (struct fxt_playback_event){.kind = FXT_PLAYBACK_LINE,
		        .ns = line.ns,
		        .thread = line.thread,
		        .depth = UINT32_MAX,
		        .line = line};
	}
}

/* ---- what is open ---- */

static bool playback_ends_before(const struct fxt_slice *a, const struct fxt_slice *b)
{
	if (a->end != b->end)
		return a->end < b->end;
	if (a->start != b->start)
		return a->start > b->start;
	return a->offset < b->offset;
}

static void playback_open(struct playback *p, const struct fxt_playback_event *event)
{
	struct events *open = &p->open;
	size_t at;

	fxt_make_room(open->items, open->count, open->room);
	at = open->count++;
	for (; at > 0 && playback_ends_before(&event->slice, &open->items[(at - 1) / 2].slice);
	        at = (at - 1) / 2)
		open->items[at] = open->items[(at - 1) / 2];
	open->items[at] = *event;
}

static struct fxt_playback_event playback_take_first_end(struct playback *p)
{
	struct events *open = &p->open;
	struct fxt_playback_event first = open->items[0], last = open->items[--open->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < open->count &&
		        playback_ends_before(&open->items[child + 1].slice, &open->items[child].slice))
			child++;
		if (child >= open->count || !playback_ends_before(&open->items[child].slice, &last.slice))
			break;
		open->items[at] = open->items[child];
		at = child;
	}
	open->items[at] = last;
	return first;
}

/* Hands on the ends up to a moment, in ns. */
static void playback_end(struct playback *p, uint64_t until)
{
	while (!p->is_over && p->open.count > 0 &&
	        fxt_scan_ns(p->scan, p->open.items[0].slice.end) <= until) {
		struct fxt_playback_event event = playback_take_first_end(p);

		event.kind = FXT_PLAYBACK_END;
		event.ns = fxt_scan_ns(p->scan, event.slice.end);
		p->is_over = !p->visit(p->state, &event);
	}
}

/* ---- pieces ---- */

/* Orders by time; of two that begin at once, the outer one is first. */
static int playback_by_time(const void *left, const void *right)
{
	const struct fxt_playback_event *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->slice.start != b->slice.start)
		return a->slice.start < b->slice.start ? -1 : 1;
	return (a->line.offset > b->line.offset) - (a->line.offset < b->line.offset);
}

/* Determines which slices have children or lines, by the next event on their threads. A
 * slice that reaches into the next piece may have children there. */
static void playback_find_begins(struct playback *p)
{
	struct fxt_playback_event *events = p->events.items;

	for (size_t i = 0; i < p->events.count; i++) {
		size_t *latest = &p->latest[events[i].thread];
		bool is_line = events[i].kind == FXT_PLAYBACK_LINE;

		if (*latest && is_line && events[i].ns < fxt_scan_ns(p->scan, events[*latest - 1].slice.end))
			events[*latest - 1].kind = FXT_PLAYBACK_BEGIN;
		if (!fxt_playback_is_slice(&events[i]))
			continue;
		if (*latest && events[i].depth > events[*latest - 1].depth)
			events[*latest - 1].kind = FXT_PLAYBACK_BEGIN;
		*latest = i + 1;
	}
	for (size_t i = 0; i < p->events.count; i++) {
		size_t *latest = &p->latest[events[i].thread];

		if (*latest == i + 1 && events[i].slice.end >= p->to)
			events[i].kind = FXT_PLAYBACK_BEGIN;
	}
	for (size_t i = 0; i < p->events.count; i++)
		p->latest[events[i].thread] = 0;
}

static bool playback_piece(struct playback *p)
{
	p->events.count = 0;
	bool complete = playback_walk(p);

	playback_add_pauses(p);
	playback_add_lines(p);
	if (p->events.count > 1)
		qsort(p->events.items, p->events.count, sizeof(*p->events.items), playback_by_time);
	playback_find_begins(p);
	for (size_t i = 0; i < p->events.count && !p->is_over; i++) {
		const struct fxt_playback_event *event = &p->events.items[i];

		playback_end(p, event->ns);
		if (!p->is_over)
			p->is_over = !p->visit(p->state, event);
		if (event->kind == FXT_PLAYBACK_BEGIN)
			playback_open(p, event);
	}
	return complete;
}

struct block_end {
	uint64_t time;
	uint64_t bytes;
};

static int playback_by_end(const void *left, const void *right)
{
	const struct block_end *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

static struct block_end *playback_block_ends(const struct fxt_scan *scan)
{
	struct block_end *ends = fxt_resize(NULL, scan->block_count + 1, sizeof(*ends));

	for (size_t i = 0; i < scan->block_count; i++)
		ends[i] = (struct block_end){scan->blocks[i].end, scan->blocks[i].bytes};
	if (scan->block_count > 1)
		qsort(ends, scan->block_count, sizeof(*ends), playback_by_end);
	return ends;
}

bool fxt_playback(const struct fxt_scan *scan, const struct fxt_timeline *timeline,
        const struct fxt_log_lines *lines, const struct fxt_playback_sizes *sizes, fxt_playback_visit *visit,
        void *state)
{
	struct playback p = {.scan = scan,
	        .timeline = timeline,
	        .lines = lines,
	        .visit = visit,
	        .state = state,
	        .latest = fxt_allocate((scan->thread_count + 1) * sizeof(*p.latest))};
	uint64_t from = scan->filter ? scan->filter->from : 0, to = UINT64_MAX;
	uint64_t piece = sizes ? sizes->piece_bytes : PIECE_BYTES, bytes = 0;
	struct block_end *ends = playback_block_ends(scan);
	bool complete = true;

	if (from < scan->start)
		from = scan->start;
	if (scan->filter && scan->filter->to < to)
		to = scan->filter->to;
	p.from = from;
	for (size_t i = 0; i <= scan->block_count && p.from < to && !p.is_over; i++) {
		bool is_last = i == scan->block_count;

		if (!is_last && ends[i].time < p.from)
			continue;
		bytes += is_last ? 0 : ends[i].bytes;
		if (!is_last && bytes < piece)
			continue;
		p.to = is_last || ends[i].time >= to ? to : ends[i].time + 1;
		complete &= playback_piece(&p);
		p.from = p.to;
		bytes = 0;
	}
	playback_end(&p, UINT64_MAX);
	free(ends);
	free(p.events.items);
	free(p.open.items);
	free(p.latest);
	return complete;
}
