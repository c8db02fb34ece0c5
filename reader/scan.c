#include "scan.h"

#include <stdlib.h>
#include "marks.h"
#include "text.h"
#include "writer/loss.h"

#define RANGE_BYTES_MIN ((uint64_t)8 << 20)
#define RANGES_MAX      64

/* What is known of a thread on the way. */
struct thread {
	struct fxt_place last; /* slice in order */
	bool has_last;
	bool has_border; /* there was one before the range */
	uint64_t border; /* where that one ended */
	size_t range;    /* which this is said of */
};

struct scanner {
	struct fxt_scan *scan;
	struct fxt_scan_sizes sizes;
	const struct fxt_scan_listener *listener; /* or NULL */
	struct thread *threads;
	size_t thread_count;
	struct fxt_marks marks;
	size_t block_room, range_room;
	struct fxt_scan_block *block; /* the one that is read */
	bool has_unit;
	bool two_rates; /* providers with two rates were found while times were ticks: this pass is repeated
	                   in nanoseconds */
};

/* ---- times ---- */

static inline uint64_t scan_time(
        const struct fxt_scan *scan, const struct fxt_provider_tables *provider, uint64_t ticks)
{
	return scan->in_ticks ? ticks : fxt_rate_ns(&provider->rate, ticks);
}

/* Ticks can be compared and added as long as they are those of one clock. */
static inline bool scan_is_comparable(struct scanner *s, const struct fxt_provider_tables *provider)
{
	struct fxt_scan *scan = s->scan;

	if (!scan->in_ticks || provider->rate.ticks_per_second == scan->rate.ticks_per_second)
		return s->has_unit = true;
	if (s->has_unit) {
		s->two_rates = true;
		return false;
	}
	scan->rate = provider->rate;
	return s->has_unit = true;
}

static inline void scan_see_in_block(struct fxt_scan_block *block, uint64_t from, uint64_t to)
{
	if (from < block->start)
		block->start = from;
	if (to > block->end)
		block->end = to;
}

static inline void scan_see_moment(struct fxt_scan *scan, uint64_t time)
{
	if (time < scan->start)
		scan->start = time;
	if (time > scan->end)
		scan->end = time;
}

/* ---- slices ---- */

static inline struct thread *scan_thread(struct scanner *s, uint32_t thread)
{
	struct thread *t;

	fxt_make_zeroed(s->threads, s->thread_count, thread);
	t = &s->threads[thread];
	if (t->range != s->scan->range_count) {
		t->range = s->scan->range_count;
		t->has_border = t->has_last;
		t->border = t->last.end;
	}
	return t;
}

static bool scan_is_in_order(const struct thread *t, const struct fxt_slice *slice)
{
	return !t->has_last || slice->end > t->last.end ||
	       (slice->end == t->last.end && slice->start <= t->last.start);
}

static void scan_put_slice(struct scanner *s, const struct fxt_slice *slice)
{
	struct thread *t = scan_thread(s, slice->thread);

	if (slice->end < slice->start) {
		s->scan->malformed++;
		s->block->is_careful = true;
		return;
	}
	scan_see_moment(s->scan, slice->start);
	scan_see_moment(s->scan, slice->end);
	scan_see_in_block(s->block, slice->start, slice->end);
	if (!scan_is_in_order(t, slice)) {
		fxt_spill_add(&s->scan->lifted, slice);
		fxt_spill_add(&s->scan->strays, &slice->offset);
		s->block->strays++;
		s->block->is_careful = true;
		return;
	}
	t->has_last = true;
	t->last = fxt_place(slice);
	if (t->has_border && slice->start <= t->border)
		fxt_spill_add(&s->scan->across, slice);
}

struct fxt_slice fxt_scan_slice(
        const struct fxt_scan *scan, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	uint32_t category = fxt_tables_string(t, view->event.category);
	struct fxt_slice slice = {
	        .start = scan_time(scan, t->provider, view->event.ticks),
	        .end = scan_time(scan, t->provider, view->event.extra),
	        .offset = offset,
	        .thread = fxt_tables_thread(t, view->event.thread),
	        .category = category,
	        .is_call = fxt_scan_is_call(scan, category),
	};
	struct fxt_argument lost;

	if (category == scan->tracer_category && fxt_tables_argument(t, view, "records", &lost) &&
	        lost.type == FXT_ARGUMENT_UINT64) {
		/* Losses have a number in their names; here they are one name. */
		struct fxt_span name = fxt_tables_text(t, view->event.name);

		slice.name =
		        fxt_ends_with(name, FXT_LOSS_OVERWRITTEN) ? scan->overwritten_name : scan->lost_name;
	} else {
		slice.name = fxt_tables_string(t, view->event.name);
	}
	return slice;
}

/* Of plain calls of one thread and the tracer's category: those that are its waits. */
static void scan_see_waits(struct scanner *s, const uint64_t *words, size_t count, uint64_t offset)
{
	struct fxt_scan *scan = s->scan;
	const struct fxt_provider_tables *provider = scan->tables.provider;

	for (size_t at = 0; at < count; at += 3) {
		struct fxt_slice wait = {.start = scan_time(scan, provider, words[at + 1]),
		        .end = scan_time(scan, provider, words[at + 2]),
		        .offset = offset + at * 8,
		        .thread = fxt_provider_thread(provider, fxt_field(words[at], 24, 8)),
		        .name = fxt_provider_string(provider, fxt_field(words[at], 48, 15)),
		        .category = scan->tracer_category};

		if (wait.name == scan->waited_name && wait.start < wait.end)
			fxt_spill_add(&scan->waited, &wait);
	}
}

/*
 * Plain calls of one thread and category, one behind the other: nearly all of a trace. Returns how many words
 * they take.
 */
static inline __attribute__((always_inline)) size_t scan_plain_calls(
        struct scanner *s, const uint64_t *words, size_t room, uint64_t offset, bool in_ticks)
{
	const struct fxt_provider_tables *provider = s->scan->tables.provider;
	uint64_t bits = words[0] & FXT_PLAIN_CALL_BITS;
	struct thread *t = scan_thread(s, fxt_provider_thread(provider, fxt_field(words[0], 24, 8)));
	uint64_t border = t->has_border ? t->border : 0, earliest = UINT64_MAX;
	uint64_t last_end = t->last.end, last_start = t->last.start;
	size_t at = 0, last = SIZE_MAX;

	do {
		uint64_t start = words[at + 1], end = words[at + 2];

		if (!in_ticks) {
			start = fxt_rate_ns(&provider->rate, start);
			end = fxt_rate_ns(&provider->rate, end);
		}
		if (__builtin_expect((end <= last_end) | (start > end) | (start <= border), 0)) {
			uint32_t category = fxt_provider_string(provider, fxt_field(bits, 32, 15));
			struct fxt_slice slice = {.start = start,
			        .end = end,
			        .offset = offset + at * 8,
			        .thread = fxt_provider_thread(provider, fxt_field(bits, 24, 8)),
			        .name = fxt_provider_string(provider, fxt_field(words[at], 48, 15)),
			        .category = category,
			        .is_call = fxt_scan_is_call(s->scan, category)};

			if (last != SIZE_MAX) {
				t->has_last = true;
				t->last = (struct fxt_place){last_end, last_start, offset + last * 8};
			}
			scan_put_slice(s, &slice);
			last = SIZE_MAX;
			last_end = t->last.end;
			last_start = t->last.start;
		} else {
			earliest = start < earliest ? start : earliest;
			last_end = end;
			last_start = start;
			last = at;
		}
		at += 3;
	} while (room - at >= 3 && (words[at] & FXT_PLAIN_CALL_BITS) == bits);
	if (last != SIZE_MAX) {
		t->has_last = true;
		t->last = (struct fxt_place){last_end, last_start, offset + last * 8};
	}
	if (earliest != UINT64_MAX) {
		scan_see_moment(s->scan, earliest);
		scan_see_moment(s->scan, last_end);
		scan_see_in_block(s->block, earliest, last_end);
	}
	s->scan->records += at / 3;
	if (fxt_provider_string(provider, fxt_field(bits, 32, 15)) == s->scan->tracer_category)
		scan_see_waits(s, words, at, offset);
	return at;
}

/* ---- other records ---- */

static void scan_see_cost(struct fxt_scan *scan, const struct fxt_view *view)
{
	struct fxt_argument within, around, error;

	if (fxt_tables_argument(&scan->tables, view, "within_ps", &within) &&
	        fxt_tables_argument(&scan->tables, view, "around_ps", &around) &&
	        fxt_tables_argument(&scan->tables, view, "error_ps", &error) &&
	        within.type == FXT_ARGUMENT_UINT64 && around.type == FXT_ARGUMENT_UINT64 &&
	        error.type == FXT_ARGUMENT_UINT64)
		scan->cost = (struct fxt_call_cost){within.value.word, around.value.word, error.value.word};
}

static void scan_see_loss(struct fxt_scan *scan, const struct fxt_view *view, const struct fxt_slice *slice)
{
	struct fxt_argument lost;

	if (fxt_tables_argument(&scan->tables, view, "records", &lost) && lost.type == FXT_ARGUMENT_UINT64)
		*(slice->name == scan->overwritten_name ? &scan->records_overwritten : &scan->records_lost) +=
		        lost.value.word;
}

static void scan_see_event(struct scanner *s, const struct fxt_record *r, const struct fxt_view *view)
{
	struct fxt_scan *scan = s->scan;

	if (!scan_is_comparable(s, scan->tables.provider))
		return;
	struct fxt_slice slice = fxt_scan_slice(scan, &scan->tables, view, r->offset);

	scan_see_moment(scan, slice.start);
	scan_see_in_block(s->block, slice.start, slice.start);
	if (slice.category == scan->tracer_category)
		scan_see_loss(scan, view, &slice);
	switch (view->event.type) {
	case FXT_EVENT_DURATION_COMPLETE:
		if (slice.category == scan->tracer_category && slice.name == scan->waited_name &&
		        slice.start < slice.end)
			fxt_spill_add(&scan->waited, &slice);
		scan_put_slice(s, &slice);
		break;
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		slice.is_open = view->event.type == FXT_EVENT_DURATION_BEGIN;
		fxt_marks_add(&s->marks, &slice);
		break;
	case FXT_EVENT_INSTANT:
		if (slice.category == scan->tracer_category && slice.name == scan->cost_name)
			scan_see_cost(scan, view);
		if (slice.category == scan->process_category && slice.name == scan->killed_name)
			fxt_marks_add_death(
			        &s->marks, scan->tables.threads[slice.thread].process, slice.start);
		break;
	default:
		break;
	}
}

static void scan_see_switch(struct scanner *s, uint64_t ticks)
{
	uint64_t time = scan_time(s->scan, s->scan->tables.provider, ticks);

	scan_see_in_block(s->block, time, time);
}

static void scan_see_record(struct scanner *s, const struct fxt_record *r)
{
	struct fxt_view view;

	s->scan->records++;
	if (fxt_decode(r, &view) != NULL) {
		s->scan->malformed++;
		return;
	}
	s->scan->tables.offset = r->offset;
	fxt_tables_apply(&s->scan->tables, &view);
	fxt_view_archive_state(&view, &s->scan->state);
	if (view.type == FXT_RECORD_EVENT)
		scan_see_event(s, r, &view);
	else if (view.type == FXT_RECORD_USERSPACE_OBJECT)
		fxt_origins_see(&s->scan->origins, &s->scan->tables, &view);
	else if (view.type == FXT_RECORD_SCHEDULING && scan_is_comparable(s, s->scan->tables.provider))
		scan_see_switch(s, view.scheduling.ticks);
	if (s->listener && !s->two_rates)
		s->listener->record(s->listener->state, &s->scan->tables, &view, r->offset);
}

/* ---- blocks ---- */

static void scan_begin_range(struct scanner *s, uint64_t offset)
{
	struct fxt_scan *scan = s->scan;
	struct fxt_range range = {.offset = offset, .first_block = scan->block_count};

	range.thread_count = s->thread_count;
	if (range.thread_count > 0)
		range.last = fxt_resize(NULL, range.thread_count, sizeof(*range.last));
	for (size_t i = 0; i < range.thread_count; i++)
		range.last[i] =
		        s->threads[i].has_last ? s->threads[i].last : (struct fxt_place){.start = UINT64_MAX};
	fxt_make_room(scan->ranges, scan->range_count, s->range_room);
	scan->ranges[scan->range_count++] = range;
}

/* Reads the block from `offset` on, which has `count` words that could be read. Returns how many of them are
 * whole records. */
static size_t scan_read_block(struct scanner *s, const uint64_t *words, size_t count, uint64_t offset)
{
	struct fxt_scan *scan = s->scan;
	size_t at = 0, plain = 0;

	while (at < count && at * 8 < s->sizes.block_bytes && !s->two_rates) {
		struct fxt_record r = {.words = words + at, .offset = offset + at * 8};
		bool is_large = fxt_record_type(words[at]) == FXT_RECORD_LARGE;

		if (fxt_is_plain_call(words[at]) && count - at >= 3) {
			size_t room = (s->sizes.block_bytes + 7) / 8;

			room = room < count ? room - at : count - at;
			if (!scan_is_comparable(s, scan->tables.provider))
				break;
			room = scan_plain_calls(s, words + at, room < 3 ? 3 : room, r.offset, scan->in_ticks);
			plain = at == 0 ? room : plain;
			at += room;
			continue;
		}
		r.size = is_large ? fxt_large_record_words(words[at]) : fxt_record_words(words[at]);
		if (r.size == 0 || r.size > count - at)
			break;
		scan_see_record(s, &r);
		at += r.size;
	}
	s->block->is_plain = plain == at;
	return at;
}

/* Steps over a record that is larger than a block, or is cut off by the end of the file: the fault is noted
 * then. Returns its size in bytes; 0 if reading ends here. */
static uint64_t scan_skip_record(struct fxt_scan *scan, uint64_t header, uint64_t offset)
{
	bool is_large = fxt_record_type(header) == FXT_RECORD_LARGE;
	uint64_t words = is_large ? fxt_large_record_words(header) : fxt_record_words(header);

	if (words > 0 && words <= (scan->source->bytes - offset) / 8) {
		scan->records++;
		return words * 8;
	}
	scan->fault = (struct fxt_fault){.offset = offset,
	        .reason = words == 0 ? "record of size 0, so nothing behind it can be found"
	                             : "truncated inside a record",
	        .truncated = words != 0};
	return 0;
}

static uint64_t scan_most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void scan_read_blocks(struct scanner *s, uint64_t *window)
{
	struct fxt_scan *scan = s->scan;
	uint64_t offset = 0, next_range = 0, taken;

	while (offset < scan->source->bytes && !s->two_rates) {
		uint64_t left = scan->source->bytes - offset;
		size_t wanted = left < FXT_BLOCK_BYTES ? (size_t)left : FXT_BLOCK_BYTES;
		size_t got = fxt_source_read(scan->source, offset, window, wanted);

		if (got < wanted || got < 8) {
			scan->fault = (struct fxt_fault){offset + got / 8 * 8,
			        got < wanted
			                ? "cannot be read on: the file was cut short, or reading it failed"
			                : "truncated inside a record",
			        true};
			if (got < 8)
				return;
		}
		if (offset >= next_range) {
			scan_begin_range(s, offset);
			/* What is noted at all borders together takes no more than the file does. */
			next_range = offset + scan_most(s->sizes.range_bytes,
			                              s->thread_count * sizeof(struct fxt_place));
		}
		fxt_make_room(scan->blocks, scan->block_count, s->block_room);
		s->block = &scan->blocks[scan->block_count];
		*s->block = (struct fxt_scan_block){
		        .offset = offset, .first_stray = scan->strays.count, .start = UINT64_MAX};
		taken = scan_read_block(s, window, got / 8, offset) * 8;
		if (taken > 0) {
			s->block->bytes = (uint32_t)taken;
			scan->block_count++;
		} else if (!s->two_rates) {
			taken = scan_skip_record(scan, window[0], offset);
		}
		offset += taken;
		if (scan->fault.reason)
			return;
	}
}

/* ---- out of order ---- */

enum { BATCH = 256 };

static int scan_by_thread_and_order(const void *left, const void *right)
{
	const struct fxt_slice *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

static void scan_find_lifted(struct fxt_scan *scan)
{
	struct fxt_slice slices[BATCH];

	fxt_spill_sort(&scan->lifted, scan_by_thread_and_order);
	scan->thread_count = scan->tables.thread_count;
	scan->lifted_of = fxt_allocate(scan->thread_count * sizeof(*scan->lifted_of));
	for (uint64_t at = 0; at < scan->lifted.count; at += BATCH) {
		size_t count = scan->lifted.count - at < BATCH ? (size_t)(scan->lifted.count - at) : BATCH;

		fxt_spill_read(&scan->lifted, at, count, slices);
		for (size_t i = 0; i < count; i++) {
			struct fxt_lifted *of = &scan->lifted_of[slices[i].thread];

			if (of->count++ == 0)
				of->first = at + i;
		}
	}
}

/* ---- the scan ---- */

static void scan_begin(struct scanner *s, const struct fxt_source *source, bool in_ticks)
{
	struct fxt_scan *scan = s->scan;
	size_t most = s->sizes.memory_bytes;

	if (s->listener)
		s->listener->begin(s->listener->state);
	*scan = (struct fxt_scan){.source = source,
	        .rate = fxt_rate(FXT_NS_PER_SECOND),
	        .in_ticks = in_ticks,
	        .start = UINT64_MAX,
	        .state = {.is_finished = 1}};
	fxt_spill_init(&scan->changes, sizeof(struct fxt_change), most);
	fxt_spill_init(&scan->strays, sizeof(uint64_t), most);
	fxt_spill_init(&scan->lifted, sizeof(struct fxt_slice), most);
	fxt_spill_init(&scan->across, sizeof(struct fxt_slice), most);
	fxt_spill_init(&scan->waited, sizeof(struct fxt_slice), most);
	fxt_tables_init_noting(&scan->tables, &scan->changes);
	scan->tracer_category = fxt_tables_intern(&scan->tables, fxt_span("fxt"));
	scan->process_category = fxt_tables_intern(&scan->tables, fxt_span("process"));
	scan->sync_category = fxt_tables_intern(&scan->tables, fxt_span("sync"));
	scan->lost_name = fxt_tables_intern(&scan->tables, fxt_span("fxt:" FXT_LOSS_LOST));
	scan->overwritten_name = fxt_tables_intern(&scan->tables, fxt_span("fxt:" FXT_LOSS_OVERWRITTEN));
	scan->cost_name = fxt_tables_intern(&scan->tables, fxt_span(FXT_CALL_COST_EVENT));
	scan->waited_name = fxt_tables_intern(&scan->tables, fxt_span("fxt: waited"));
	scan->killed_name = fxt_tables_intern(&scan->tables, fxt_span("killed"));
	fxt_marks_init(&s->marks, most);
}

static void scan_end(struct scanner *s)
{
	fxt_marks_free(&s->marks);
	free(s->threads);
	*s = (struct scanner){.scan = s->scan, .sizes = s->sizes, .listener = s->listener};
}

static struct fxt_scan_sizes scan_usual_sizes(uint64_t bytes)
{
	struct fxt_scan_sizes sizes = {FXT_BLOCK_BYTES, RANGE_BYTES_MIN, FXT_SPILL_MEMORY_BYTES};

	if (bytes / RANGES_MAX > RANGE_BYTES_MIN)
		sizes.range_bytes = bytes / RANGES_MAX;
	return sizes;
}

void fxt_scan(struct fxt_scan *scan, const struct fxt_source *source, const struct fxt_scan_sizes *sizes)
{
	fxt_scan_told(scan, source, sizes, NULL);
}

void fxt_scan_told(struct fxt_scan *scan, const struct fxt_source *source, const struct fxt_scan_sizes *sizes,
        const struct fxt_scan_listener *listener)
{
	struct scanner s = {.scan = scan,
	        .sizes = sizes ? *sizes : scan_usual_sizes(source->bytes),
	        .listener = listener};
	uint64_t *window = fxt_resize(NULL, FXT_BLOCK_BYTES, 1);

	scan_begin(&s, source, true);
	scan_read_blocks(&s, window);
	if (s.two_rates) {
		scan_end(&s);
		fxt_scan_free(scan);
		scan_begin(&s, source, false);
		scan_read_blocks(&s, window);
	}
	free(window);
	if (scan->start > scan->end)
		scan->start = scan->end;
	fxt_marks_match(&s.marks, scan);
	scan_end(&s);
	scan_find_lifted(scan);
	/* Where very much was lifted or is open at borders, each range would go through it: there is one
	 * then. */
	if ((!fxt_spill_is_in_memory(&scan->lifted) || !fxt_spill_is_in_memory(&scan->across)) &&
	        scan->range_count > 1) {
		for (size_t i = 1; i < scan->range_count; i++)
			free(scan->ranges[i].last);
		scan->range_count = 1;
	}
}

void fxt_scan_free(struct fxt_scan *scan)
{
	for (size_t i = 0; i < scan->range_count; i++)
		free(scan->ranges[i].last);
	free(scan->ranges);
	free(scan->blocks);
	free(scan->lifted_of);
	fxt_spill_free(&scan->changes);
	fxt_spill_free(&scan->strays);
	fxt_spill_free(&scan->lifted);
	fxt_spill_free(&scan->across);
	fxt_spill_free(&scan->waited);
	fxt_origins_free(&scan->origins);
	fxt_tables_free(&scan->tables);
}
