#include "heap_play.h"

#include <math.h>
#include <stdlib.h>
#include "heap_pointers.h"

/* How much later than its successor's allocation a free may seem to be. */
#define DISORDER_NS 100000

#define PLACES_MIN ((size_t)1 << 16)

/* ---- the window: a binary heap, the earliest event on top ---- */

struct fxt_heap_window {
	struct fxt_heap_event *events;
	size_t count, room;
	uint64_t taken;
};

static bool is_earlier(const struct fxt_heap_event *a, const struct fxt_heap_event *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static void put(struct fxt_heap_window *w, const struct fxt_heap_event *event)
{
	size_t at = w->count;

	fxt_make_room(w->events, w->count, w->room);
	w->count++;
	for (; at > 0 && is_earlier(event, &w->events[(at - 1) / 2]); at = (at - 1) / 2)
		w->events[at] = w->events[(at - 1) / 2];
	w->events[at] = *event;
}

static struct fxt_heap_event take_earliest(struct fxt_heap_window *w)
{
	struct fxt_heap_event earliest = w->events[0], last = w->events[--w->count];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < w->count; at = child) {
		if (child + 1 < w->count && is_earlier(&w->events[child + 1], &w->events[child]))
			child++;
		if (!is_earlier(&w->events[child], &last))
			break;
		w->events[at] = w->events[child];
	}
	w->events[at] = last;
	return earliest;
}

/* ---- what lies where ---- */

struct place {
	uint64_t pointer;
	uint64_t size;
	uint64_t number;     /* of the block that lives there, from 1; 0 = none */
	uint64_t owed_until; /* a free up to then is that of the block before */
	double weight;       /* blocks it stands for */
	uint32_t node;
};

/* Open addressing that knows no removal: now and then it is made anew from what is still of use. */
struct fxt_heap_places {
	struct place *items;
	size_t count, room, limit;
	struct fxt_index index;
};

static void clear_out(struct fxt_heap_places *places, uint64_t now)
{
	size_t kept = 0;

	fxt_index_free(&places->index);
	places->index = (struct fxt_index){0};
	for (size_t i = 0; i < places->count; i++) {
		struct place *place = &places->items[i];

		if (place->number == 0 && place->owed_until <= now)
			continue;
		places->items[kept] = *place;
		fxt_index_add(&places->index, fxt_hash_word(place->pointer), (uint32_t)kept++);
	}
	places->count = kept;
	places->limit = 2 * kept > PLACES_MIN ? 2 * kept : PLACES_MIN;
}

static struct place *find_place(struct fxt_heap_places *places, uint64_t pointer, uint64_t now)
{
	uint32_t hash = fxt_hash_word(pointer);

	for (struct fxt_probe probe = fxt_probe(&places->index, hash);
	        fxt_probe_next(&places->index, &probe);)
		if (places->items[probe.id].pointer == pointer)
			return &places->items[probe.id];
	if (places->count >= places->limit)
		clear_out(places, now);
	fxt_make_room(places->items, places->count, places->room);
	fxt_index_add(&places->index, hash, (uint32_t)places->count);
	places->items[places->count] = (struct place){.pointer = pointer};
	return &places->items[places->count++];
}

/* ---- sums ---- */

static void add(struct fxt_heap_sums *sums, const struct place *block, double sign)
{
	sums->blocks += sign * block->weight;
	sums->bytes += sign * block->weight * (double)block->size;
	/* A block stands for at least one: what is less is what rounding left. */
	if (sums->blocks < 0.5)
		*sums = (struct fxt_heap_sums){0};
}

/* Before a node changes: what it had at the latest peak. */
static void take_down(struct fxt_heap_node *node, const struct fxt_heap_process *p)
{
	if (node->peaks == p->peaks)
		return;
	node->at_peak = node->live;
	node->allocated_at_peak = node->allocated;
	node->peaks = p->peaks;
}

static void begin_block(struct fxt_heap *h, struct fxt_heap_process *p, const struct place *block)
{
	struct fxt_heap_node *node = &h->nodes[block->node];
	unsigned band = 0;

	while (band < FXT_HEAP_BANDS - 1 && block->size > UINT64_C(1) << band)
		band++;
	take_down(node, p);
	add(&node->live, block, 1);
	add(&node->allocated, block, 1);
	add(&p->live, block, 1);
	add(&p->allocated, block, 1);
	add(&p->by_size[band], block, 1);
	if (h->with_pointers)
		fxt_heap_remember(p, block->pointer, block->size, block->node);
}

static void end_block(struct fxt_heap *h, struct fxt_heap_process *p, const struct place *block)
{
	struct fxt_heap_node *node = &h->nodes[block->node];

	take_down(node, p);
	add(&node->live, block, -1);
	add(&p->live, block, -1);
	p->frees += block->weight;
	if (h->with_pointers)
		fxt_heap_forget(p, block->pointer, block->size);
}

/* All events of a time are played. */
static void end_time(struct fxt_heap *h, struct fxt_heap_process *p)
{
	if (p->live.bytes > p->at_peak.bytes) {
		p->at_peak = p->live;
		p->peak = p->now;
		p->peaks++;
	}
	if (h->step && p == &h->processes[h->step_process])
		h->step(h->step_context, p->now, p->live);
}

/* ---- playing ---- */

static double weight(const struct fxt_heap_process *p, uint64_t size)
{
	return p->sample_bytes ? 1 / -expm1(-(double)(size ? size : 1) / (double)p->sample_bytes) : 1;
}

static void play_allocation(struct fxt_heap *h, struct fxt_heap_process *p, struct place *place,
        const struct fxt_heap_event *event)
{
	if (place->number) {
		end_block(h, p, place);
		place->owed_until = event->ns + DISORDER_NS;
		p->repaired++;
	}
	place->number = ++h->block_count;
	place->size = event->size;
	place->node = event->node;
	place->weight = weight(p, event->size);
	begin_block(h, p, place);
	h->latest[event->thread] = place->number;
}

static void play_free(struct fxt_heap *h, struct fxt_heap_process *p, struct place *place,
        const struct fxt_heap_event *event)
{
	if (event->ns < place->owed_until) {
		place->owed_until = 0;
	} else if (!place->number) {
		p->unknown_frees++;
	} else {
		if (h->latest[event->thread] == place->number) {
			add(&h->nodes[place->node].temporary, place, 1);
			add(&p->temporary, place, 1);
		}
		end_block(h, p, place);
		place->number = 0;
	}
	h->latest[event->thread] = 0;
}

static void play(struct fxt_heap *h, const struct fxt_heap_event *event)
{
	struct fxt_heap_process *p = &h->processes[event->process];

	if (event->kind == FXT_HEAP_MENTION) { /* a little late is no matter */
		fxt_heap_mention(h, event);
		return;
	}
	if (event->ns < p->now) {
		h->out_of_order = true;
		return;
	}
	if (p->first == UINT64_MAX)
		p->first = p->now = event->ns;
	if (event->ns > p->now)
		end_time(h, p);
	p->now = p->last = event->ns;
	fxt_make_zeroed(h->latest, h->latest_count, event->thread);
	struct place *place = find_place(p->places, event->pointer, event->ns);

	if (event->kind == FXT_HEAP_ALLOCATION)
		play_allocation(h, p, place, event);
	else
		play_free(h, p, place, event);
}

void fxt_heap_take(struct fxt_heap *h, struct fxt_heap_event *event)
{
	struct fxt_heap_process *p = &h->processes[event->process];

	if (!p->window) {
		p->window = fxt_allocate(sizeof(*p->window));
		p->places = fxt_allocate(sizeof(*p->places));
		p->places->limit = PLACES_MIN;
	}
	event->order = p->window->taken++;
	put(p->window, event);
	if (p->window->count > h->window_events) {
		struct fxt_heap_event earliest = take_earliest(p->window);

		play(h, &earliest);
	}
}

static void add_leaks(struct fxt_heap *h, struct fxt_heap_process *p)
{
	for (size_t i = 0; i < p->places->count; i++) {
		const struct place *place = &p->places->items[i];

		if (place->number) {
			add(&h->nodes[place->node].leaked, place, 1);
			add(&p->leaked, place, 1);
		}
	}
}

void fxt_heap_finish(struct fxt_heap *h)
{
	for (size_t i = 0; i < h->process_count && !h->out_of_order; i++) {
		struct fxt_heap_process *p = &h->processes[i];

		if (!p->window)
			continue;
		while (p->window->count && !h->out_of_order) {
			struct fxt_heap_event earliest = take_earliest(p->window);

			play(h, &earliest);
		}
		end_time(h, p);
		add_leaks(h, p);
		fxt_heap_end(p);
	}
	for (size_t i = 0; i < h->node_count; i++)
		take_down(&h->nodes[i], &h->processes[h->nodes[i].process]);
}

void fxt_heap_end(struct fxt_heap_process *p)
{
	if (p->window)
		free(p->window->events);
	if (p->places) {
		free(p->places->items);
		fxt_index_free(&p->places->index);
	}
	fxt_heap_forget_all(p);
	free(p->window);
	free(p->places);
	p->window = NULL;
	p->places = NULL;
}
