/*
 * Takes the slices of a block during the scan: checks whether they are in order, and sends
 * the others to scan->out_of_order. Runs on the scanning thread. fxt_scan_plain_calls()
 * takes nearly all of a trace, so it must decode nothing that it does not need.
 */
#include "scanner.h"
#include "reader/trace/text.h"
#include "writer/engine/loss.h"

static inline struct fxt_scan_thread *scan_thread(struct fxt_scanner *s, uint32_t thread)
{
	struct fxt_scan_thread *t;

	fxt_make_zeroed(s->threads, s->thread_count, thread);
	t = &s->threads[thread];
	if (t->range != s->scan->range_count) {
		t->range = s->scan->range_count;
		t->has_boundary = t->has_last;
		t->boundary = t->last.end;
	}
	return t;
}

static bool scan_is_in_order(const struct fxt_scan_thread *t, const struct fxt_slice *slice)
{
	return !t->has_last || slice->end > t->last.end ||
	       (slice->end == t->last.end && slice->start <= t->last.start);
}

void fxt_scan_put_slice(struct fxt_scanner *s, const struct fxt_slice *slice)
{
	struct fxt_scan_thread *t = scan_thread(s, slice->thread);

	if (slice->end < slice->start) {
		s->scan->malformed++;
		s->block->is_careful = true;
		return;
	}
	s->scan->has_calls |= slice->is_call;
	fxt_scan_on_moment(s->scan, slice->start);
	fxt_scan_on_moment(s->scan, slice->end);
	fxt_scan_on_record_in_block(s->block, slice->start, slice->end);
	if (!scan_is_in_order(t, slice)) {
		fxt_spill_add(&s->scan->out_of_order, slice);
		fxt_spill_add(&s->scan->strays, &slice->offset);
		s->block->strays++;
		s->block->is_careful = true;
		return;
	}
	t->has_last = true;
	t->last = fxt_place(slice);
	if (t->has_boundary && slice->start <= t->boundary)
		fxt_spill_add(&s->scan->across, slice);
}

struct fxt_slice fxt_scan_slice(
        const struct fxt_scan *scan, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	uint32_t category = fxt_tables_string(t, view->event.category);
	struct fxt_slice slice = {
	        .start = fxt_scan_time(scan, t->provider, view->event.ticks),
	        .end = fxt_scan_time(scan, t->provider, view->event.extra),
	        .offset = offset,
	        .thread = fxt_tables_thread(t, view->event.thread),
	        .category = category,
	        .is_call = fxt_scan_is_call(scan, category),
	        .is_inherited = category == scan->inherited_category,
	};
	struct fxt_argument lost;

	if (category == scan->tracer_category && fxt_tables_argument(t, view, "records", &lost) &&
	        lost.type == FXT_ARGUMENT_UINT64) {
		/* A loss has a number in its name; all losses get one name here. */
		struct fxt_span name = fxt_tables_text(t, view->event.name);

		slice.name =
		        fxt_ends_with(name, FXT_LOSS_OVERWRITTEN) ? scan->overwritten_name : scan->lost_name;
	} else {
		slice.name = fxt_tables_string(t, view->event.name);
	}
	return slice;
}

/* Finds the waits among plain calls of one thread and the tracer's category. */
static void scan_on_waits(struct fxt_scanner *s, const uint64_t *words, size_t count, uint64_t offset)
{
	struct fxt_scan *scan = s->scan;
	const struct fxt_provider_tables *provider = scan->tables.provider;

	for (size_t at = 0; at < count; at += 3) {
		struct fxt_slice wait = {.start = fxt_scan_time(scan, provider, words[at + 1]),
		        .end = fxt_scan_time(scan, provider, words[at + 2]),
		        .offset = offset + at * 8,
		        .thread = fxt_provider_thread(provider, fxt_field(words[at], 24, 8)),
		        .name = fxt_provider_string(provider, fxt_field(words[at], 48, 15)),
		        .category = scan->tracer_category};

		if (wait.name == scan->waited_name && wait.start < wait.end)
			fxt_spill_add(&scan->waited, &wait);
	}
}

/* Notes the names of plain calls of one category that are spans. */
static void scan_on_spans(struct fxt_scanner *s, const uint64_t *words, size_t count, uint32_t category)
{
	const struct fxt_provider_tables *provider = s->scan->tables.provider;
	uint64_t last = UINT64_MAX;

	for (size_t at = 0; at < count; at += 3) {
		uint64_t name = fxt_field(words[at], 48, 15);

		if (name != last)
			fxt_tables_add_span(&s->scan->tables, fxt_provider_string(provider, name), category);
		last = name;
	}
}

size_t fxt_scan_plain_calls(struct fxt_scanner *s, const uint64_t *words, size_t room, uint64_t offset)
{
	const struct fxt_provider_tables *provider = s->scan->tables.provider;
	uint64_t bits = words[0] & FXT_PLAIN_CALL_BITS;
	struct fxt_scan_thread *t = scan_thread(s, fxt_provider_thread(provider, fxt_field(words[0], 24, 8)));
	uint64_t boundary = t->has_boundary ? t->boundary : 0, earliest = UINT64_MAX;
	bool in_ticks = s->scan->in_ticks;
	uint64_t last_end = t->last.end, last_start = t->last.start;
	size_t at = 0, last = SIZE_MAX;

	do {
		uint64_t start = words[at + 1], end = words[at + 2];

		if (!in_ticks) {
			start = fxt_rate_ns(&provider->rate, start);
			end = fxt_rate_ns(&provider->rate, end);
		}
		if (__builtin_expect((end <= last_end) | (start > end) | (start <= boundary), 0)) {
			uint32_t category = fxt_provider_string(provider, fxt_field(bits, 32, 15));
			struct fxt_slice slice = {.start = start,
			        .end = end,
			        .offset = offset + at * 8,
			        .thread = fxt_provider_thread(provider, fxt_field(bits, 24, 8)),
			        .name = fxt_provider_string(provider, fxt_field(words[at], 48, 15)),
			        .category = category,
			        .is_call = fxt_scan_is_call(s->scan, category),
			        .is_inherited = category == s->scan->inherited_category};

			if (last != SIZE_MAX) {
				t->has_last = true;
				t->last = (struct fxt_place){last_end, last_start, offset + last * 8};
			}
			fxt_scan_put_slice(s, &slice);
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
		fxt_scan_on_moment(s->scan, earliest);
		fxt_scan_on_moment(s->scan, last_end);
		fxt_scan_on_record_in_block(s->block, earliest, last_end);
	}
	s->scan->records += at / 3;
	s->scan->tables.provider->has_slices = true;
	uint32_t category = fxt_provider_string(provider, fxt_field(bits, 32, 15));

	s->scan->has_calls |= fxt_scan_is_call(s->scan, category);
	if (category == s->scan->tracer_category)
		scan_on_waits(s, words, at, offset);
	if (fxt_scan_is_span(s->scan, category))
		scan_on_spans(s, words, at, category);
	return at;
}
