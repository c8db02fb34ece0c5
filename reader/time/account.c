/*
 * Walks over the time of requested calls and divides it into accounts. Runs on the caller's
 * thread, with one walker, so that there are no contexts. The parts of an account must sum
 * to its time exactly, whatever the trace lacks.
 */
#include "account.h"

#include <stdlib.h>
#include <string.h>
#include "account_cells.h"

/* One thread's accounts to make, as a range of `order`, and the time that they span. */
struct fxt_span_of_accounts {
	size_t first, count;
	uint64_t start, end;
};

/* The time of a call, or of several that overlap: in units of the scan. */
struct fxt_call_time {
	uint64_t from, to;
};

void fxt_accounts_init(struct fxt_accounts *a, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_faults *faults, struct fxt_waits *waits)
{
	*a = (struct fxt_accounts){.scan = scan, .timeline = timeline, .faults = faults, .waits = waits};
	fxt_paths_init(&a->paths);
}

void fxt_accounts_free(struct fxt_accounts *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->items[i].cells);
		fxt_spill_free(&a->items[i].waited);
		fxt_index_free(&a->items[i].index);
	}
	free(a->items);
	free(a->times);
	fxt_paths_free(&a->paths);
	*a = (struct fxt_accounts){0};
}

static size_t account_add(struct fxt_accounts *a, struct fxt_account account)
{
	account.left = account.end;
	account.stretch = UINT64_MAX;
	fxt_spill_init(&account.waited, sizeof(struct fxt_cell_of_time),
	        fxt_spill_bytes_of_thread((uint32_t)a->count));
	fxt_make_room(a->items, a->count, a->room);
	a->items[a->count] = account;
	return a->count++;
}

size_t fxt_accounts_add_call(struct fxt_accounts *a, const struct fxt_slice *call)
{
	fxt_make_room(a->times, a->time_count, a->time_room);
	a->times[a->time_count++] = (struct fxt_call_time){call->start, call->end};
	uint64_t start = fxt_scan_ns(a->scan, call->start);

	/* The end is the start plus the rounded-down length: the difference of two rounded
	 * times may be one more. */
	return account_add(a, (struct fxt_account){.thread = call->thread,
	                              .start = start,
	                              .end = start + fxt_scan_ns(a->scan, call->end - call->start),
	                              .offset = call->offset});
}

size_t fxt_accounts_add_stretch(struct fxt_accounts *a, uint32_t thread, uint64_t start, uint64_t end)
{
	return account_add(
	        a, (struct fxt_account){.thread = thread, .start = start, .end = end < start ? start : end});
}

/* ---- the walk ---- */

/* A frame's word is its path plus 1; 0: no account overlaps it. */
static uint32_t account_path(const struct fxt_walk_frame *frame)
{
	return frame->word ? (uint32_t)(frame->word - 1) : 0;
}

static struct fxt_account_piece account_piece(struct fxt_accounts *a, const struct fxt_walk_frame *frame,
        const struct fxt_slice *leaf, uint32_t path)
{
	const struct fxt_slice *slice = leaf ? leaf : &frame->slice;
	struct fxt_account_piece piece = {.path = path};

	if (slice->offset == 0)
		return piece;
	piece.of_tracer = !slice->is_call && slice->category == a->scan->tracer_category;
	if (slice->category != a->scan->sync_category)
		return piece;
	ptrdiff_t wait = fxt_waits_find(a->waits, slice->offset);

	/* A slice inside a wait belongs to the wait. */
	if (wait < 0 && leaf && frame->slice.category == a->scan->sync_category)
		wait = fxt_waits_find(a->waits, frame->slice.offset);
	piece.wait = (uint32_t)(wait + 1);
	return piece;
}

/* Loops over the accounts of the thread that a slice overlaps. */
#define ACCOUNT_EACH(a, slice, from, to, account)                                                         \
	for (size_t at_ = (a)->of_thread[(slice)->thread].first,                                          \
	            last_ = at_ + (a)->of_thread[(slice)->thread].count;                                  \
	        at_ < last_; at_++)                                                                       \
		for (struct fxt_account *account = &(a)->items[(a)->order[at_]]; account; account = NULL) \
			if ((from) < account->end && (to) >= account->start)

static bool account_reaches(const struct fxt_accounts *a, uint32_t thread, uint64_t start, uint64_t end)
{
	const struct fxt_span_of_accounts *of = &a->of_thread[thread];

	return of->count > 0 && start < of->end && end >= of->start;
}

static void account_count(const struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_slice *slice, uint32_t path)
{
	if (slice->is_call)
		fxt_account_counts(a, account, path)->calls++;
}

/* A slice begins, seen from its end: the time behind it belongs to the slice around it. */
static void account_begin(struct fxt_accounts *a, const struct fxt_slice *slice,
        const struct fxt_walk_frame *parent, uint32_t path, uint64_t start, uint64_t end)
{
	uint32_t around = account_path(parent);
	struct fxt_account_piece piece = account_piece(a, parent, NULL, around);

	ACCOUNT_EACH(a, slice, start, end, account)
	{
		fxt_account_take(a, account, &piece, end);
		if (slice->offset == account->offset)
			account->path = path;
		if (start >= account->start)
			account_count(a, account, slice, path);
	}
}

static void account_enter(void *state, struct fxt_walk_frame *frame)
{
	struct fxt_accounts *a = state;
	uint64_t start = fxt_scan_ns(a->scan, frame->slice.start);
	uint64_t end = fxt_scan_ns(a->scan, frame->slice.end);

	fxt_waits_add(a->waits, a->scan, &frame->slice, frame - 1);
	if (!account_reaches(a, frame->slice.thread, start, end))
		return;
	uint32_t path = fxt_paths_of_slice(&a->paths, account_path(frame - 1), &frame->slice);

	frame->word = (uint64_t)path + 1;
	account_begin(a, &frame->slice, frame - 1, path, start, end);
}

static void account_leave(void *state, const struct fxt_walk_frame *frame)
{
	struct fxt_accounts *a = state;
	uint64_t start = fxt_scan_ns(a->scan, frame->slice.start);
	uint64_t end = fxt_scan_ns(a->scan, frame->slice.end);

	if (!account_reaches(a, frame->slice.thread, start, end))
		return;
	struct fxt_account_piece piece = account_piece(a, frame, NULL, account_path(frame));

	/* A wait's child, "woken", is a leaf; the rest of the wait is its own time. */
	ACCOUNT_EACH(a, &frame->slice, start, end, account)
	{
		fxt_account_take(a, account, &piece, start);
	}
}

static void account_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct fxt_accounts *a = state;
	uint64_t start = fxt_scan_ns(a->scan, slice->start), end = fxt_scan_ns(a->scan, slice->end);

	fxt_waits_add(a->waits, a->scan, slice, parent);
	if (!account_reaches(a, slice->thread, start, end))
		return;
	uint32_t path = fxt_paths_of_slice(&a->paths, account_path(parent), slice);

	account_begin(a, slice, parent, path, start, end);
	struct fxt_account_piece piece = account_piece(a, parent, slice, path);

	ACCOUNT_EACH(a, slice, start, end, account)
	{
		fxt_account_take(a, account, &piece, start);
	}
}

static const struct fxt_visitor account_visitor = {
        .enter = account_enter, .leave = account_leave, .leaf = account_leaf};

static int account_by_thread(const void *left, const void *right, void *context)
{
	const struct fxt_account *items = context;
	const struct fxt_account *a = &items[*(const uint32_t *)left], *b = &items[*(const uint32_t *)right];

	return (a->thread > b->thread) - (a->thread < b->thread);
}

static int account_by_begin(const void *left, const void *right)
{
	const struct fxt_call_time *a = left, *b = right;

	return (a->from > b->from) - (a->from < b->from);
}

/* Merges times that overlap or touch, so that a nanosecond is in at most one of them. */
static void account_join_times(struct fxt_accounts *a)
{
	size_t last = 0;

	if (a->time_count == 0)
		return;
	qsort(a->times, a->time_count, sizeof(*a->times), account_by_begin);
	for (size_t i = 1; i < a->time_count; i++) {
		if (fxt_scan_ns(a->scan, a->times[i].from) > fxt_scan_ns(a->scan, a->times[last].to))
			a->times[++last] = a->times[i];
		else if (a->times[i].to > a->times[last].to)
			a->times[last].to = a->times[i].to;
	}
	a->time_count = last + 1;
}

/* Selects the accounts of that time to make. Returns their number. */
static size_t account_prepare(struct fxt_accounts *a, const struct fxt_call_time *time)
{
	uint64_t from = fxt_scan_ns(a->scan, time->from), to = fxt_scan_ns(a->scan, time->to);
	size_t count = 0;

	memset(a->of_thread, 0, a->scan->thread_count * sizeof(*a->of_thread));
	for (size_t i = a->done; i < a->count; i++)
		if (a->items[i].start >= from && a->items[i].start <= to)
			a->order[count++] = (uint32_t)i;
	if (count > 1)
		qsort_r(a->order, count, sizeof(*a->order), account_by_thread, a->items);
	for (size_t i = 0; i < count; i++) {
		const struct fxt_account *account = &a->items[a->order[i]];
		struct fxt_span_of_accounts *of = &a->of_thread[account->thread];

		if (of->count++ == 0)
			*of = (struct fxt_span_of_accounts){i, 1, account->start, account->end};
		if (account->start < of->start)
			of->start = account->start;
		if (account->end > of->end)
			of->end = account->end;
	}
	return count;
}

static bool account_walk_time(struct fxt_accounts *a, const struct fxt_call_time *time)
{
	struct fxt_walker walker;

	/* With a single walker there are no contexts, and each thread's slices come in
	 * order. */
	fxt_walk_begin(&walker, a->scan);
	walker.from = time->from;
	walker.to = time->to;
	/* A filter's choice does not apply to what is inside the calls, nor to the threads
	 * that held them up. */
	walker.filter = NULL;
	while (fxt_walk_step(&walker, &account_visitor, a))
		;
	bool complete = !walker.is_short;

	fxt_walk_end(&walker);
	return complete;
}

bool fxt_accounts_walk(struct fxt_accounts *a)
{
	static const struct fxt_account_piece outside = {0};
	bool complete = true;

	account_join_times(a);
	a->of_thread = fxt_allocate((a->scan->thread_count + 1) * sizeof(*a->of_thread));
	a->order = fxt_resize(NULL, a->count - a->done + 1, sizeof(*a->order));
	for (size_t i = 0; i < a->time_count; i++)
		if (account_prepare(a, &a->times[i]) > 0)
			complete &= account_walk_time(a, &a->times[i]);
	for (; a->done < a->count; a->done++)
		fxt_account_take(a, &a->items[a->done], &outside, a->items[a->done].start);
	free(a->of_thread);
	free(a->order);
	a->of_thread = NULL;
	a->order = NULL;
	return complete;
}
