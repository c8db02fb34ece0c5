#include "sums.h"

#include <stdlib.h>

/* Adds the functions of a thread. Afterwards they stand before the other entries with
 * sums. Entries are swapped rather than copied, because each owns memory and must not
 * exist twice. */
static void sums_add_thread(struct fxt_sql_sums *sums, struct fxt_functions *thread, uint64_t *calls)
{
	struct fxt_functions only_calls = *thread;

	only_calls.count = 0;
	for (size_t i = 0; i < thread->count; i++) {
		struct fxt_function *first = &thread->items[only_calls.count], function = thread->items[i];

		if (function.of_tracer)
			continue;
		*calls += function.calls;
		thread->items[i] = *first;
		*first = function;
		only_calls.count++;
	}
	fxt_functions_add(&sums->functions, &only_calls);
}

static int sums_compare(const void *left, const void *right)
{
	const struct fxt_function *a = left, *b = right;

	return (a->name > b->name) - (a->name < b->name);
}

const struct fxt_sql_sums *fxt_sql_sums(struct fxt_sql_trace *trace)
{
	const struct fxt_scan *scan = &trace->scan;
	bool complete;

	if (trace->sums)
		return trace->sums;
	struct fxt_sql_sums *sums = trace->sums = fxt_allocate(sizeof(*sums));
	struct fxt_thread_times times;

	/* Only the tracer's waits, which the scan has, are needed of the other thread
	 * times; no column shows switches. */
	fxt_thread_times_init(&times);
	fxt_thread_times_finish(&times, scan);
	struct fxt_functions *threads =
	        fxt_functions_read(scan, NULL, &times, fxt_walk_workers(scan), &complete);

	fxt_thread_times_free(&times);
	trace->bytes_read += scan->source->bytes;
	trace->is_short |= !complete;
	sums->calls_of = fxt_allocate(scan->thread_count * sizeof(*sums->calls_of));
	sums->calls_of_process = fxt_allocate((trace->process_count + 1) * sizeof(*sums->calls_of_process));
	for (size_t i = 0; i < scan->thread_count; i++) {
		sums_add_thread(sums, &threads[i], &sums->calls_of[i]);
		fxt_functions_free(&threads[i]);
		if (i > 0)
			sums->calls_of_process[trace->process_of[i]] += sums->calls_of[i];
	}
	free(threads);
	/* Several threads have read the trace, so the order of the functions varies from
	 * run to run. */
	if (sums->functions.count > 1)
		qsort(sums->functions.items, sums->functions.count, sizeof(*sums->functions.items),
		        sums_compare);
	fxt_functions_to_ns(&sums->functions, scan);
	sums->function_of = fxt_resize(NULL, scan->tables.string_count, sizeof(*sums->function_of));
	for (size_t i = 0; i < scan->tables.string_count; i++)
		sums->function_of[i] = SIZE_MAX;
	for (size_t i = 0; i < sums->functions.count; i++)
		sums->function_of[sums->functions.items[i].name] = i;
	return sums;
}

const struct fxt_switches *fxt_sql_switches(struct fxt_sql_trace *trace)
{
	struct fxt_sql_sums *sums = (struct fxt_sql_sums *)fxt_sql_sums(trace);
	struct fxt_archive archive;
	char error[4096 + 256];

	if (sums->has_switches)
		return &sums->switches;
	sums->has_switches = true;
	if (fxt_archive_open_fd(&archive, trace->scan.source->fd, trace->name, error, sizeof(error)) != 0) {
		trace->is_short = true;
		return &sums->switches;
	}
	fxt_switches_read(&sums->switches, &archive, fxt_scan_states_from(&trace->scan),
	        fxt_scan_ns(&trace->scan, trace->scan.end));
	fxt_archive_close(&archive);
	return &sums->switches;
}

static void sums_keep_block(void *blocks, const struct fxt_heap_block *block)
{
	fxt_spill_add(&((struct fxt_sql_blocks *)blocks)->blocks, block);
}

const struct fxt_sql_blocks *fxt_sql_blocks(struct fxt_sql_trace *trace)
{
	char error[4096 + 256];

	if (trace->blocks)
		return trace->blocks;
	struct fxt_sql_blocks *blocks = trace->blocks = fxt_allocate(sizeof(*blocks));

	fxt_spill_init(&blocks->blocks, sizeof(struct fxt_heap_block), FXT_SPILL_MEMORY_BYTES);
	if (fxt_archive_open_fd(
	            &blocks->archive, trace->scan.source->fd, trace->name, error, sizeof(error)) != 0) {
		trace->is_short = true;
		return blocks;
	}
	fxt_heap_read(&blocks->heap, &blocks->archive, 0, false);
	fxt_heap_each_block(&blocks->heap, sums_keep_block, blocks);
	trace->bytes_read += 2 * blocks->archive.bytes;
	return blocks;
}

void fxt_sql_blocks_free(struct fxt_sql_blocks *blocks)
{
	if (!blocks)
		return;
	if (blocks->archive.words) {
		fxt_heap_free(&blocks->heap);
		fxt_archive_close(&blocks->archive);
	}
	fxt_spill_free(&blocks->blocks);
	free(blocks);
}

void fxt_sql_sums_free(struct fxt_sql_sums *sums)
{
	if (!sums)
		return;
	fxt_functions_free(&sums->functions);
	fxt_switches_free(&sums->switches);
	free(sums->function_of);
	free(sums->calls_of);
	free(sums->calls_of_process);
	free(sums);
}
