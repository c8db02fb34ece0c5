/*
 * Finds the slowest and a usual call of the functions with the largest outliers, in one
 * walk. Walkers run on several threads, and each has a search of its own. Results must not
 * depend on which walker found a call.
 */
#include "outliers.h"

#include <math.h>
#include <stdlib.h>
#include "reader/slices/walk.h"
#include "reader/time/thread_times.h"

/* The most functions that are considered; the calls that a function needs to have a
 * usual time; and the multiple of it that the slowest call must take. */
enum { CANDIDATES = 64, CALLS_LEAST = 4, TIMES_USUAL = 2 };

#define LONG_TIME (UINT64_C(1) << 40) /* in units of the scan */

struct candidate {
	const struct fxt_function *function;
	double usual, excess; /* usual: in units of the scan */
};

/* The calls of a candidate so far. `distance` is that of the usual call from the usual
 * time, in units of the scan; of an empty one every call is nearer and later. */
struct best {
	struct fxt_outlier calls;
	double distance;
};

/* The findings of one walker for each candidate. */
struct search {
	const struct fxt_scan *scan;
	const uint8_t *candidate_of; /* by name, plus 1 */
	const struct candidate *candidates;
	const struct fxt_intervals *waits; /* for the tracer */
	struct fxt_interval_reader waited; /* those of the thread that is walked */
	bool has_waits;
	struct best found[CANDIDATES];
};

static int outliers_by_excess(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->excess != b->excess)
		return a->excess > b->excess ? -1 : 1;
	return a->function->name < b->function->name ? -1 : 1;
}

/* Chooses the functions with the slowest calls that differ most from the usual one. */
static size_t outliers_choose(
        struct candidate *candidates, const struct fxt_scan *scan, const struct fxt_functions *all)
{
	struct candidate *found = fxt_allocate((all->count + 1) * sizeof(*found));
	double ns_per_unit = (double)fxt_scan_ns(scan, LONG_TIME) / (double)LONG_TIME;
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct fxt_function *f = &all->items[i];

		if (f->of_tracer || f->calls < CALLS_LEAST)
			continue;
		double usual = fxt_function_figure(f, scan, FXT_P50), most = (double)f->max;

		if (most > TIMES_USUAL * usual)
			found[count++] = (struct candidate){f, usual / ns_per_unit, most - usual};
	}
	qsort(found, count, sizeof(*found), outliers_by_excess);
	count = count < CANDIDATES ? count : CANDIDATES;
	memcpy(candidates, found, count * sizeof(*found));
	free(found);
	return count;
}

/* ---- the walk ---- */

static void outliers_empty(struct best *best)
{
	*best = (struct best){.distance = INFINITY};
	best->calls.slowest.offset = best->calls.usual.offset = UINT64_MAX;
}

/* If two calls are equally long, takes the one that is earlier in the file, so that the
 * result does not depend on the walkers. Few calls replace another one, and only those are
 * copied. */
static inline void outliers_take_slowest(
        struct fxt_outlier *calls, const struct fxt_slice *slice, uint64_t time)
{
	if (time > calls->slowest_time ||
	        (time == calls->slowest_time && slice->offset < calls->slowest.offset)) {
		calls->slowest = *slice;
		calls->slowest_time = time;
	}
}

static inline void outliers_take_usual(
        struct best *best, const struct candidate *candidate, const struct fxt_slice *slice, uint64_t time)
{
	double distance = fabs((double)time - candidate->usual);

	if (distance < best->distance ||
	        (distance == best->distance && slice->offset < best->calls.usual.offset)) {
		best->calls.usual = *slice;
		best->calls.usual_time = time;
		best->distance = distance;
	}
}

static inline void outliers_add(struct search *s, const struct fxt_slice *slice)
{
	uint8_t number = s->candidate_of[slice->name];

	if (number == 0 || !slice->is_call)
		return;
	uint64_t time = fxt_own_time(s->has_waits ? &s->waited : NULL, slice);
	struct best *best = &s->found[number - 1u];

	best->calls.calls++;
	outliers_take_slowest(&best->calls, slice, time);
	outliers_take_usual(best, &s->candidates[number - 1u], slice, time);
}

/* Adds the calls that another walker has found. */
static void outliers_join(
        struct best *best, const struct candidate *candidate, const struct fxt_outlier *other)
{
	if (other->calls == 0)
		return;
	best->calls.calls += other->calls;
	outliers_take_slowest(&best->calls, &other->slowest, other->slowest_time);
	outliers_take_usual(best, candidate, &other->usual, other->usual_time);
}

static void outliers_thread(void *state, uint32_t thread)
{
	struct search *s = state;

	s->has_waits = fxt_intervals_has(s->waits, thread);
	fxt_intervals_read(&s->waited, s->waits, thread);
}

static void outliers_enter(void *state, struct fxt_walk_frame *frame)
{
	if (!frame->is_context)
		outliers_add(state, &frame->slice);
}

static void outliers_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	outliers_add(state, slice);
}

static const struct fxt_visitor visitor = {
        .thread = outliers_thread, .enter = outliers_enter, .leaf = outliers_leaf, .looks_near = true};

static void outliers_walk(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &visitor, state);
}

/* ---- idle calls ---- */

/* The waits of a thread that has nothing to do until someone outside wants something. */
static const char *const idle_waits[] = {"poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait",
        "epoll_pwait2", "accept", "accept4", "sigwait", "sigwaitinfo", "sigtimedwait"};

struct idle_search {
	const struct fxt_scan *scan;
	struct fxt_outlier *found;
	size_t count;
};

static bool outliers_is_idle_wait(const struct fxt_scan *scan, const struct fxt_slice *slice)
{
	if (slice->category != scan->sync_category)
		return false;
	for (size_t i = 0; i < sizeof(idle_waits) / sizeof(*idle_waits); i++)
		if (fxt_span_is(scan->tables.strings[slice->name], idle_waits[i]))
			return true;
	return false;
}

static uint64_t outliers_part_inside(const struct fxt_slice *call, const struct fxt_slice *wait)
{
	uint64_t from = call->start > wait->start ? call->start : wait->start,
	         to = call->end < wait->end ? call->end : wait->end;

	return call->thread == wait->thread && from < to ? to - from : 0;
}

static void idle_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct idle_search *s = state;

	(void)parent;
	if (!outliers_is_idle_wait(s->scan, slice))
		return;
	for (size_t i = 0; i < s->count; i++) {
		s->found[i].idle += outliers_part_inside(&s->found[i].slowest, slice);
		s->found[i].usual_idle += outliers_part_inside(&s->found[i].usual, slice);
	}
}

static void idle_enter(void *state, struct fxt_walk_frame *frame)
{
	idle_leaf(state, &frame->slice, NULL);
}

static const struct fxt_visitor idle_visitor = {.enter = idle_enter, .leaf = idle_leaf, .looks_near = true};

/* Finds out which calls are idle: most of what they took beyond the usual time was waiting
 * for something from outside. Blocks of nothing but calls have no waits. */
static bool outliers_find_idle(const struct fxt_scan *scan, struct fxt_outlier *found, size_t count)
{
	struct idle_search search = {scan, found, count};
	struct fxt_walker walker;

	fxt_walk_begin(&walker, scan);
	walker.omits_plain = true;
	while (fxt_walk_step(&walker, &idle_visitor, &search)) {
	}
	bool is_whole = !walker.is_short;

	fxt_walk_end(&walker);
	for (size_t i = 0; i < count; i++) {
		uint64_t more = found[i].idle > found[i].usual_idle ? found[i].idle - found[i].usual_idle : 0;

		found[i].is_idle = 2 * more > found[i].slowest_time - found[i].usual_time;
	}
	return is_whole;
}

/* ---- the choice ---- */

static uint64_t outliers_excess(const struct fxt_outlier *outlier)
{
	uint64_t slowest = outlier->slowest_time, usual = outlier->usual_time;

	return slowest > usual ? slowest - usual : 0;
}

static int outliers_compare(const void *left, const void *right)
{
	const struct fxt_outlier *a = left, *b = right;
	uint64_t a_excess = outliers_excess(a), b_excess = outliers_excess(b);

	if (a_excess != b_excess)
		return a_excess > b_excess ? -1 : 1;
	return a->slowest.offset < b->slowest.offset ? -1 : 1;
}

static bool outliers_overlap(const struct fxt_slice *a, const struct fxt_slice *b)
{
	return a->thread == b->thread && a->start < b->end && b->start < a->end;
}

static void outliers_take(struct fxt_outliers *outliers, const struct fxt_outlier *found)
{
	if (outliers->count == FXT_OUTLIERS_MAX || outliers_excess(found) == 0)
		return;
	for (size_t i = 0; i < outliers->count; i++)
		if (outliers->items[i].is_idle == found->is_idle &&
		        outliers_overlap(&outliers->items[i].slowest, &found->slowest))
			return;
	outliers->items[outliers->count++] = *found;
}

bool fxt_outliers_read(
        struct fxt_outliers *outliers, const struct fxt_scan *scan, const struct fxt_functions *all)
{
	struct candidate candidates[CANDIDATES];
	size_t count = outliers_choose(candidates, scan, all);
	unsigned workers = fxt_walk_workers(scan);
	uint8_t *candidate_of = fxt_allocate(scan->tables.string_count);
	struct search *searches = fxt_allocate(workers * sizeof(*searches));
	struct fxt_outlier found[CANDIDATES];
	struct fxt_intervals waits;
	uint64_t waited_time;
	bool is_whole = true;

	fxt_waited_read(&waits, scan, &waited_time);
	*outliers = (struct fxt_outliers){0};
	for (size_t i = 0; i < count; i++)
		candidate_of[candidates[i].function->name] = (uint8_t)(i + 1);
	for (unsigned i = 0; i < workers; i++) {
		searches[i] = (struct search){.scan = scan,
		        .candidate_of = candidate_of,
		        .candidates = candidates,
		        .waits = &waits};
		for (size_t j = 0; j < count; j++)
			outliers_empty(&searches[i].found[j]);
	}
	if (count > 0)
		is_whole = fxt_walk(scan, outliers_walk, searches, sizeof(*searches), workers);
	for (size_t i = 0; i < count; i++) {
		for (unsigned j = 1; j < workers; j++)
			outliers_join(&searches[0].found[i], &candidates[i], &searches[j].found[i].calls);
		found[i] = searches[0].found[i].calls;
	}
	qsort(found, count, sizeof(*found), outliers_compare);
	if (count > 0)
		is_whole &= outliers_find_idle(scan, found, count);
	for (unsigned idle = 0; idle < 2; idle++)
		for (size_t i = 0; i < count; i++)
			if (found[i].calls > 0 && found[i].is_idle == (idle == 1))
				outliers_take(outliers, &found[i]);
	fxt_intervals_free(&waits);
	free(searches);
	free(candidate_of);
	return is_whole;
}
