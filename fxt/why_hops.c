/*
 * Explains a request that hops over several threads as one: each slice of the way with its
 * own parts, and the waits between them. Runs on the main thread. The rows of level 0 must
 * add up to the time from the first begin to the last end.
 */
#include "why_hops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "describe.h"
#include "options.h"
#include "reader/time/meanwhile.h"
#include "reader/trace/text.h"

enum { PARTS = 3, DEPTH = 1 }; /* of each slice, and the threads to follow */

static const struct fxt_column columns[] = {
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"share", "share", FXT_COLUMN_SHARE, 1},
        {"start_ns", "start", FXT_COLUMN_TIME, 2},
        {"what", "the flow was", FXT_COLUMN_TEXT, 0},
        {"level", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"kind", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"function", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"thread", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

struct hop_parts {
	const struct fxt_call_details *details;
	const struct fxt_slice *slice;
};

static void why_print_part_of_hop(void *context, const struct fxt_part *part, unsigned level)
{
	const struct hop_parts *hop = context;
	const struct fxt_call_details *m = hop->details;
	struct fxt_cell cells[COLUMNS] = {fxt_cell_number((double)part->ns)};
	struct fxt_describer text;

	fxt_describe_begin(&text);
	fxt_describe_part(
	        text.out, m->scan, &m->waits, &m->faults, part, level == 0 ? hop->slice->name : FXT_NOTHING);
	cells[3] = fxt_cell_text(fxt_describe_end(&text));
	cells[3].indent = FXT_INDENT * (level + 1);
	cells[4] = fxt_cell_number(level + 1);
	cells[5] = fxt_cell_text(fxt_span(fxt_describe_kind(part->kind)));
	fxt_table_row(cells);
	fxt_describe_free(&text);
}

/* A row of level 0: the flow was in a slice, or waited for the thread of one. */
static void why_print_hop(const struct fxt_call_details *m, const struct fxt_hop *hop, bool is_wait)
{
	const struct fxt_scan *scan = m->scan;
	uint64_t from = is_wait ? hop->waited_from : hop->from, to = is_wait ? hop->from : hop->to;
	uint64_t whole = m->hops.end - m->hops.start;
	struct fxt_describer text;
	struct fxt_cell cells[COLUMNS];

	fxt_describe_begin(&text);
	fputs(is_wait ? "waiting for " : "in ", text.out);
	if (!is_wait)
		fprintf(text.out, "%.*s, ", (int)scan->tables.strings[hop->slice.name].bytes,
		        scan->tables.strings[hop->slice.name].data);
	fxt_describe_thread(text.out, scan, hop->slice.thread, false);
	if (is_wait && hop->before.offset > 0)
		fprintf(text.out, ", which was in %.*s then",
		        (int)scan->tables.strings[hop->before.name].bytes,
		        scan->tables.strings[hop->before.name].data);
	cells[0] = fxt_cell_number((double)(fxt_scan_ns(scan, to) - fxt_scan_ns(scan, from)));
	cells[1] = fxt_cell_number(whole ? (double)(to - from) / (double)whole : 0);
	cells[2] = fxt_cell_number((double)(fxt_scan_ns(scan, from) - fxt_scan_ns(scan, scan->start)));
	cells[3] = fxt_cell_text(fxt_describe_end(&text));
	cells[4] = fxt_cell_number(0);
	cells[5] = fxt_cell_text(fxt_span(is_wait ? "flow waits" : "flow"));
	cells[6] = is_wait ? fxt_cell_unknown() : fxt_cell_text(scan->tables.strings[hop->slice.name]);
	cells[7] = fxt_cell_number((double)scan->tables.threads[hop->slice.thread].thread);
	fxt_table_row(cells);
	fxt_describe_free(&text);
}

/* ---- the rank that was late ---- */

static const struct fxt_column late_columns[] = {
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"share", "share", FXT_COLUMN_SHARE, 1},
        {"calls", "calls", FXT_COLUMN_COUNT, 2},
        {"what", "what it did until then", FXT_COLUMN_TEXT, 0},
        {"function", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
};
enum { LATE_COLUMNS = sizeof(late_columns) / sizeof(*late_columns), LATE_CALLS = 10 };

static void why_print_late_row(const struct fxt_scan *scan, uint64_t time, uint64_t whole,
        const struct fxt_meanwhile_call *call, struct fxt_span what)
{
	struct fxt_cell cells[LATE_COLUMNS] = {0};

	cells[0] = fxt_cell_number((double)fxt_scan_ns(scan, time));
	cells[1] = fxt_cell_number(whole ? (double)time / (double)whole : 0);
	if (call) {
		cells[2] = fxt_cell_number((double)call->calls);
		cells[4] = fxt_cell_text(scan->tables.strings[call->name]);
	}
	cells[3] = fxt_cell_text(what);
	fxt_table_row(cells);
}

/* The calls of a rank while the other one waited for it; further ones are one row. */
static void why_print_meanwhile(const struct fxt_scan *scan, const struct fxt_meanwhile *m, uint64_t whole)
{
	uint64_t others = 0;
	struct fxt_describer text;

	fxt_table_begin("late", NULL, late_columns, LATE_COLUMNS);
	for (size_t i = 0; i < m->count; i++)
		if (i < LATE_CALLS)
			why_print_late_row(scan, m->items[i].time, whole, &m->items[i],
			        scan->tables.strings[m->items[i].name]);
		else
			others += m->items[i].time;
	fxt_describe_begin(&text);
	fprintf(text.out, "(%zu more)", m->count - LATE_CALLS);
	if (m->count > LATE_CALLS)
		why_print_late_row(scan, others, whole, NULL, fxt_describe_end(&text));
	fxt_describe_free(&text);
	fxt_describe_begin(&text);
	if (m->around_count > 0)
		fprintf(text.out, "in %.*s itself",
		        (int)scan->tables.strings[m->around[m->around_count - 1]].bytes,
		        scan->tables.strings[m->around[m->around_count - 1]].data);
	else
		fputs("in no call", text.out);
	why_print_late_row(scan, m->own, whole, NULL, fxt_describe_end(&text));
	fxt_describe_free(&text);
	fxt_table_end();
}

/* Prints what the late end of a message did while the other end waited in its call: a
 * receiver waits for a late sender, or a sender for a late receiver. */
static bool why_print_late(const struct fxt_call_details *m)
{
	const struct fxt_scan *scan = m->scan;
	const struct fxt_slice *waiting = &m->hops.items[0].slice, *late = &m->hops.items[1].slice;
	struct fxt_job_place place =
	        fxt_tables_place(&scan->tables, scan->tables.threads[late->thread].process);
	struct fxt_meanwhile meanwhile;
	struct fxt_describer text;

	if (m->hops.count != 2 || !m->hops.is_message || late->start <= waiting->start ||
	        late->start > waiting->end)
		return true;
	uint64_t time = late->start - waiting->start, ns = fxt_scan_ns(scan, time);
	bool is_whole = fxt_meanwhile_read(&meanwhile, scan, late->thread, waiting->start, late->start);

	fxt_describe_begin(&text);
	fprintf(text.out, "rank %" PRIu32 " was late: its %.*s began %s later", place.rank,
	        (int)scan->tables.strings[late->name].bytes, scan->tables.strings[late->name].data,
	        fxt_time_text((double)ns).text);
	for (size_t i = 0; i < meanwhile.around_count; i++)
		fprintf(text.out, "%s%.*s", i ? " > " : "; it was in ",
		        (int)scan->tables.strings[meanwhile.around[i]].bytes,
		        scan->tables.strings[meanwhile.around[i]].data);
	fxt_describe_print(&text);
	fxt_print_fact("late_ns", (double)ns);
	fxt_print_fact("late_rank", (double)place.rank);
	why_print_meanwhile(scan, &meanwhile, time);
	fxt_meanwhile_free(&meanwhile);
	return is_whole;
}

int fxt_why_print_hops(struct fxt_call_details *m, const char *name, const struct fxt_slice *slice)
{
	bool is_whole = fxt_hops_find(&m->hops, m->scan, slice);
	const struct fxt_hops *hops = &m->hops;
	struct fxt_causes causes = {0};

	if (hops->count == 0)
		return fxt_report_changed(name, is_whole);
	const struct fxt_slice **slices = fxt_allocate(hops->count * sizeof(*slices));
	uint64_t ns = fxt_scan_ns(m->scan, hops->end) - fxt_scan_ns(m->scan, hops->start);

	for (size_t i = 0; i < hops->count; i++)
		slices[i] = &hops->items[i].slice;
	is_whole &= fxt_causes_read(
	        &causes, m->scan, &m->timeline, &m->faults, &m->waits, slices, hops->count, NULL, DEPTH);
	fxt_print_line("its flow %.*s: %s in %zu thread%s", (int)m->scan->tables.strings[hops->name].bytes,
	        m->scan->tables.strings[hops->name].data, fxt_time_text((double)ns).text, hops->threads,
	        fxt_plural(hops->threads));
	fxt_print_fact("flow_ns", (double)ns);
	fxt_table_begin("flow", NULL, columns, COLUMNS);
	for (size_t i = 0; i < hops->count; i++) {
		const struct fxt_hop *hop = &hops->items[i];
		struct hop_parts parts = {m, &hop->slice};

		if (hop->waited_from < hop->from)
			why_print_hop(m, hop, true);
		why_print_hop(m, hop, false);
		fxt_causes_report(&causes.calls[i], fxt_scan_ns(m->scan, hop->slice.end - hop->slice.start),
		        PARTS, true, why_print_part_of_hop, &parts);
	}
	fxt_table_end();
	is_whole &= why_print_late(m);
	fxt_causes_free(&causes);
	free(slices);
	return fxt_report_changed(name, is_whole);
}
