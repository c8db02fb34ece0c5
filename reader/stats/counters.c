#include "counters.h"

#include <stdlib.h>
#include "reader/slices/arguments.h"
#include "reader/slices/events.h"

/* The key of a counter. */
static bool counters_is_same(const struct fxt_counter *a, const struct fxt_counter *b)
{
	return a->process == b->process && a->id == b->id && a->name == b->name &&
	       a->category == b->category && fxt_spans_equal(a->series, b->series);
}

static struct fxt_counter *counters_find(struct fxt_counters *counters, const struct fxt_counter *wanted)
{
	uint32_t hash = fxt_hash_word(wanted->id ^ (uint64_t)fxt_hash_word(wanted->process) << 32 ^
	                              fxt_hash_word((uint64_t)wanted->name << 32 | wanted->category)) ^
	                fxt_hash_bytes(wanted->series.data, wanted->series.bytes);
	char *series;

	for (struct fxt_probe probe = fxt_probe(&counters->index, hash);
	        fxt_probe_next(&counters->index, &probe);)
		if (counters_is_same(&counters->items[probe.id], wanted))
			return &counters->items[probe.id];
	fxt_index_add(&counters->index, hash, (uint32_t)counters->count);
	fxt_make_room(counters->items, counters->count, counters->room);
	/* an inline name is gone once its block is */
	series = fxt_allocate(wanted->series.bytes + 1);
	if (wanted->series.bytes > 0)
		memcpy(series, wanted->series.data, wanted->series.bytes);
	counters->items[counters->count] = *wanted;
	counters->items[counters->count].series.data = series;
	return &counters->items[counters->count++];
}

static bool counters_value(const struct fxt_argument *argument, long double *value)
{
	return argument->type != FXT_ARGUMENT_POINTER && argument->type != FXT_ARGUMENT_KOID &&
	       fxt_argument_number(argument, value) && *value == *value;
}

_Static_assert(FXT_COUNTER_BINS <= 32, "has_bin has a bit for each");

static void counters_add_to_bin(struct fxt_counter *c, size_t bin, struct fxt_counter_sample sample)
{
	uint32_t bit = (uint32_t)1 << bin;

	if (c->samples > 1 && !c->bins) {
		c->bins = fxt_allocate(FXT_COUNTER_BINS * sizeof(*c->bins));
		c->bins[__builtin_ctz(c->has_bin)] = c->first;
	}
	if (c->bins && (!(c->has_bin & bit) || sample.time > c->bins[bin].time))
		c->bins[bin] = sample;
	c->has_bin |= bit;
}

/* Records come from the last to the first, and those of several threads in no order of
 * time. Of equal times, the last in the file counts as the later. */
static void counters_add(const struct fxt_scan *scan, struct fxt_counter *c, struct fxt_counter_sample sample)
{
	uint64_t length = scan->end - scan->start, since = sample.time - scan->start;
	size_t bin = length > 0 && since < length
	                     ? (size_t)((unsigned __int128)since * FXT_COUNTER_BINS / length)
	                     : FXT_COUNTER_BINS - 1;

	if (c->samples == 0)
		*c = (struct fxt_counter){.process = c->process,
		        .id = c->id,
		        .name = c->name,
		        .category = c->category,
		        .series = c->series,
		        .first = sample,
		        .last = sample,
		        .min = sample.value,
		        .max = sample.value};
	c->samples++;
	counters_add_to_bin(c, bin, sample);
	c->sum += sample.value;
	if (sample.time <= c->first.time)
		c->first = sample;
	if (sample.time > c->last.time)
		c->last = sample;
	if (sample.value < c->min)
		c->min = sample.value;
	if (sample.value > c->max)
		c->max = sample.value;
}

/* ---- points ---- */

static int counters_by_time(const void *left, const void *right)
{
	const struct fxt_counter_point *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Makes one point of all those in a stretch of the width. */
static void counters_merge_points(const struct fxt_scan *scan, struct fxt_counter *c, uint64_t width)
{
	size_t kept = 0;

	if (c->point_count > 1)
		qsort(c->points, c->point_count, sizeof(*c->points), counters_by_time);
	for (size_t i = 1; width > 0 && i < c->point_count; i++) {
		struct fxt_counter_point *last = &c->points[kept], point = c->points[i];

		if ((point.time - scan->start) / width == (last->time - scan->start) / width) {
			point.min = last->min < point.min ? last->min : point.min;
			point.max = last->max > point.max ? last->max : point.max;
		} else {
			kept++;
		}
		c->points[kept] = point;
	}
	c->point_count = width > 0 && c->point_count > 0 ? kept + 1 : c->point_count;
}

static void counters_merge(struct fxt_counters *counters, const struct fxt_scan *scan)
{
	counters->point_count = 0;
	for (size_t i = 0; i < counters->count && i < FXT_COUNTERS_DRAWN; i++) {
		counters_merge_points(scan, &counters->items[i], counters->width);
		counters->point_count += counters->items[i].point_count;
	}
}

/* Doubles the width until half of the room is free, so that merging is rare. It ends,
 * because at last each counter has one point. */
static void counters_add_point(struct fxt_counters *counters, const struct fxt_scan *scan,
        struct fxt_counter *c, const struct fxt_counter_point *point)
{
	if (counters->point_limit == 0 || c >= counters->items + FXT_COUNTERS_DRAWN)
		return;
	fxt_make_room(c->points, c->point_count, c->point_room);
	c->points[c->point_count++] = *point;
	if (++counters->point_count < counters->point_limit)
		return;
	while (counters->point_count > counters->point_limit / 2 && counters->width < UINT64_MAX / 2) {
		counters->width = counters->width ? 2 * counters->width : 16;
		counters_merge(counters, scan);
	}
}

static void counters_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_counters *counters = state;
	const struct fxt_scan *scan = walker->scan;
	struct fxt_tables *t = &walker->tables;
	struct fxt_argument argument;
	struct fxt_view heap;

	if (fxt_view_heap_counters(view, &heap))
		view = &heap;
	if (view->type != FXT_RECORD_EVENT || view->event.type != FXT_EVENT_COUNTER)
		return;
	struct fxt_slice slice = fxt_scan_slice(scan, t, view, offset);
	struct fxt_arguments arguments = view->arguments;
	struct fxt_counter_sample sample = {.time = slice.start};

	if (!fxt_events_shows(scan, slice.thread, slice.name, offset) ||
	        !fxt_filter_has_time(scan->filter, slice.start))
		return;
	while (fxt_next_argument(&arguments, &argument)) {
		struct fxt_counter wanted = {.process = t->threads[slice.thread].process,
		        .id = view->event.extra,
		        .name = slice.name,
		        .category = slice.category,
		        .series = fxt_tables_text(t, argument.name)};

		if (!counters_value(&argument, &sample.value))
			continue;
		struct fxt_counter *c = counters_find(counters, &wanted);
		double value = (double)sample.value;

		counters_add(scan, c, sample);
		counters_add_point(counters, scan, c,
		        &(struct fxt_counter_point){sample.time, value, value, value, offset});
	}
}

static int counters_compare(const void *left, const void *right, void *state)
{
	const struct fxt_span *strings = state;
	const struct fxt_counter *a = left, *b = right;
	int by_name = fxt_spans_compare(strings[a->name], strings[b->name]);
	int by_category = fxt_spans_compare(strings[a->category], strings[b->category]);

	if (by_name || by_category)
		return by_name ? by_name : by_category;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return fxt_spans_compare(a->series, b->series);
}

bool fxt_counters_read(struct fxt_counters *counters, const struct fxt_scan *scan, size_t point_limit)
{
	*counters = (struct fxt_counters){.point_limit = point_limit};
	bool is_whole = fxt_events_read(scan, counters_record, counters);

	counters_merge(counters, scan); /* puts the points in order */
	if (counters->count > 1)
		qsort_r(counters->items, counters->count, sizeof(*counters->items), counters_compare,
		        scan->tables.strings);
	return is_whole;
}

/* Infinite values have the least level or the greatest one. */
static int counters_level(const struct fxt_counter *c, long double value, int levels)
{
	long double share = value < c->max ? (value - c->min) / (c->max - c->min) : c->max > c->min;

	return share >= 0 ? (int)(share * (levels - 1) + 0.5L) : 0;
}

void fxt_counter_levels(const struct fxt_counter *c, int levels, int level_of[FXT_COUNTER_BINS])
{
	int level = -1;

	for (size_t i = 0; i < FXT_COUNTER_BINS; i++) {
		if (c->has_bin >> i & 1)
			level = counters_level(c, c->bins ? c->bins[i].value : c->max, levels);
		level_of[i] = level;
	}
}

void fxt_counters_free(struct fxt_counters *counters)
{
	for (size_t i = 0; i < counters->count; i++) {
		free((char *)(uintptr_t)counters->items[i].series.data);
		free(counters->items[i].bins);
		free(counters->items[i].points);
	}
	free(counters->items);
	fxt_index_free(&counters->index);
	*counters = (struct fxt_counters){0};
}
