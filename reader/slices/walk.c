/*
 * The backward pass, except for the parts inlined from walk.h: it undoes table changes,
 * feeds in slices that are out of order, and shares the ranges among threads. Runs on the
 * caller's thread and on the workers that fxt_walk() starts. Workers must change nothing of
 * the scan.
 */
#include "walk.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/progress.h"
#include "writer/shared/atomics.h"

/* A stack that is at least this deep moves its outer half to the file, once all stacks of
 * the walker together have FRAMES_IN_MEMORY frames in memory. */
enum { DEEP = 2 * FXT_WALK_CHUNK, FRAMES_IN_MEMORY = 16384 };

enum { LIFTED = 16 }; /* out-of-order slices of a thread that are read at once */
enum { WORKERS_MAX = 64 };

/* About the memory that a worker needs for a provider, and for a thread and its
 * functions. */
enum { PROVIDER_BYTES = 256, THREAD_BYTES = 512 };

/* Shared by all walkers: the ranges; each walker takes some of them. */
struct fxt_walk_share {
	const struct fxt_scan *scan;
	void (*walk)(struct fxt_walker *walker, void *state);
	size_t ranges_left; /* atomic: the ranges before this index are not taken yet */
	bool is_short;      /* atomic: some walker could not read what the scan had read */
};

/* ---- going back ---- */

static void walk_undo(struct fxt_walker *w, uint64_t down_to)
{
	while (w->changes_left > 0) {
		uint64_t last = w->changes_left - 1;

		if (last < w->changes_first) {
			w->changes_first = last < FXT_WALK_CHANGES ? 0 : last - (FXT_WALK_CHANGES - 1);
			fxt_spill_read(&w->scan->changes, w->changes_first,
			        (size_t)(last - w->changes_first) + 1, w->changes);
		}
		const struct fxt_change *change = &w->changes[last - w->changes_first];

		if (change->offset < down_to)
			return;
		fxt_tables_undo(&w->tables, change);
		w->changes_left--;
	}
}

void fxt_walk_begin_stack(struct fxt_stack *stack)
{
	stack->room = 2;
	stack->frames = fxt_resize(NULL, stack->room, sizeof(*stack->frames));
	stack->frames[0] = (struct fxt_walk_frame){.covered_from = UINT64_MAX};
}

/* Appends a chunk of frames to the outer frames of a stack. */
static void walk_file_chunk(struct fxt_stack *stack, const struct fxt_walk_frame *frames)
{
	struct fxt_walk_outer *outer = stack->outer;
	uint64_t chunk = outer->free;

	if (chunk > 0) {
		outer->free = outer->before[chunk - 1];
		fxt_spill_put(&outer->chunks, chunk - 1, frames);
	} else {
		fxt_make_room(outer->before, outer->chunks.count, outer->room);
		fxt_spill_add(&outer->chunks, frames);
		chunk = outer->chunks.count;
	}
	outer->before[chunk - 1] = stack->chunk;
	stack->chunk = chunk;
}

void fxt_walk_grow(struct fxt_stack *stack, bool looks_near)
{
	struct fxt_walk_outer *outer = stack->outer;

	if (looks_near && stack->room >= DEEP && outer->frames >= FRAMES_IN_MEMORY) {
		size_t filed = stack->room / 2;

		for (size_t i = 0; i < filed; i += FXT_WALK_CHUNK)
			walk_file_chunk(stack, stack->frames + i);
		stack->top -= filed;
		memmove(stack->frames, stack->frames + filed, (stack->top + 1) * sizeof(*stack->frames));
		return;
	}
	outer->frames += stack->room;
	stack->room *= 2;
	stack->frames = fxt_resize(stack->frames, stack->room, sizeof(*stack->frames));
}

/* Fetches the chunk around the one frame that is left in memory, so that it has a
 * parent. */
void fxt_walk_fetch_outer(struct fxt_stack *stack)
{
	struct fxt_walk_outer *outer = stack->outer;
	uint64_t chunk = stack->chunk;

	stack->frames[FXT_WALK_CHUNK] = stack->frames[0];
	stack->top = FXT_WALK_CHUNK;
	fxt_spill_read(&outer->chunks, chunk - 1, 1, stack->frames);
	stack->chunk = outer->before[chunk - 1];
	outer->before[chunk - 1] = outer->free;
	outer->free = chunk;
}

/* The last of a thread's out_of_order slices that are not done. */
static const struct fxt_slice *walk_last_out_of_order(struct fxt_walker *w, uint32_t thread)
{
	struct fxt_stack *stack = &w->stacks[thread];
	uint64_t last = w->scan->out_of_order_of[thread].first + stack->out_of_order_left - 1;

	if (!stack->out_of_order)
		stack->out_of_order = fxt_resize(NULL, LIFTED, sizeof(*stack->out_of_order));
	if (last < stack->out_of_order_first) {
		uint64_t first = w->scan->out_of_order_of[thread].first;

		if (last - first >= LIFTED)
			first = last - (LIFTED - 1);
		fxt_spill_read(
		        &w->scan->out_of_order, first, (size_t)(last - first) + 1, stack->out_of_order);
		for (uint64_t i = 0; i <= last - first; i++)
			stack->out_of_order[i].name = fxt_scan_settled(
			        w->scan, stack->out_of_order[i].name, stack->out_of_order[i].category);
		stack->out_of_order_first = first;
	}
	return &stack->out_of_order[last - stack->out_of_order_first];
}

void fxt_walk_out_of_order(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state,
        uint32_t thread, const struct fxt_place *down_to)
{
	struct fxt_stack *stack = &w->stacks[thread];

	while (stack->out_of_order_left > 0) {
		const struct fxt_slice *slice = walk_last_out_of_order(w, thread);
		struct fxt_place place = fxt_place(slice);

		stack->out_of_order_end = place.end;
		if (!fxt_is_before(down_to, &place))
			return;
		fxt_walk_thread(w, visitor, state, thread);
		fxt_walk_enter(stack, visitor, state, slice, false, w->filter, w->scan->folded);
		stack->out_of_order_left--;
	}
}

void fxt_walk_record(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state, size_t word)
{
	struct fxt_record r = {.words = w->window + word, .offset = w->block->offset + 8 * (uint64_t)word};
	struct fxt_view view;

	r.size = fxt_record_words(r.words[0]);
	bool is_slice = fxt_record_type(r.words[0]) == FXT_RECORD_EVENT &&
	                fxt_field(r.words[0], 16, 4) == FXT_EVENT_DURATION_COMPLETE;
	bool is_out_of_order = is_slice && fxt_walk_is_out_of_order(w, r.offset);

	if (fxt_record_type(r.words[0]) != FXT_RECORD_EVENT)
		walk_undo(w, r.offset);
	if ((!is_slice || is_out_of_order) && !visitor->record)
		return;
	if (fxt_decode(&r, &view) != NULL)
		return;
	if (visitor->record)
		visitor->record(state, w, &view, r.offset);
	if (!is_slice || is_out_of_order)
		return;
	struct fxt_slice slice = fxt_scan_slice(w->scan, &w->tables, &view, r.offset);
	struct fxt_place place = fxt_place(&slice);

	if (slice.end < slice.start)
		return;
	if (fxt_scan_is_span(w->scan, slice.category))
		slice.name = fxt_tables_find_span(&w->scan->tables, slice.name, slice.category);
	if (fxt_walk_has_out_of_order(&w->stacks[slice.thread], slice.end))
		fxt_walk_out_of_order(w, visitor, state, slice.thread, &place);
	fxt_walk_thread(w, visitor, state, slice.thread);
	fxt_walk_enter(&w->stacks[slice.thread], visitor, state, &slice, false, w->filter, w->scan->folded);
}

/* ---- blocks ---- */

/* True for records that matter to the walk: slices, and changes of the tables. */
static bool walk_is_of_interest(uint64_t header)
{
	switch (fxt_record_type(header)) {
	case FXT_RECORD_EVENT:
		return fxt_field(header, 16, 4) == FXT_EVENT_DURATION_COMPLETE;
	case FXT_RECORD_METADATA:
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_STRING:
	case FXT_RECORD_THREAD:
		return true;
	default:
		return false;
	}
}

static void walk_divide_block(struct fxt_walker *w, size_t count)
{
	const uint64_t *words = w->window;
	size_t segments = 0;

	for (size_t at = 0; at < count;) {
		uint64_t header = words[at];
		size_t size = fxt_record_words(header);

		if (size == 0 || size > count - at) {
			w->is_short = true;
			break;
		}
		if (fxt_is_plain_call(header)) {
			size_t end = at + 3;

			while (end + 3 <= count && ((words[end] ^ header) & FXT_PLAIN_CALL_BITS) == 0)
				end += 3;
			w->segments[segments++] =
			        (struct fxt_segment){(uint32_t)at, (uint32_t)((end - at) / 3)};
			at = end;
			continue;
		}
		if (w->takes_records || walk_is_of_interest(header))
			w->segments[segments++] = (struct fxt_segment){(uint32_t)at, 0};
		at += size;
	}
	w->segment_count = segments;
}

/* Ends the walk: nothing before this block or range is read. */
static void walk_stop(struct fxt_walker *w)
{
	w->blocks_left = 0;
	if (w->share)
		store_relaxed(&w->share->ranges_left, 0); /* orders nothing */
}

bool fxt_walk_read_block(struct fxt_walker *w, const struct fxt_scan_block *block)
{
	w->block = block;
	if (fxt_source_read(w->scan->source, block->offset, w->window, block->bytes) < block->bytes) {
		w->is_short = true;
		return false;
	}
	/* Blocks go from the last to the first. */
	if (w->tells && !fxt_progress_report("reading again", w->scan->source->bytes - block->offset,
	                        w->scan->source->bytes))
		walk_stop(w);
	if (block->is_plain) {
		w->segments[0] = (struct fxt_segment){0, block->bytes / 24};
		w->segment_count = 1;
	} else {
		walk_divide_block(w, block->bytes / 8);
	}
	w->strays_left = block->strays;
	if (block->strays > 0)
		fxt_spill_read(&w->scan->strays, block->first_stray, block->strays, w->strays);
	return true;
}

/* ---- ranges ---- */

/* The last slice in order of each thread before a boundary. Behind the last range, every
 * slice is before the boundary. */
static struct fxt_place walk_last_place(const struct fxt_scan *scan, size_t range, uint32_t thread)
{
	if (range == scan->range_count)
		return (struct fxt_place){UINT64_MAX, 0, UINT64_MAX};
	if (range > 0 && thread < scan->ranges[range].thread_count)
		return scan->ranges[range].last[thread];
	return (struct fxt_place){.start = UINT64_MAX};
}

void fxt_walk_end_range(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state)
{
	for (uint32_t i = 0; i < w->scan->thread_count; i++) {
		struct fxt_stack *stack = &w->stacks[i];
		struct fxt_place last = walk_last_place(w->scan, w->range, i);

		if (stack->out_of_order_left > 0)
			fxt_walk_out_of_order(w, visitor, state, i, &last);
		if (stack->top > 0)
			fxt_walk_thread(w, visitor, state, i);
		while (stack->top > 0)
			fxt_walk_leave(stack, visitor, state);
		if (stack->frames)
			stack->frames[0].covered_from = UINT64_MAX;
	}
}

static int walk_latest_first(const void *left, const void *right)
{
	const struct fxt_slice *a = left, *b = right;
	struct fxt_place a_place = fxt_place(a), b_place = fxt_place(b);

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return fxt_is_before(&a_place, &b_place) ? 1 : -1;
}

/* Finds the slices that may be open at the end of a range: those that stand behind it in
 * the file, or were out_of_order there. */
static size_t walk_find_contexts(struct fxt_walker *w, size_t end, struct fxt_slice **contexts)
{
	const struct fxt_scan *scan = w->scan;
	size_t count = 0, room = 0;
	struct fxt_slice slice;

	for (uint64_t i = scan->across.count; i-- > 0; count++) {
		fxt_spill_read(&scan->across, i, 1, &slice);
		if (slice.offset < scan->ranges[end].offset)
			break;
		fxt_make_room(*contexts, count, room);
		slice.name = fxt_scan_settled(scan, slice.name, slice.category);
		(*contexts)[count] = slice;
	}
	for (uint32_t thread = 0; thread < scan->thread_count; thread++) {
		struct fxt_place last = walk_last_place(scan, end, thread), place;
		struct fxt_stack *stack = &w->stacks[thread];

		stack->out_of_order_left = scan->out_of_order_of[thread].count;
		stack->out_of_order_first = stack->out_of_order_end = UINT64_MAX;
		for (; stack->out_of_order_left > 0; stack->out_of_order_left--, count++) {
			slice = *walk_last_out_of_order(w, thread);
			place = fxt_place(&slice);
			if (!fxt_is_before(&last, &place))
				break;
			fxt_make_room(*contexts, count, room);
			(*contexts)[count] = slice;
		}
	}
	return count;
}

static void walk_begin_range(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state)
{
	size_t end = w->range + 1;
	struct fxt_slice *contexts = NULL;

	if (end == w->scan->range_count)
		return;
	walk_undo(w, w->scan->ranges[end].offset);
	size_t count = walk_find_contexts(w, end, &contexts);

	if (count > 1)
		qsort(contexts, count, sizeof(*contexts), walk_latest_first);
	for (size_t i = 0; i < count; i++) {
		fxt_walk_thread(w, visitor, state, contexts[i].thread);
		fxt_walk_enter(&w->stacks[contexts[i].thread], visitor, state, &contexts[i], true, w->filter,
		        w->scan->folded);
	}
	free(contexts);
}

static bool walk_take_range(struct fxt_walk_share *share, size_t *range)
{
	size_t left = load_relaxed(&share->ranges_left);

	do {
		if (left == 0)
			return false;
		*range = left - 1;
		/* orders nothing */
	} while (!compare_exchange_acquire(&share->ranges_left, &left, left - 1));
	return true;
}

bool fxt_walk_next_range(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state)
{
	size_t next = 0;
	bool taken = walk_take_range(w->share, &next);

	if (w->has_range && (!taken || next + 1 != w->range))
		fxt_walk_end_range(w, visitor, state);
	if (taken && (!w->has_range || next + 1 != w->range)) {
		w->range = next;
		walk_begin_range(w, visitor, state);
	}
	w->range = next;
	w->has_range = taken;
	return taken;
}

/* ---- walkers ---- */

struct worker {
	struct fxt_walk_share *share;
	void *state;
	pthread_t thread;
	bool is_caller; /* runs on the thread that called fxt_walk() */
};

const struct fxt_scan_block *fxt_walk_next_block(struct fxt_walker *w)
{
	while (w->blocks_left > 0) {
		const struct fxt_scan_block *block = &w->scan->blocks[--w->blocks_left];

		if (block->start > w->to || block->end < w->from || (block->is_plain && w->omits_plain))
			continue;
		/* Undoes the changes in skipped blocks between this one and the one
		 * before. */
		walk_undo(w, block->offset + block->bytes);
		return block;
	}
	return NULL;
}

void fxt_walk_begin(struct fxt_walker *w, const struct fxt_scan *scan)
{
	*w = (struct fxt_walker){.scan = scan,
	        .filter = scan->filter,
	        .thread = UINT32_MAX,
	        .blocks_left = scan->block_count,
	        .to = UINT64_MAX,
	        .tells = true};
	fxt_tables_view(&w->tables, &scan->tables);
	w->changes_left = scan->changes.count;
	w->changes_first = UINT64_MAX;
	w->window = fxt_resize(NULL, FXT_BLOCK_BYTES, 1);
	/* A record has at least one word, a slice three. */
	w->segments = fxt_resize(NULL, FXT_BLOCK_BYTES / 8, sizeof(*w->segments));
	w->strays = fxt_resize(NULL, FXT_BLOCK_BYTES / 24 + 1, sizeof(*w->strays));
	w->outer = fxt_allocate(sizeof(*w->outer));
	fxt_spill_init(&w->outer->chunks, FXT_WALK_CHUNK * sizeof(struct fxt_walk_frame), 0);
	w->stacks = fxt_allocate(scan->thread_count * sizeof(*w->stacks));
	for (size_t i = 0; i < scan->thread_count; i++) {
		struct fxt_stack *stack = &w->stacks[i];

		stack->out_of_order_left = scan->out_of_order_of[i].count;
		stack->out_of_order_first = stack->out_of_order_end = UINT64_MAX;
		stack->outer = w->outer;
	}
}

void fxt_walk_end(struct fxt_walker *w)
{
	if (w->tells)
		fxt_progress_end();
	for (size_t i = 0; i < w->scan->thread_count; i++) {
		free(w->stacks[i].frames);
		free(w->stacks[i].out_of_order);
	}
	free(w->stacks);
	fxt_spill_free(&w->outer->chunks);
	free(w->outer->before);
	free(w->outer);
	free(w->strays);
	free(w->segments);
	free(w->window);
	fxt_tables_free(&w->tables);
}

static void *walk_work(void *argument)
{
	struct worker *worker = argument;
	struct fxt_walker walker;

	fxt_walk_begin(&walker, worker->share->scan);
	walker.share = worker->share;
	walker.tells = worker->is_caller;
	worker->share->walk(&walker, worker->state);
	if (walker.is_short)
		store_relaxed(&worker->share->is_short, true); /* read once the thread is joined */
	fxt_walk_end(&walker);
	return NULL;
}

bool fxt_walk(const struct fxt_scan *scan, void (*walk)(struct fxt_walker *walker, void *state), void *states,
        size_t state_bytes, unsigned count)
{
	struct fxt_walk_share share = {.scan = scan, .walk = walk, .ranges_left = scan->range_count};
	struct worker workers[WORKERS_MAX];
	unsigned started = 1;

	if (count > WORKERS_MAX)
		count = WORKERS_MAX;
	for (unsigned i = 0; i < count; i++)
		workers[i] = (struct worker){.share = &share, .state = (char *)states + i * state_bytes};
	/* If no more threads can be created, the existing ones do all of it. */
	while (started < count &&
	        pthread_create(&workers[started].thread, NULL, walk_work, &workers[started]) == 0)
		started++;
	workers[0].is_caller = true;
	walk_work(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	return !share.is_short;
}

unsigned fxt_walk_workers(const struct fxt_scan *scan)
{
	size_t most = scan->range_count < WORKERS_MAX ? scan->range_count : WORKERS_MAX;
	uint64_t worker_bytes =
	        scan->tables.provider_count * PROVIDER_BYTES + scan->thread_count * THREAD_BYTES;
	cpu_set_t processors;
	int count = 1;

	/* Each worker has all providers and threads for itself, so a trace of little else
	 * gets few workers. */
	if (most > 1 + scan->source->bytes / worker_bytes)
		most = 1 + (size_t)(scan->source->bytes / worker_bytes);

	if (sched_getaffinity(0, sizeof(processors), &processors) == 0)
		count = CPU_COUNT(&processors);
	return count < 1 || most < 1 ? 1 : (size_t)count < most ? (unsigned)count : (unsigned)most;
}
