/*
 * The second of two passes over a trace (the first is scan.h). It reads backward. On each
 * thread it therefore goes from callers down to their callees, with the stack of open calls
 * at hand.
 *
 *   thread      main  0 ............................... 100     read backwards:  enter main
 *                 f      10 ........ 50   g 60 .. 90                             leaf g, of main
 *                   g       25 .. 35                                             enter f; leaf g, of f;
 *                                                                                leave f; leave main
 *
 * A struct fxt_visitor consumes the slices. Its functions are called for each slice:
 * enter() and leave(), with the slice's children between them, or leaf(), if the slice has
 * no children. Each thread's calls of these functions come in the order of time, backwards.
 * Threads are interleaved as they are in the file.
 *
 * A trace is walked by ranges, from the last to the first, by one thread or by several. A
 * slice that is open across the boundary of two ranges has a frame in each: in one of them
 * the slice itself, in the others a context. Every such range calls enter() and leave() for
 * it, with the part of its children that lies in that range. Sums are right if a context
 * counts for nothing by itself: then all ranges together add up the same as a single
 * walker, however the trace was divided.
 *
 * With a filter (filter.h) only chosen slices are handed out, all of them by enter() and
 * leave(). A visitor that needs the unfiltered context sets walker->filter to NULL.
 *
 * Folded functions (fxt_scan.folded) are not handed out where another call is around them.
 * Their own time is then that of the nearest call around them that is handed out, and that
 * call is the caller of the calls they make. So sums over all functions stay the same.
 *
 * The walk is inlined into its caller, together with the functions of a constant visitor.
 * Two calls through pointers for each slice would take as long as all the rest.
 *
 *   static const struct fxt_visitor visitor = {.enter = …, .leave = …, .leaf = …};
 *
 *   static void walk(struct fxt_walker *walker, void *state)
 *   {
 *           fxt_walk_ranges(walker, &visitor, state);
 *   }
 *
 *   fxt_walk(&scan, walk, states, count);
 *
 * A caller that prefers to ask owns a walker and steps it block by block, through the whole
 * trace or through the part around a stretch of time:
 *
 *   fxt_walk_begin(&walker, &scan);
 *   walker.from = …, walker.to = …;
 *   while (fxt_walk_step(&walker, &visitor, state))
 *           …;
 *   fxt_walk_end(&walker);
 */
#ifndef FXT_READER_WALK_H
#define FXT_READER_WALK_H

#include "scan.h"

struct fxt_walker;

/* An open slice on the stack of its thread. The previous frame in memory is the slice
 * around it. The first frame of a stack is no slice: it stands for the thread. */
struct fxt_walk_frame {
	struct fxt_slice slice;
	uint64_t inside;       /* time covered by direct children; overlaps count once */
	uint64_t calls;        /* direct children that are calls */
	uint64_t all_calls;    /* calls at any depth inside; known in leave() */
	uint64_t folded;       /* calls whose own time is part of this slice's */
	uint64_t covered_from; /* start of the earliest child so far */
	uint64_t word;         /* the visitor's own; at first 0, or the parent frame's word if this
	                          one is hidden */
	bool is_context;
	bool is_hidden; /* by the filter: the visitor has not seen it */
	bool is_under;  /* inside a function of the filter's `under`, or one itself */
};

/* Any function may be NULL. */
struct fxt_visitor {
	/* The slices that follow belong to this thread. Called when the thread changes. */
	void (*thread)(void *state, uint32_t thread);
	void (*enter)(void *state, struct fxt_walk_frame *frame);
	void (*leave)(void *state, const struct fxt_walk_frame *frame);
	/* Never called for a context. `parent`, the frame around the slice, may be a
	 * context. */
	void (*leaf)(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent);
	/* Gets every record except plain calls, in the reverse of the file's
	 * order, with the walker's tables as they are at that record. A slice's record
	 * comes before the slice itself, if it can be distinguished from plain calls. Only
	 * for a walker with takes_records. */
	void (*record)(void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset);
	/* Call enter() and leave() for hidden slices too. */
	bool sees_hidden;
	/* The functions use no frame except the one they get and the one around it. Frames
	 * farther out may then be in a file, so a deep stack takes no memory. */
	bool looks_near;
};

/*
 * Walks the whole trace with as many threads as there are states, but at most one for each
 * range. Each thread calls `walk` once with a state of its own, of state_bytes. The first
 * thread is the caller's own. Returns false if something that the scan has read could not
 * be read again: the file was cut short in between, and the sums lack that part.
 */
bool fxt_walk(const struct fxt_scan *scan, void (*walk)(struct fxt_walker *walker, void *state), void *states,
        size_t state_bytes, unsigned count);

/* The number of threads that are of use: the processors that this process may run on, but
 * at most the number of ranges. */
unsigned fxt_walk_workers(const struct fxt_scan *scan);

/* ---- inside ---- */

/* The outer frames of deep stacks, in chunks of FXT_WALK_CHUNK frames. One file serves
 * all threads of a walker. A chunk's number is 1 more than its index in the spill; 0 is
 * none. */
struct fxt_walk_outer {
	struct fxt_spill chunks;
	uint64_t *before; /* by index: the next chunk outward, or the next free one */
	size_t room;
	uint64_t free;
	size_t frames; /* in memory: the room of all stacks */
};

enum { FXT_WALK_CHUNK = 512 };

struct fxt_stack {
	struct fxt_walk_frame *frames; /* NULL: no slice of the thread was seen yet */
	size_t top;                    /* index of the innermost frame */
	size_t room;
	uint64_t chunk; /* with the frames around frames[0] */
	struct fxt_walk_outer *outer;
	uint64_t out_of_order_left;     /* out-of-order slices of the thread that are not
	                                   done; the later ones are done */
	uint64_t out_of_order_end;      /* no earlier than the end of the last of these: slices
	                                   that end later come before all of them */
	struct fxt_slice *out_of_order; /* some of these, as read from the spill */
	uint64_t out_of_order_first;    /* the index of the first of these */
};

/* Plain calls of one thread and category, or one other record (calls = 0). */
struct fxt_segment {
	uint32_t word; /* where it begins in the block */
	uint32_t calls;
};

enum { FXT_WALK_CHANGES = 64 };

struct fxt_walker {
	const struct fxt_scan *scan;
	const struct fxt_filter *filter; /* the scan's; set it to NULL before the first
	                                    step to get everything */
	struct fxt_walk_share *share;
	struct fxt_tables tables; /* a view, with the state at the walker's position */
	uint64_t changes_left;    /* still to be undone */
	struct fxt_change changes[FXT_WALK_CHANGES];
	uint64_t changes_first;   /* the index of the first of these */
	struct fxt_stack *stacks; /* by thread */
	struct fxt_walk_outer *outer;
	uint32_t thread; /* of the slices that the visitor gets */
	size_t range;    /* being walked */
	bool has_range;
	bool is_short; /* something could not be read */
	bool tells;    /* reports progress (progress.h) */

	const struct fxt_scan_block *block; /* the one in the window */
	uint64_t *window;
	struct fxt_segment *segments;
	size_t segment_count;
	uint64_t *strays; /* offsets, ascending; the later ones are done */
	size_t strays_left;

	/* for callers that go block by block */
	size_t blocks_left;
	uint64_t from, to;  /* blocks that lie wholly before or after this time are skipped */
	bool takes_records; /* for the visitor's record() */
	bool omits_plain;   /* skip blocks of nothing but plain calls too */
};

/* Begins a walker of all ranges, at the end of the trace. */
void fxt_walk_begin(struct fxt_walker *w, const struct fxt_scan *scan);
void fxt_walk_end(struct fxt_walker *w);

const struct fxt_scan_block *fxt_walk_next_block(struct fxt_walker *w);
void fxt_walk_end_range(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state);
bool fxt_walk_next_range(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state);
bool fxt_walk_read_block(struct fxt_walker *w, const struct fxt_scan_block *block);
void fxt_walk_record(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state, size_t word);
void fxt_walk_out_of_order(struct fxt_walker *w, const struct fxt_visitor *visitor, void *state,
        uint32_t thread, const struct fxt_place *down_to);
void fxt_walk_grow(struct fxt_stack *stack, bool looks_near);
void fxt_walk_fetch_outer(struct fxt_stack *stack);
void fxt_walk_begin_stack(struct fxt_stack *stack);

static inline __attribute__((always_inline)) void fxt_walk_thread(
        struct fxt_walker *w, const struct fxt_visitor *visitor, void *state, uint32_t thread)
{
	if (w->thread == thread)
		return;
	w->thread = thread;
	if (__builtin_expect(!w->stacks[thread].frames, 0))
		fxt_walk_begin_stack(&w->stacks[thread]);
	if (visitor->thread)
		visitor->thread(state, thread);
}

static inline __attribute__((always_inline)) void fxt_walk_leave(
        struct fxt_stack *stack, const struct fxt_visitor *visitor, void *state)
{
	struct fxt_walk_frame *frame = &stack->frames[stack->top];

	frame[-1].all_calls += frame->all_calls + (frame->slice.is_call && !frame->is_context);
	if (visitor->leave && (!frame->is_hidden || visitor->sees_hidden))
		visitor->leave(state, frame);
	stack->top--;
	if (visitor->looks_near && __builtin_expect(stack->top == 0, 0) && stack->chunk > 0)
		fxt_walk_fetch_outer(stack);
}

/* Finds the frame around a slice that starts at `start`: frames that begin later are
 * left. */
static inline __attribute__((always_inline)) struct fxt_walk_frame *fxt_walk_parent(
        struct fxt_stack *stack, const struct fxt_visitor *visitor, void *state, uint64_t start)
{
	while (stack->frames[stack->top].slice.start > start)
		fxt_walk_leave(stack, visitor, state);
	return &stack->frames[stack->top];
}

static inline __attribute__((always_inline)) void fxt_walk_count_inside(
        struct fxt_walk_frame *parent, const struct fxt_slice *slice)
{
	uint64_t end = slice->end < parent->covered_from ? slice->end : parent->covered_from;

	if (slice->start < end)
		parent->inside += end - slice->start;
	parent->calls += slice->is_call;
}

/* Pushes a frame for a slice, or for what the filter has left of it. */
static inline __attribute__((always_inline)) struct fxt_walk_frame *fxt_walk_push(struct fxt_stack *stack,
        const struct fxt_visitor *visitor, void *state, const struct fxt_slice *slice, bool is_context)
{
	struct fxt_walk_frame *parent = fxt_walk_parent(stack, visitor, state, slice->start);

	if (!is_context)
		fxt_walk_count_inside(parent, slice);
	if (slice->start < parent->covered_from)
		parent->covered_from = slice->start;
	if (stack->top + 1 == stack->room)
		fxt_walk_grow(stack, visitor->looks_near);
	struct fxt_walk_frame *frame = &stack->frames[++stack->top];

	/* Member by member: a copy of the whole would read the slice in other pieces than
	 * it was just written in, and the processor waits for that. */
	frame->slice.start = slice->start;
	frame->slice.end = slice->end;
	frame->slice.offset = slice->offset;
	frame->slice.thread = slice->thread;
	frame->slice.name = slice->name;
	frame->slice.category = slice->category;
	frame->slice.is_call = slice->is_call;
	frame->slice.is_inherited = slice->is_inherited;
	frame->slice.is_open = slice->is_open;
	frame->inside = frame->calls = frame->all_calls = frame->folded = frame->word = 0;
	frame->covered_from = slice->end;
	frame->is_context = is_context;
	frame->is_hidden = frame->is_under = false;
	return frame;
}

/* Decides whether a slice is part of the slice around it, and counts it there if so. */
static inline __attribute__((always_inline)) bool fxt_walk_folds(
        const bool *folded, const struct fxt_slice *slice, struct fxt_walk_frame *parent, bool is_context)
{
	if (!folded || !folded[slice->name] || !(slice->is_call || slice->is_inherited) ||
	        !(parent->slice.is_call || parent->slice.is_inherited))
		return false;
	if (slice->is_call && !is_context) {
		parent->folded++;
		parent->all_calls++;
	}
	return true;
}

/* Without a filter, `filter` is the constant NULL. */
static inline __attribute__((always_inline)) void fxt_walk_enter(struct fxt_stack *stack,
        const struct fxt_visitor *visitor, void *state, const struct fxt_slice *slice, bool is_context,
        const struct fxt_filter *filter, const bool *folded)
{
	struct fxt_slice left = *slice;
	struct fxt_walk_frame *frame;

	if (filter && !fxt_filter_cut(filter, &left))
		return;
	if (fxt_walk_folds(folded, slice, fxt_walk_parent(stack, visitor, state, left.start), is_context))
		return;
	if (!filter) {
		frame = fxt_walk_push(stack, visitor, state, slice, is_context);
		if (visitor->enter)
			visitor->enter(state, frame);
		return;
	}
	frame = fxt_walk_push(stack, visitor, state, &left, is_context);
	frame->is_under = frame[-1].is_under || (filter->under && filter->under[slice->name]);
	frame->is_hidden = !fxt_filter_shows(filter, slice, frame->is_under);
	if (frame->is_hidden)
		frame->word = frame[-1].word;
	if (visitor->enter && (!frame->is_hidden || visitor->sees_hidden))
		visitor->enter(state, frame);
}

/* Whether slices out of order may come before one that ends then. */
static inline bool fxt_walk_has_out_of_order(const struct fxt_stack *stack, uint64_t end)
{
	return stack->out_of_order_left > 0 && stack->out_of_order_end >= end;
}

static inline bool fxt_walk_is_out_of_order(struct fxt_walker *w, uint64_t offset)
{
	if (w->strays_left == 0 || w->strays[w->strays_left - 1] != offset)
		return false;
	w->strays_left--;
	return true;
}

static inline __attribute__((always_inline)) void fxt_walk_plain_calls(struct fxt_walker *w,
        const struct fxt_visitor *visitor, void *state, const struct fxt_segment *segment, bool in_ticks,
        bool is_careful)
{
	const struct fxt_provider_tables *provider = w->tables.provider;
	const uint64_t *words = w->window + segment->word;
	uint32_t thread = fxt_provider_thread(provider, fxt_field(words[0], 24, 8));
	uint32_t category = fxt_provider_string(provider, fxt_field(words[0], 32, 15));
	bool is_call = fxt_scan_is_call(w->scan, category);
	bool is_inherited = category == w->scan->inherited_category;
	bool shares_names = w->scan->tables.shared_spans > 0 && fxt_scan_is_span(w->scan, category);
	struct fxt_stack *stack = &w->stacks[thread];
	const bool *folded = w->scan->folded;
	uint64_t before = words[3 * (size_t)segment->calls - 1];

	fxt_walk_thread(w, visitor, state, thread);
	if (!in_ticks)
		before = fxt_rate_ns(&provider->rate, before);
	for (size_t i = segment->calls; i-- > 0;) {
		const uint64_t *record = words + 3 * i;
		uint64_t start = in_ticks ? record[1] : fxt_rate_ns(&provider->rate, record[1]), end = before;
		uint64_t offset = w->block->offset + 8 * (segment->word + 3 * (uint64_t)i);
		uint32_t name = fxt_provider_string(provider, fxt_field(record[0], 48, 15));

		if (__builtin_expect(shares_names, 0))
			name = fxt_tables_find_span(&w->scan->tables, name, category);
		if (i > 0)
			before = in_ticks ? record[-1] : fxt_rate_ns(&provider->rate, record[-1]);
		if (!is_careful && i > 0 && before < start) {
			/* A variable of its own, so that the compiler can keep it in
			 * registers. */
			struct fxt_slice leaf = {
			        start, end, offset, thread, name, category, is_call, is_inherited, false};
			struct fxt_walk_frame *parent = fxt_walk_parent(stack, visitor, state, start);

			if (fxt_walk_folds(folded, &leaf, parent, false))
				continue;
			fxt_walk_count_inside(parent, &leaf);
			parent->all_calls += is_call;
			parent->covered_from = start;
			if (visitor->leaf)
				visitor->leaf(state, &leaf, parent);
			continue;
		}
		struct fxt_slice slice = {
		        start, end, offset, thread, name, category, is_call, is_inherited, false};

		if (is_careful) {
			struct fxt_place place = fxt_place(&slice);

			if (end < start || fxt_walk_is_out_of_order(w, slice.offset))
				continue;
			if (fxt_walk_has_out_of_order(stack, end))
				fxt_walk_out_of_order(w, visitor, state, thread, &place);
		}
		fxt_walk_enter(stack, visitor, state, &slice, false, is_careful ? w->filter : NULL, folded);
	}
}

static inline __attribute__((always_inline)) void fxt_walk_segment(struct fxt_walker *w,
        const struct fxt_visitor *visitor, void *state, const struct fxt_segment *segment)
{
	const struct fxt_provider_tables *provider = w->tables.provider;
	const uint64_t *first = w->window + segment->word;

	/* A segment in order begins with the call that ends first. */
	if (segment->calls == 0)
		fxt_walk_record(w, visitor, state, segment->word);
	else if (!w->scan->in_ticks)
		fxt_walk_plain_calls(w, visitor, state, segment, false, true);
	else if (w->block->is_careful || w->filter ||
	         fxt_walk_has_out_of_order(
	                 &w->stacks[fxt_provider_thread(provider, fxt_field(first[0], 24, 8))], first[2]))
		fxt_walk_plain_calls(w, visitor, state, segment, true, true);
	else
		fxt_walk_plain_calls(w, visitor, state, segment, true, false);
}

static inline __attribute__((always_inline)) void fxt_walk_block(struct fxt_walker *w,
        const struct fxt_visitor *visitor, void *state, const struct fxt_scan_block *block)
{
	if (!fxt_walk_read_block(w, block))
		return;
	for (size_t i = w->segment_count; i-- > 0;)
		fxt_walk_segment(w, visitor, state, &w->segments[i]);
}

/* Walks the ranges that this walker takes. */
static inline __attribute__((always_inline)) void fxt_walk_ranges(
        struct fxt_walker *w, const struct fxt_visitor *visitor, void *state)
{
	while (fxt_walk_next_range(w, visitor, state)) {
		const struct fxt_scan *scan = w->scan;
		size_t first = scan->ranges[w->range].first_block;
		size_t last = w->range + 1 < scan->range_count ? scan->ranges[w->range + 1].first_block
		                                               : scan->block_count;

		while (last > first)
			fxt_walk_block(w, visitor, state, &scan->blocks[--last]);
	}
}

/*
 * Walks one more of the blocks that have something between `from` and `to`. Both may change
 * between two steps. A slice of a skipped block is never pushed on the stack. A slice has
 * the right caller, depth and `inside` if the blocks of everything inside it are among
 * those walked. Returns false after the last block, when all slices were left.
 */
static inline __attribute__((always_inline)) bool fxt_walk_step(
        struct fxt_walker *w, const struct fxt_visitor *visitor, void *state)
{
	const struct fxt_scan_block *block = fxt_walk_next_block(w);

	if (block)
		fxt_walk_block(w, visitor, state, block);
	else
		fxt_walk_end_range(w, visitor, state);
	return block != NULL;
}

#endif
