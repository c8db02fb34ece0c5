/*
 * The forward pass: reads a trace block by block, and notes ranges, boundaries and slices
 * that are out of order. Runs on the caller's thread alone. Never holds more than a block
 * of the file; everything that grows with the trace is a few bytes a block or in a spill.
 */
#include "scan.h"

#include <stdlib.h>
#include "reader/trace/namesakes.h"
#include "reader/trace/progress.h"
#include "scanner.h"
#include "writer/engine/elided.h"
#include "writer/format/muted.h"
#include "writer/engine/loss.h"
#include "writer/format/process_end.h"

#define RANGE_BYTES_MIN ((uint64_t)8 << 20)
#define RANGES_MAX      64

/* ---- blocks ---- */

static void scan_begin_range(struct fxt_scanner *s, uint64_t offset)
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

/* Reads the block at `offset`; `count` of its words could be read. Returns how many of them
 * are whole records. */
static size_t scan_read_block(struct fxt_scanner *s, const uint64_t *words, size_t count, uint64_t offset)
{
	struct fxt_scan *scan = s->scan;
	size_t at = 0, plain = 0;

	while (at < count && at * 8 < s->sizes.block_bytes && !s->two_rates) {
		struct fxt_record r = {.words = words + at, .offset = offset + at * 8};

		if (fxt_is_plain_call(words[at]) && count - at >= 3) {
			size_t room = (s->sizes.block_bytes + 7) / 8;

			room = room < count ? room - at : count - at;
			if (!fxt_scan_is_comparable(s, scan->tables.provider))
				break;
			room = fxt_scan_plain_calls(s, words + at, room < 3 ? 3 : room, r.offset);
			plain = at == 0 ? room : plain;
			at += room;
			continue;
		}
		r.size = fxt_record_words(words[at]);
		if (r.size == 0 || r.size > count - at)
			break;
		fxt_scan_on_record(s, &r);
		at += r.size;
	}
	s->block->is_plain = plain == at;
	return at;
}

/* Steps over a record that is larger than a block, or cut off by the end of the file; the
 * latter is noted as a fault. Returns its size in bytes, or 0 if reading ends here. */
static uint64_t scan_skip_record(struct fxt_scan *scan, uint64_t header, uint64_t offset)
{
	uint64_t words = fxt_record_words(header);

	if (words > 0 && words <= (scan->source->bytes - offset) / 8) {
		scan->records++;
		return words * 8;
	}
	scan->fault = (struct fxt_fault){.offset = offset,
	        .reason = words == 0 ? "record of size 0, so nothing after it can be found"
	                             : "truncated inside a record",
	        .truncated = words != 0};
	return 0;
}

static uint64_t scan_most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void scan_read_blocks(struct fxt_scanner *s, uint64_t *window)
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
			                ? "cannot be read on: the file is truncated, or reading it failed"
			                : "truncated inside a record",
			        true};
			if (got < 8)
				return;
		}
		if (offset >= next_range) {
			scan_begin_range(s, offset);
			/* The notes at all boundaries together take no more room than the
			 * file. */
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
		fxt_progress_report("reading", offset, scan->source->bytes);
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

static void scan_find_out_of_order(struct fxt_scan *scan)
{
	struct fxt_slice slices[BATCH];

	fxt_spill_sort(&scan->out_of_order, scan_by_thread_and_order);
	scan->thread_count = scan->tables.thread_count;
	scan->out_of_order_of = fxt_allocate(scan->thread_count * sizeof(*scan->out_of_order_of));
	for (uint64_t at = 0; at < scan->out_of_order.count; at += BATCH) {
		size_t count = scan->out_of_order.count - at < BATCH ? (size_t)(scan->out_of_order.count - at)
		                                                     : BATCH;

		fxt_spill_read(&scan->out_of_order, at, count, slices);
		for (size_t i = 0; i < count; i++) {
			struct fxt_out_of_order *of = &scan->out_of_order_of[slices[i].thread];

			if (of->count++ == 0)
				of->first = at + i;
		}
	}
}

/* ---- the scan ---- */

/* Call this once the scan's units are known. */
static void scan_finish_cut(struct fxt_scan *scan)
{
	struct fxt_cut *cut = &scan->cut;
	uint64_t rate = scan->rate.ticks_per_second;

	if (cut->what == 0)
		return;
	*cut = (struct fxt_cut){.what = cut->what,
	        .ticks_per_second = rate,
	        .from = fxt_cut_time(cut, cut->from, rate),
	        .to = fxt_cut_time_to(cut, rate),
	        .start = fxt_cut_time(cut, cut->start, rate),
	        .end = fxt_cut_time(cut, cut->end, rate)};
	if (cut->start < scan->start)
		scan->start = cut->start;
	if (cut->end > scan->end)
		scan->end = cut->end;
}

/* The most memory for texts that tell functions of equal names apart: a trace may give many
 * functions one long name. */
static uint64_t scan_namesake_bytes(const struct fxt_source *source)
{
	return ((uint64_t)1 << 20) + 4 * source->bytes;
}

/* A program that was not rebuilt may do nothing that is recorded, or stop doing so long
 * before its end. A trace without calls lasts from its first context switch to its last. */
static void scan_on_switches(struct fxt_scanner *s)
{
	if (s->scan->has_calls || s->first_switch > s->last_switch)
		return;
	fxt_scan_on_moment(s->scan, s->first_switch);
	fxt_scan_on_moment(s->scan, s->last_switch);
}

/* Call this once all records are read. */
static void scan_settle(struct fxt_scan *scan)
{
	fxt_namesakes_settle(&scan->tables, &scan->origins, scan_namesake_bytes(scan->source));
	fxt_elided_sums_settle(&scan->elided_sums, &scan->tables);
	fxt_muted_settle(&scan->muted, &scan->tables);
}

static void scan_begin(struct fxt_scanner *s, const struct fxt_source *source, bool in_ticks)
{
	struct fxt_scan *scan = s->scan;
	size_t most = s->sizes.memory_bytes;

	s->first_switch = UINT64_MAX;
	s->last_switch = 0;
	if (s->listener)
		s->listener->begin(s->listener->state);
	*scan = (struct fxt_scan){.source = source,
	        .rate = fxt_rate(FXT_NS_PER_SECOND),
	        .in_ticks = in_ticks,
	        .start = UINT64_MAX,
	        .state = {.is_finished = 1}};
	fxt_spill_init(&scan->changes, sizeof(struct fxt_change), most);
	fxt_spill_init(&scan->strays, sizeof(uint64_t), most);
	fxt_spill_init(&scan->out_of_order, sizeof(struct fxt_slice), most);
	fxt_spill_init(&scan->across, sizeof(struct fxt_slice), most);
	fxt_spill_init(&scan->waited, sizeof(struct fxt_slice), most);
	fxt_tables_init_noting(&scan->tables, &scan->changes);
	scan->tracer_category = fxt_tables_intern(&scan->tables, fxt_span("fxt"));
	scan->process_category = fxt_tables_intern(&scan->tables, fxt_span("process"));
	scan->call_category = fxt_tables_intern(&scan->tables, fxt_span("function"));
	scan->inherited_category = fxt_tables_intern(&scan->tables, fxt_span(FXT_INHERITED_CATEGORY));
	scan->sync_category = fxt_tables_intern(&scan->tables, fxt_span("sync"));
	scan->alert_category = fxt_tables_intern(&scan->tables, fxt_span("alert"));
	scan->alert_name = scan->alert_category;
	scan->lost_name = fxt_tables_intern(&scan->tables, fxt_span("fxt:" FXT_LOSS_LOST));
	scan->overwritten_name = fxt_tables_intern(&scan->tables, fxt_span("fxt:" FXT_LOSS_OVERWRITTEN));
	scan->cost_name = fxt_tables_intern(&scan->tables, fxt_span(FXT_CALL_COST_EVENT));
	scan->elided_name = fxt_tables_intern(&scan->tables, fxt_span(FXT_ELIDED_EVENT));
	scan->muted_name = fxt_tables_intern(&scan->tables, fxt_span(FXT_MUTED_EVENT));
	scan->waited_name = fxt_tables_intern(&scan->tables, fxt_span("fxt: waited"));
	scan->killed_name = fxt_tables_intern(&scan->tables, fxt_span("killed"));
	scan->process_end_name = fxt_tables_intern(&scan->tables, fxt_span(FXT_PROCESS_END_EVENT));
	scan->recording_stop_name = fxt_tables_intern(&scan->tables, fxt_span(FXT_RECORDING_STOP_EVENT));
	fxt_marks_init(&s->marks, most);
}

static void scan_end(struct fxt_scanner *s)
{
	fxt_marks_free(&s->marks);
	free(s->threads);
	*s = (struct fxt_scanner){.scan = s->scan, .sizes = s->sizes, .listener = s->listener};
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
	fxt_scan_listened(scan, source, sizes, NULL);
}

void fxt_scan_listened(struct fxt_scan *scan, const struct fxt_source *source,
        const struct fxt_scan_sizes *sizes, const struct fxt_scan_listener *listener)
{
	struct fxt_scanner s = {.scan = scan,
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
	fxt_progress_end();
	free(window);
	scan->records_lost += fxt_tables_uncounted_losses(&scan->tables);
	scan_on_switches(&s);
	scan_finish_cut(scan);
	if (scan->start > scan->end)
		scan->start = scan->end;
	fxt_process_ends_sort(&scan->process_ends);
	fxt_marks_match(&s.marks, scan);
	scan_end(&s);
	scan_settle(scan);
	scan_find_out_of_order(scan);
	/* If very many slices are out_of_order or open at boundaries, every range would go
	 * through all of them. A single range is better then. */
	if ((!fxt_spill_is_in_memory(&scan->out_of_order) || !fxt_spill_is_in_memory(&scan->across)) &&
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
	free(scan->out_of_order_of);
	free(scan->folded);
	fxt_spill_free(&scan->changes);
	fxt_spill_free(&scan->strays);
	fxt_spill_free(&scan->out_of_order);
	fxt_spill_free(&scan->across);
	fxt_spill_free(&scan->waited);
	fxt_origins_free(&scan->origins);
	fxt_elided_sums_free(&scan->elided_sums);
	fxt_muted_free(&scan->muted);
	fxt_process_ends_free(&scan->process_ends);
	fxt_tables_free(&scan->tables);
}
