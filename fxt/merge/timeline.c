/*
 * Chooses how the traces are put on one timeline, and computes the conversion of each
 * trace's ticks. Runs on the main thread after all inputs are read and before anything is
 * written. It must not align traces by the time of day unless the caller allows it.
 */
#include "timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "marks.h"
#include "reader/trace/index.h"
#include "reader/trace/rate.h"
#include "reader/trace/text.h"

/* The kernel never makes CLOCK_MONOTONIC faster or slower than this to follow time
 * servers. */
#define STEERED_PPM 600

bool fxt_anchors_are_of_one_kernel(const struct fxt_anchor *a, const struct fxt_anchor *b)
{
	static const uint8_t unknown[sizeof(a->boot)];

	return memcmp(a->boot, unknown, sizeof(unknown)) != 0 &&
	       memcmp(a->boot, b->boot, sizeof(unknown)) == 0;
}

bool fxt_anchors_are_of_one_boot(const struct fxt_anchor *a, const struct fxt_anchor *b)
{
	return fxt_anchors_are_of_one_kernel(a, b) && a->time_space == b->time_space;
}

void fxt_merge_find_machines(struct fxt_merge_clock *clocks, size_t count)
{
	for (uint32_t i = 0; i < count; i++)
		while (clocks[i].machine < i &&
		        !fxt_anchors_are_of_one_boot(&clocks[clocks[i].machine].first, &clocks[i].first))
			clocks[i].machine++;
}

static uint64_t timeline_width_ns(const struct fxt_merge_clock *c)
{
	uint64_t ticks = c->has_last && c->last.width_ticks > c->first.width_ticks ? c->last.width_ticks
	                                                                           : c->first.width_ticks;

	return (uint64_t)((unsigned __int128)ticks * FXT_NS_PER_SECOND / c->rate) + 1;
}

/* True if the counter advanced between the two anchors by the given rate, within the
 * limits of the kernel's steering. */
static bool timeline_goes_on(const struct fxt_anchor *a, const struct fxt_anchor *b, uint64_t rate)
{
	__int128 ns = (__int128)b->monotonic_ns - a->monotonic_ns;
	__int128 by_counter = ((__int128)b->ticks - a->ticks) * (int64_t)FXT_NS_PER_SECOND / rate;
	__int128 apart = by_counter - ns, length = ns < 0 ? -ns : ns;

	return (apart < 0 ? -apart : apart) <= length * STEERED_PPM / 1000000 + 1000000;
}

/* ---- the merged trace's own anchors ---- */

static struct fxt_anchor timeline_anchor(
        const struct fxt_merge_timeline *t, const struct fxt_merge_clock *c, const struct fxt_anchor *from)
{
	struct fxt_anchor anchor = *from;

	if (t->by == FXT_MERGE_BY_COUNTER)
		return anchor;
	anchor.ticks = fxt_merge_time(&c->line, from->ticks);
	anchor.clock = FXT_CLOCK_MONOTONIC;
	anchor.monotonic_ns = anchor.ticks;
	anchor.width_ticks = t->error_ns;
	return anchor;
}

static void timeline_find_anchors(
        struct fxt_merge_timeline *t, const struct fxt_merge_clock *clocks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct fxt_merge_clock *c = &clocks[i];
		struct fxt_anchor first = timeline_anchor(t, c, &c->first),
		                  last = timeline_anchor(t, c, c->has_last ? &c->last : &c->first);

		if (i == 0 || first.ticks < t->first.ticks)
			t->first = first;
		if (i == 0 || last.ticks > t->last.ticks)
			t->last = last;
	}
	/* With several boots, the anchors carry the boot of the first: its clock is the
	 * timeline by then. */
	memcpy(t->last.boot, t->first.boot, sizeof(t->last.boot));
	t->last.time_space = t->first.time_space;
}

/* ---- by the counter ---- */

/* The rate that was measured over the longest time, regardless of the order of the
 * traces. */
static uint64_t timeline_best_rate(const struct fxt_merge_clock *clocks, size_t count)
{
	uint64_t rate = clocks[0].rate, longest = 0;

	for (size_t i = 0; i < count; i++) {
		const struct fxt_merge_clock *c = &clocks[i];
		uint64_t ns = c->has_last ? c->last.monotonic_ns - c->first.monotonic_ns : 0;

		if (ns > longest || (ns == longest && c->rate < rate)) {
			longest = ns;
			rate = c->rate;
		}
	}
	return rate;
}

static bool timeline_take_counter(struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks, size_t count)
{
	uint64_t rate = timeline_best_rate(clocks, count);

	for (size_t i = 0; i < count; i++)
		if (clocks[i].first.clock != FXT_CLOCK_COUNTER ||
		        !timeline_goes_on(&clocks[0].first, &clocks[i].first, rate) ||
		        (clocks[i].has_last && !timeline_goes_on(&clocks[0].first, &clocks[i].last, rate)))
			return false;
	t->by = FXT_MERGE_BY_COUNTER;
	for (size_t i = 0; i < count; i++)
		clocks[i].line = (struct fxt_merge_line){.is_kept = true};
	timeline_find_anchors(t, clocks, count);
	uint64_t ticks = t->last.ticks - t->first.ticks, ns = t->last.monotonic_ns - t->first.monotonic_ns;

	/* Measure over the longest time available, but not over less than a session that
	 * measured its own rate. */
	t->rate = rate;
	if (t->last.monotonic_ns > t->first.monotonic_ns && ns > FXT_NS_PER_SECOND / 100 && ticks > 0)
		t->rate = (uint64_t)(((unsigned __int128)ticks * FXT_NS_PER_SECOND + ns / 2) / ns);
	return true;
}

/* ---- by lines ---- */

bool fxt_merge_timeline_draw(struct fxt_merge_clock *c)
{
	uint64_t ticks = c->last.ticks - c->first.ticks, ns = c->last.monotonic_ns - c->first.monotonic_ns;
	bool has_end =
	        c->has_last && ticks > 0 && ns > 0 && ticks <= UINT64_C(1) << 62 && ns <= UINT64_C(1) << 62;

	c->line = (struct fxt_merge_line){.ticks = c->first.ticks,
	        .ns = c->first.monotonic_ns,
	        .span_ticks = has_end ? ticks : c->rate,
	        .span_ns = has_end ? ns : FXT_NS_PER_SECOND};
	return c->rate <= UINT64_C(1) << 62;
}

/* The difference of CLOCK_MONOTONIC and CLOCK_REALTIME. */
static int64_t timeline_offset(const struct fxt_anchor *a)
{
	return (int64_t)(a->monotonic_ns - a->realtime_ns);
}

/* Shifts each boot to the clock of the boot that has run the longest, so that no time is
 * before a clock's zero. Traces of one boot keep their distance in time. */
static void timeline_shift(struct fxt_merge_clock *clocks, size_t count)
{
	int64_t longest = INT64_MIN;

	for (size_t i = 0; i < count; i++)
		if (timeline_offset(&clocks[i].first) > longest)
			longest = timeline_offset(&clocks[i].first);
	for (size_t i = 0; i < count; i++) {
		size_t same = 0;

		while (!fxt_anchors_are_of_one_boot(&clocks[same].first, &clocks[i].first) && same < i)
			same++;
		clocks[i].line.shift =
		        (int64_t)((uint64_t)longest - (uint64_t)timeline_offset(&clocks[same].first));
	}
}

static void timeline_take_lines(
        struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks, size_t count, enum fxt_merge_by by)
{
	t->by = by;
	t->rate = FXT_NS_PER_SECOND;
	for (size_t i = 0; i < count; i++) {
		uint64_t width = timeline_width_ns(&clocks[i]);

		fxt_merge_timeline_draw(&clocks[i]);
		if (width > t->error_ns)
			t->error_ns = width;
		if (clocks[i].first.clock == FXT_CLOCK_COUNTER && !clocks[i].has_last)
			t->open = &clocks[i];
	}
	t->error_ns *= 2;
	if (by == FXT_MERGE_BY_REALTIME)
		timeline_shift(clocks, count);
	timeline_find_anchors(t, clocks, count);
}

/* ---- by round trips ---- */

static bool timeline_is_one_run(const struct fxt_merge_clock *clocks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (clocks[i].mark_count == 0)
			return false;
		for (size_t j = 0; j < clocks[i].mark_count; j++)
			if (clocks[i].marks[j].run != clocks[0].marks[0].run)
				return false;
	}
	return true;
}

static void timeline_take_trips(struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks, size_t count)
{
	timeline_take_lines(t, clocks, count, FXT_MERGE_BY_TRIPS);
	t->error_ns = 0;
	for (size_t i = 0; i < count; i++) {
		fxt_merge_marks_take(&clocks[i]);
		if (clocks[i].error_ns > t->error_ns)
			t->error_ns = clocks[i].error_ns;
	}
	timeline_find_anchors(t, clocks, count);
}

/* ---- by connections ---- */

/* Ticks at a time of CLOCK_MONOTONIC, by the line between the trace's own anchors. */
static uint64_t timeline_ticks_at(const struct fxt_merge_clock *c, int64_t ns)
{
	__int128 behind = (__int128)ns - c->first.monotonic_ns;

	return c->first.ticks + (uint64_t)(behind * c->line.span_ticks / c->line.span_ns);
}

/* Finds the way from each machine's clock to that of the first trace, over the links with
 * the least error. `ways` and `is_known` are by the machine's number. False: one of `machines`
 * machines has no way. */
static bool timeline_find_ways(
        const struct fxt_merge_links *links, struct fxt_merge_offset *ways, bool *is_known, size_t machines)
{
	is_known[0] = true;
	for (size_t known = 1; known < machines; known++) {
		struct fxt_merge_offset best = {.error_ns = UINT64_MAX};
		uint32_t found = 0;

		for (size_t i = 0; i < links->count; i++) {
			const struct fxt_merge_link *link = &links->items[i];
			bool leads_back = is_known[link->second];

			if (!link->is_fit || is_known[link->first] == is_known[link->second])
				continue;
			struct fxt_merge_offset step =
			        leads_back ? fxt_merge_offset_inverse(&link->offset) : link->offset;
			struct fxt_merge_offset way =
			        fxt_merge_offset_chain(&step, &ways[leads_back ? link->second : link->first]);

			if (way.error_ns >= best.error_ns)
				continue;
			best = way;
			found = leads_back ? link->first : link->second;
		}
		if (found == 0)
			return false;
		ways[found] = best;
		is_known[found] = true;
	}
	return true;
}

static void timeline_take_way(struct fxt_merge_clock *c, const struct fxt_merge_offset *way)
{
	struct fxt_merge_line *line = &c->line;

	c->error_ns = way->error_ns + timeline_width_ns(c);
	if (way->drift != 0) {
		uint64_t ticks = timeline_ticks_at(c, way->at);

		line->ns = fxt_merge_time(line, ticks);
		line->ticks = ticks;
		line->span_ns += (uint64_t)(int64_t)((double)line->span_ns * way->drift);
	}
	line->shift = way->offset;
}

/* Moves all traces so that none has a time below 0: the first trace's machine may have been
 * started after others were recorded. */
static void timeline_begin_at_zero(struct fxt_merge_clock *clocks, size_t count)
{
	__int128 earliest = 0;

	for (size_t i = 0; i < count; i++) {
		const struct fxt_merge_line *line = &clocks[i].line;
		__int128 behind = (__int128)clocks[i].first.ticks - line->ticks;
		__int128 ns = behind * line->span_ns / line->span_ticks + line->ns + line->shift;

		earliest = ns < earliest ? ns : earliest;
	}
	for (size_t i = 0; i < count; i++)
		clocks[i].line.shift = (int64_t)((uint64_t)clocks[i].line.shift - (uint64_t)earliest);
}

static bool timeline_take_connections(struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks,
        size_t count, const struct fxt_merge_links *links)
{
	struct fxt_merge_offset *ways = fxt_allocate(count * sizeof(*ways));
	bool *is_known = fxt_allocate(count * sizeof(*is_known));
	size_t machines = 0;

	for (size_t i = 0; i < count; i++)
		machines += clocks[i].machine == i;
	bool is_linked = timeline_find_ways(links, ways, is_known, machines);

	if (is_linked) {
		timeline_take_lines(t, clocks, count, FXT_MERGE_BY_CONNECTIONS);
		t->error_ns = 0;
		for (size_t i = 0; i < count; i++) {
			timeline_take_way(&clocks[i], &ways[clocks[i].machine]);
			if (clocks[i].error_ns > t->error_ns)
				t->error_ns = clocks[i].error_ns;
		}
		timeline_begin_at_zero(clocks, count);
		timeline_find_anchors(t, clocks, count);
	}
	free(ways);
	free(is_known);
	return is_linked;
}

static bool timeline_has_anchors(const struct fxt_merge_clock *clocks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (clocks[i].has_anchor || clocks[i].rate > UINT64_C(1) << 62)
			return true;
	return false;
}

static void timeline_take_ticks(struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks, size_t count)
{
	t->by = FXT_MERGE_BY_TICKS;
	t->rate = FXT_NS_PER_SECOND;
	for (size_t i = 0; i < count; i++)
		clocks[i].line =
		        (struct fxt_merge_line){.span_ticks = clocks[i].rate, .span_ns = FXT_NS_PER_SECOND};
}

int fxt_merge_timeline_choose(struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks, size_t count,
        const struct fxt_merge_links *links, bool may_be_realtime, char *error, size_t error_bytes)
{
	const struct fxt_merge_clock *other = NULL;

	*t = (struct fxt_merge_timeline){0};
	if (!timeline_has_anchors(clocks, count)) {
		timeline_take_ticks(t, clocks, count);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (!clocks[i].has_anchor) {
			snprintf(error, error_bytes,
			        "%s: does not say when it was recorded; record it again with this version of "
			        "fxtrun",
			        clocks[i].name);
			return -1;
		}
		if (!other && !fxt_anchors_are_of_one_boot(&clocks[0].first, &clocks[i].first))
			other = &clocks[i];
	}
	bool is_by_trips = other && timeline_is_one_run(clocks, count);

	if (other && !is_by_trips && timeline_take_connections(t, clocks, count, links))
		return 0;
	if (other && !is_by_trips && !may_be_realtime) {
		snprintf(error, error_bytes,
		        "%s: was recorded on another machine than %s, or after another boot; only the time "
		        "of day relates them, and --realtime merges by it; %s",
		        other->name, clocks[0].name, links->lack);
		return -1;
	}
	if (is_by_trips)
		timeline_take_trips(t, clocks, count);
	else if (other)
		timeline_take_lines(t, clocks, count, FXT_MERGE_BY_REALTIME);
	else if (!timeline_take_counter(t, clocks, count))
		timeline_take_lines(t, clocks, count, FXT_MERGE_BY_MONOTONIC);
	return 0;
}

void fxt_merge_timeline_describe(const struct fxt_merge_timeline *t, char *text, size_t text_bytes)
{
	static const char *const by[] = {[FXT_MERGE_BY_COUNTER] = "the processor's counter: in exact order",
	        [FXT_MERGE_BY_MONOTONIC] = "CLOCK_MONOTONIC, to",
	        [FXT_MERGE_BY_TRIPS] = "round trips of MPI between the ranks, to",
	        [FXT_MERGE_BY_CONNECTIONS] = "the TCP connections between their machines, to",
	        [FXT_MERGE_BY_REALTIME] =
	                "the time of day, as exact as the machines' clocks were set, and to",
	        [FXT_MERGE_BY_TICKS] =
	                "their own clocks, as if these were one: they do not say when they were recorded"};
	int bytes = snprintf(text, text_bytes, "by %s", by[t->by]);

	if (t->by == FXT_MERGE_BY_MONOTONIC || t->by == FXT_MERGE_BY_REALTIME)
		bytes += snprintf(text + bytes, text_bytes - (size_t)bytes, " %s where each began and ended",
		        fxt_time_text((double)t->error_ns).text);
	if (t->by == FXT_MERGE_BY_TRIPS || t->by == FXT_MERGE_BY_CONNECTIONS)
		bytes += snprintf(text + bytes, text_bytes - (size_t)bytes, " %s",
		        fxt_time_text((double)t->error_ns).text);
	if (t->open)
		snprintf(text + bytes, text_bytes - (size_t)bytes,
		        "; %s has no end, and may be off by 3 us for each second since it began",
		        t->open->name);
}
