/*
 * Plays a heap's events in the order of their times: keeps the live block of each address,
 * and the sums of nodes and processes. Runs on the thread that reads the archive. Clocks of
 * processors may differ a little, so a free near an allocation must be matched with care.
 */
#include "heap_play.h"

#include <math.h>
#include <stdlib.h>
#include "heap_pointers.h"

/* The greatest apparent delay of a free behind the allocation that reuses its address. */
#define DISORDER_NS 100000

/* The greatest apparent lead of a free by another thread before its own block's allocation:
 * a processor reads its clock ahead of instructions that still wait, such as the load that
 * finds the block. */
#define EARLY_NS 1000

#define ADDRESSES_MIN ((size_t)1 << 16)

/* ---- addresses: which block lives there ---- */

struct address {
	uint64_t pointer;
	uint64_t size;
	uint64_t number;       /* of the live block at this address, from 1; 0 = none */
	uint64_t owed_until;   /* a free up to then belongs to the previous block */
	uint64_t early_until;  /* an allocation up to then belongs to a block that was freed
	                          already */
	uint32_t early_thread; /* the thread that freed it */
	uint64_t start;
	double weight; /* blocks it stands for */
	uint32_t thread;
	uint32_t node;
};

/* The index cannot remove entries, so play_drop_unused_addresses() builds it anew whenever
 * it has doubled. */
struct fxt_heap_addresses {
	struct address *items;
	size_t count, room, limit;
	struct fxt_index index;
};

static void play_drop_unused_addresses(struct fxt_heap_addresses *addresses, uint64_t now)
{
	size_t kept = 0;

	fxt_index_free(&addresses->index);
	addresses->index = (struct fxt_index){0};
	for (size_t i = 0; i < addresses->count; i++) {
		struct address *at = &addresses->items[i];

		if (at->number == 0 && at->owed_until <= now)
			continue;
		addresses->items[kept] = *at;
		fxt_index_add(&addresses->index, fxt_hash_word(at->pointer), (uint32_t)kept++);
	}
	addresses->count = kept;
	addresses->limit = 2 * kept > ADDRESSES_MIN ? 2 * kept : ADDRESSES_MIN;
}

static struct address *play_find_address(struct fxt_heap_addresses *addresses, uint64_t pointer, uint64_t now)
{
	uint32_t hash = fxt_hash_word(pointer);

	for (struct fxt_probe probe = fxt_probe(&addresses->index, hash);
	        fxt_probe_next(&addresses->index, &probe);)
		if (addresses->items[probe.id].pointer == pointer)
			return &addresses->items[probe.id];
	if (addresses->count >= addresses->limit)
		play_drop_unused_addresses(addresses, now);
	fxt_make_room(addresses->items, addresses->count, addresses->room);
	fxt_index_add(&addresses->index, hash, (uint32_t)addresses->count);
	addresses->items[addresses->count] = (struct address){.pointer = pointer};
	return &addresses->items[addresses->count++];
}

/* ---- sums ---- */

static void play_add_block(struct fxt_heap_sums *sums, const struct address *block, double sign)
{
	sums->blocks += sign * block->weight;
	sums->bytes += sign * block->weight * (double)block->size;
	/* A block stands for at least one; a smaller rest comes from rounding. */
	if (sums->blocks < 0.5)
		*sums = (struct fxt_heap_sums){0};
}

/* Called before a node changes. If it has not changed since the latest peak, notes its sums
 * at that peak. */
static void play_note_peak(struct fxt_heap_node *node, const struct fxt_heap_process *p)
{
	if (node->peaks == p->peaks)
		return;
	node->at_peak = node->live;
	node->allocated_at_peak = node->allocated;
	node->peaks = p->peaks;
}

static void play_begin_block(struct fxt_heap *h, struct fxt_heap_process *p, const struct address *block)
{
	struct fxt_heap_node *node = &h->nodes[block->node];
	unsigned band = 0;

	while (band < FXT_HEAP_BANDS - 1 && block->size > UINT64_C(1) << band)
		band++;
	play_note_peak(node, p);
	play_add_block(&node->live, block, 1);
	play_add_block(&node->allocated, block, 1);
	play_add_block(&p->live, block, 1);
	play_add_block(&p->allocated, block, 1);
	play_add_block(&p->by_size[band], block, 1);
	if (h->with_pointers)
		fxt_heap_remember(p, block->pointer, block->size, block->node);
}

static void play_report_ended(struct fxt_heap *h, const struct fxt_heap_process *p,
        const struct address *block, struct fxt_heap_block told)
{
	if (!h->ended)
		return;
	told.pointer = block->pointer;
	told.size = block->size;
	told.start = block->start;
	told.process = (uint32_t)(p - h->processes);
	told.node = block->node;
	told.thread = block->thread;
	told.weight = block->weight;
	h->ended(h->step_context, &told);
}

static void play_end_block(struct fxt_heap *h, struct fxt_heap_process *p, const struct address *block,
        const struct fxt_heap_event *event, bool is_temporary)
{
	struct fxt_heap_node *node = &h->nodes[block->node];

	play_report_ended(h, p, block,
	        (struct fxt_heap_block){
	                .end = event->ns, .end_thread = event->thread, .is_temporary = is_temporary});
	play_note_peak(node, p);
	play_add_block(&node->live, block, -1);
	play_add_block(&p->live, block, -1);
	p->frees += block->weight;
	if (h->with_pointers)
		fxt_heap_forget(p, block->pointer, block->size);
}

static uint64_t play_whole(double number)
{
	return (uint64_t)(number + 0.5);
}

static uint64_t play_with_above(uint64_t played, int64_t above)
{
	return above < 0 && played < -(uint64_t)above ? 0 : played + (uint64_t)above;
}

/* Between two of the agent's sums, the live bytes and blocks are interpolated by blocks;
 * samples are too rough for that. */
static void play_add_to_curves(struct fxt_heap_process *p)
{
	struct fxt_live_point point = {
	        .ns = p->now, .bytes = play_whole(p->live.bytes), .objects = play_whole(p->live.blocks)};

	fxt_live_curve_add(&p->played, point);
	if (p->has_sums && (p->is_summed || p->sample_bytes == 0)) {
		point.bytes = play_with_above(point.bytes, p->bytes_above);
		point.objects = play_with_above(point.objects, p->objects_above);
		fxt_live_curve_add(&p->summed, point);
	}
	p->is_summed = false;
}

/* Called once all events of one nanosecond are played. Only then does the state count as a
 * peak or a step. */
static void play_end_moment(struct fxt_heap *h, struct fxt_heap_process *p)
{
	if (p->live.bytes > p->at_peak.bytes) {
		p->at_peak = p->live;
		p->peak = p->now;
		p->peaks++;
	}
	if (h->with_curves)
		play_add_to_curves(p);
	if (h->step && p == &h->processes[h->step_process])
		h->step(h->step_context, p->now, p->live);
}

/* ---- playing ---- */

static double play_block_weight(const struct fxt_heap_process *p, uint64_t size)
{
	return p->sample_bytes ? 1 / -expm1(-(double)(size ? size : 1) / (double)p->sample_bytes) : 1;
}

static void play_allocation(struct fxt_heap *h, struct fxt_heap_process *p, struct address *at,
        const struct fxt_heap_event *event)
{
	if (at->number) {
		play_end_block(h, p, at, event, false);
		at->owed_until = event->ns + DISORDER_NS;
	}
	at->number = ++h->block_count;
	at->size = event->size;
	at->node = event->node;
	at->start = event->ns;
	at->thread = event->thread;
	at->weight = play_block_weight(p, event->size);
	play_begin_block(h, p, at);
	h->latest[event->thread] = at->number;
	if (event->ns < at->early_until && event->thread != at->early_thread) {
		play_end_block(h, p, at, event, false);
		at->number = 0;
		p->unknown_frees--;
	}
	at->early_until = 0;
}

static void play_free(struct fxt_heap *h, struct fxt_heap_process *p, struct address *at,
        const struct fxt_heap_event *event)
{
	if (event->ns < at->owed_until) {
		at->owed_until = 0;
	} else if (!at->number) {
		p->unknown_frees++;
		/* Once a block was freed at an address, a later free there cannot belong to
		 * a block older than the recording. */
		at->early_until = at->start ? event->ns + EARLY_NS : 0;
		at->early_thread = event->thread;
	} else {
		bool is_temporary = h->latest[event->thread] == at->number;

		if (is_temporary) {
			play_add_block(&h->nodes[at->node].temporary, at, 1);
			play_add_block(&p->temporary, at, 1);
		}
		play_end_block(h, p, at, event, is_temporary);
		at->number = 0;
	}
	h->latest[event->thread] = 0;
}

static void play_sums(struct fxt_heap_process *p, const struct fxt_heap_event *event)
{
	p->bytes_above = (int64_t)(event->size - play_whole(p->live.bytes));
	p->objects_above = (int64_t)(event->pointer - play_whole(p->live.blocks));
	p->has_sums = p->is_summed = true;
}

static void play_event(struct fxt_heap *h, const struct fxt_heap_event *event)
{
	struct fxt_heap_process *p = &h->processes[event->process];

	if (event->kind == FXT_HEAP_MENTION) { /* a late mention changes no sum */
		if (event->ns <= h->until)
			fxt_heap_mention(h, event);
		return;
	}
	if (event->ns < p->now) {
		h->out_of_order = true;
		return;
	}
	if (event->ns > h->until) {
		p->goes_on = true;
		return;
	}
	if (event->ns > p->now && p->now > 0)
		play_end_moment(h, p);
	p->now = event->ns;
	if (event->kind == FXT_HEAP_SUMS) {
		play_sums(p, event);
		return;
	}
	if (p->first == UINT64_MAX)
		p->first = event->ns;
	p->last = event->ns;
	fxt_make_zeroed(h->latest, h->latest_count, event->thread);
	struct address *at = play_find_address(p->addresses, event->pointer, event->ns);

	if (event->kind == FXT_HEAP_ALLOCATION)
		play_allocation(h, p, at, event);
	else
		play_free(h, p, at, event);
}

void fxt_heap_take(struct fxt_heap *h, struct fxt_heap_event *event)
{
	struct fxt_heap_process *p = &h->processes[event->process];

	if (!p->window) {
		p->window = fxt_allocate(sizeof(*p->window));
		p->addresses = fxt_allocate(sizeof(*p->addresses));
		p->addresses->limit = ADDRESSES_MIN;
	}
	fxt_make_zeroed(h->rows, h->row_count, event->thread);
	fxt_heap_window_put(p->window, h->rows, event);
	if (p->window->count > h->window_events) {
		struct fxt_heap_event earliest;

		fxt_heap_window_take(p->window, h->rows, &earliest);
		play_event(h, &earliest);
	}
}

/* Ends the live blocks: they leaked, or are gone with the image of their process. */
static void play_end_living(struct fxt_heap *h, struct fxt_heap_process *p)
{
	bool is_gone = p->is_replaced && !p->goes_on;
	const struct fxt_heap_block told = {.end = p->last,
	        .end_thread = FXT_NOTHING,
	        .fate = is_gone ? FXT_HEAP_BLOCK_REPLACED : FXT_HEAP_BLOCK_LEAKED};

	for (size_t i = 0; i < p->addresses->count; i++) {
		const struct address *at = &p->addresses->items[i];

		if (!at->number)
			continue;
		play_report_ended(h, p, at, told);
		if (!is_gone) {
			play_add_block(&h->nodes[at->node].leaked, at, 1);
			play_add_block(&p->leaked, at, 1);
		}
	}
}

void fxt_heap_finish(struct fxt_heap *h)
{
	struct fxt_heap_event event;

	for (size_t i = 0; i < h->process_count && !h->out_of_order; i++) {
		struct fxt_heap_process *p = &h->processes[i];

		if (!p->window)
			continue;
		while (!h->out_of_order && fxt_heap_window_take(p->window, h->rows, &event))
			play_event(h, &event);
		play_end_moment(h, p);
		play_end_living(h, p);
		fxt_heap_end(h, p);
	}
	for (size_t i = 0; i < h->node_count; i++)
		play_note_peak(&h->nodes[i], &h->processes[h->nodes[i].process]);
}

void fxt_heap_end(const struct fxt_heap *h, struct fxt_heap_process *p)
{
	if (p->window)
		fxt_heap_window_end(p->window, h->rows);
	if (p->addresses) {
		free(p->addresses->items);
		fxt_index_free(&p->addresses->index);
	}
	fxt_heap_forget_all(p);
	free(p->window);
	free(p->addresses);
	p->window = NULL;
	p->addresses = NULL;
}
