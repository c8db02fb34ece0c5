/*
 * The tables of fxt heap for people: sums, call paths, live bytes over time, sizes,
 * pointers in events; and folded stacks. Runs on the main thread, after the heap was read.
 */
#include "heap_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader/trace/text.h"
#include "terminal.h"

#define NAME_LEAST 20 /* columns for a function's name, on any terminal */
#define BAR_WIDTH  40

/* ---- tables ---- */

struct table {
	uint64_t left;
	struct fxt_heap_sums total;
};

/* Prints the name of a function after `before` columns, cut to the terminal. */
static void print_name(struct fxt_span name, unsigned before)
{
	unsigned columns = fxt_terminal()->columns;

	fxt_write_cut(stdout, name, columns > before + NAME_LEAST ? columns - before : NAME_LEAST);
}

/* Prints a path on several lines, innermost function first, as debuggers do. */
static void print_path(struct fxt_span folded)
{
	const char *end = folded.data + folded.bytes, *name;
	bool first = true;

	do {
		for (name = end; name > folded.data && name[-1] != ';';)
			name--;
		if (!first)
			printf("%44s", "");
		print_name((struct fxt_span){name, (size_t)(end - name)}, 44);
		putchar('\n');
		first = false;
		end = name - 1;
	} while (name > folded.data);
}

static void heap_print_line(void *context, struct fxt_span folded, struct fxt_heap_sums sums)
{
	struct table *table = context;

	if (table->left == 0)
		return;
	table->left--;
	printf("%16.0f %5.1f%% %16.0f    ", sums.bytes,
	        table->total.bytes > 0 ? 100 * sums.bytes / table->total.bytes : 0, sums.blocks);
	print_path(folded);
}

bool fxt_heap_wants(const struct fxt_heap_wanted *wanted, enum fxt_heap_cost cost)
{
	return wanted->cost == FXT_HEAP_COST_UNSET ? cost == FXT_HEAP_PEAK || cost == FXT_HEAP_LEAKED
	                                           : cost == wanted->cost;
}

const char *fxt_heap_cost_title(const struct fxt_heap_wanted *wanted, enum fxt_heap_cost cost)
{
	return cost == FXT_HEAP_LEAKED && wanted->at_ns != UINT64_MAX ? "live" : fxt_heap_cost_name(cost);
}

static void heap_print_table(struct fxt_heap *heap, uint32_t process, enum fxt_heap_cost cost,
        const struct fxt_heap_wanted *wanted)
{
	struct table table = {wanted->limit, fxt_heap_total(&heap->processes[process], cost)};

	if (table.total.blocks == 0)
		return;
	printf("\n%16s %6s %16s    %s: %s\n", "bytes", "", "blocks", fxt_heap_cost_title(wanted, cost),
	        wanted->by_function ? "function that allocates" : "call path");
	fxt_heap_each_path(heap, process, cost, wanted->by_function, heap_print_line, &table);
}

/* ---- live bytes over time ---- */

static void print_timeline(const struct fxt_heap *heap, uint32_t process)
{
	const struct fxt_heap_process *p = &heap->processes[process];
	double most[FXT_HEAP_STEPS];

	fxt_heap_curve(heap, process, most, FXT_HEAP_STEPS);
	printf("\n%12s %16s\n", "time", "live bytes");
	for (unsigned i = 0; i < FXT_HEAP_STEPS; i++) {
		double ns = (double)(p->last - p->first) * i / (FXT_HEAP_STEPS - 1);
		int width = p->at_peak.bytes > 0 ? (int)(BAR_WIDTH * most[i] / p->at_peak.bytes + 0.5) : 0;

		printf("%12s %16.0f  %.*s\n", fxt_time_text(ns).text, most[i], width,
		        "########################################");
	}
}

/* ---- blocks by size ---- */

static void print_histogram(const struct fxt_heap *heap, uint32_t process)
{
	const struct fxt_heap_sums *bands = heap->processes[process].by_size;

	printf("\n%16s %16s %16s\n", "size up to", "blocks", "bytes");
	for (unsigned i = 0; i < FXT_HEAP_BANDS; i++)
		if (bands[i].blocks > 0 && i < FXT_HEAP_BANDS - 1)
			printf("%16" PRIu64 " %16.0f %16.0f\n", UINT64_C(1) << i, bands[i].blocks,
			        bands[i].bytes);
		else if (bands[i].blocks > 0)
			printf("%16s %16.0f %16.0f\n", "more", bands[i].blocks, bands[i].bytes);
}

/* ---- pointers in events ---- */

static int compare_mentions(const void *left, const void *right)
{
	const struct fxt_heap_mention *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

struct fxt_heap_mention *fxt_heap_sort_mentions(const struct fxt_heap *heap, uint32_t process, size_t *count)
{
	struct fxt_heap_mention *sorted = fxt_resize(NULL, heap->mention_count + 1, sizeof(*sorted));

	*count = 0;
	for (size_t i = 0; i < heap->mention_count; i++)
		if (heap->mentions[i].process == process)
			sorted[(*count)++] = heap->mentions[i];
	qsort(sorted, *count, sizeof(*sorted), compare_mentions);
	return sorted;
}

static void print_mentions(const struct fxt_heap *h, uint32_t process, uint64_t limit)
{
	size_t count;
	struct fxt_heap_mention *sorted = fxt_heap_sort_mentions(h, process, &count);
	const uint32_t *names;

	printf("\n%16s    pointers in events: event, argument, and the call path that allocated the block\n",
	        "");
	for (size_t i = 0; i < count && i < limit; i++) {
		printf("%16" PRIu64 "    ", sorted[i].count);
		fxt_print_text(h->tables.strings[sorted[i].event]);
		printf(", ");
		fxt_print_text(h->tables.strings[sorted[i].argument]);
		for (size_t n = fxt_heap_path(h, sorted[i].node, FXT_HEAP_DEPTH, &names); n-- > 0;) {
			printf("\n%24s", "");
			print_name(h->tables.strings[names[n]], 24);
		}
		putchar('\n');
	}
	free(sorted);
}

/* ---- a process, or a program ---- */

static void heap_print_sums(const char *what, struct fxt_heap_sums sums)
{
	printf("%-10s %16.0f bytes %14.0f block%s", what, sums.bytes, sums.blocks,
	        sums.blocks == 1 ? "" : "s");
}

static void print_process(struct fxt_heap *heap, uint32_t process, const struct fxt_heap_wanted *wanted)
{
	const struct fxt_heap_process *p = &heap->processes[process];

	if (p->joined)
		printf("program ");
	else
		printf("process %" PRIu64 " ", p->koid);
	fxt_print_quoted(heap->tables.strings[fxt_heap_process_name(heap, p)]);
	if (p->joined)
		printf(", %" PRIu32 " process%s", p->joined, p->joined == 1 ? "" : "es");
	else if (p->is_replaced)
		printf(", until it executed another program");
	if (p->sample_bytes)
		printf(", one byte in %" PRIu64 " sampled: all numbers are estimates", p->sample_bytes);
	putchar('\n');
	heap_print_sums("allocated", p->allocated);
	printf("\n%-10s %22s %14.0f block%s\n", "freed", "", p->frees, p->frees == 1 ? "" : "s");
	heap_print_sums("temporary", p->temporary);
	putchar('\n');
	heap_print_sums(p->joined ? "peaks" : "peak", p->at_peak);
	if (p->joined) {
		putchar('\n');
		heap_print_sums("highest", p->highest);
		printf(", process %" PRIu64 "\n", p->highest_of);
	} else {
		printf(", after %s\n",
		        fxt_time_text((double)(p->peak > heap->start ? p->peak - heap->start : 0)).text);
	}
	heap_print_sums(fxt_heap_cost_title(wanted, FXT_HEAP_LEAKED), p->leaked);
	putchar('\n');
	if (p->kept.blocks > 0) {
		heap_print_sums(fxt_heap_cost_name(FXT_HEAP_KEPT), p->kept);
		printf(", by the C library\n");
	}
	if (p->unknown_frees > 0)
		printf("%" PRIu64
		       " free%s of blocks from before the recording, or of the process that forked it\n",
		        p->unknown_frees, fxt_plural(p->unknown_frees));
	if (wanted->timeline)
		print_timeline(heap, process);
	if (wanted->histogram)
		print_histogram(heap, process);
	if (wanted->pointers)
		print_mentions(heap, process, wanted->limit);
	for (enum fxt_heap_cost cost = 0; cost < FXT_HEAP_COSTS; cost++)
		if (fxt_heap_wants(wanted, cost))
			heap_print_table(heap, process, cost, wanted);
}

/* Why no process has a block. */
static const char *heap_why_none(const struct fxt_heap *heap)
{
	if (heap->has_counters_only)
		return "Live bytes and blocks alone were counted: fxtrun --heap=objects records each block.";
	if (heap->was_begun)
		return "Nothing was allocated or freed while the heap was recorded.";
	return "No heap was recorded: fxtrun --heap=objects records it.";
}

void fxt_heap_print(struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted)
{
	size_t count, shown;
	uint32_t *sections = fxt_heap_list(heap, &count);
	bool is_joined =
	        wanted->sections == FXT_HEAP_BY_PROGRAM ||
	        (wanted->sections == FXT_HEAP_BY_EITHER && count > wanted->limit && !wanted->timeline);

	printf("%s: %" PRIu64 " block%s of %zu process%s\n", name, heap->block_count,
	        fxt_plural(heap->block_count), heap->process_count, heap->process_count == 1 ? "" : "es");
	if (wanted->at_ns != UINT64_MAX)
		printf("as it was %s after the trace's start\n", fxt_time_text((double)wanted->at_ns).text);
	if (is_joined) {
		fxt_heap_join_programs(heap);
		free(sections);
		sections = fxt_heap_list(heap, &count);
		if (wanted->sections == FXT_HEAP_BY_EITHER)
			printf("processes of a program are summed up; --by=process shows each of them\n");
	}
	shown = is_joined && count > wanted->limit ? wanted->limit : count;
	for (size_t i = 0; i < shown; i++) {
		putchar('\n');
		print_process(heap, sections[i], wanted);
	}
	if (shown < count)
		printf("\n%zu more program%s with lower peaks\n", count - shown, fxt_plural(count - shown));
	if (count == 0)
		printf("%s\n", heap_why_none(heap));
	free(sections);
	fxt_heap_print_lost(NULL, heap->records_lost);
}

void fxt_heap_print_lost(const char *name, uint64_t records)
{
	if (records > 0)
		fxt_print_note("%s%s%" PRIu64 " record%s lost; the figures above lack them", name ? name : "",
		        name ? ": " : "", records, records == 1 ? " was" : "s were");
}

/* ---- folded ---- */

static void print_folded(void *context, struct fxt_span folded, struct fxt_heap_sums sums)
{
	(void)context;
	fxt_print_text(folded);
	printf(" %.0f\n", sums.bytes);
}

void fxt_heap_print_folded(struct fxt_heap *heap, enum fxt_heap_cost cost)
{
	for (uint32_t i = 0; i < heap->process_count; i++)
		fxt_heap_each_path(heap, i, cost == FXT_HEAP_COST_UNSET ? FXT_HEAP_PEAK : cost, false,
		        print_folded, NULL);
}
