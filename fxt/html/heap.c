/*
 * Writes the heap of each process: its curve, its sums and its largest call paths. Runs on
 * the main thread, and reads the trace once more.
 */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/json.h"
#include "reader/heap/heap_paths.h"
#include "reader/trace/source.h"

/* The number of points of a curve, and the most call paths and processes that are
 * written. */
enum { STEPS = 600, PATHS = 25, PROCESSES = 40 };

struct paths {
	FILE *out;
	unsigned count;
};

static void heap_path(void *context, struct fxt_span folded, struct fxt_heap_sums sums)
{
	struct paths *paths = context;

	if (paths->count++ >= PATHS)
		return;
	fputs(paths->count > 1 ? ",\n[" : "\n[", paths->out);
	fxt_json_number(paths->out, sums.bytes);
	fputs(", ", paths->out);
	fxt_json_number(paths->out, sums.blocks);
	fputs(", ", paths->out);
	fxt_json_string_in_html(paths->out, folded);
	putc(']', paths->out);
}

/* Writes the sums of a cost. For the peak and for leaks, also writes the call paths with
 * the largest shares. */
static void heap_cost(FILE *out, struct fxt_heap *heap, uint32_t process, enum fxt_heap_cost cost)
{
	struct fxt_heap_sums sums = fxt_heap_total(&heap->processes[process], cost);
	struct paths paths = {out, 0};

	fprintf(out, ",\n\"%s\": {\"bytes\": ", fxt_heap_cost_name(cost));
	fxt_json_number(out, sums.bytes);
	fputs(", \"blocks\": ", out);
	fxt_json_number(out, sums.blocks);
	fputs(", \"paths\": [", out);
	if (cost == FXT_HEAP_PEAK || cost == FXT_HEAP_LEAKED)
		fxt_heap_each_path(heap, process, cost, false, heap_path, &paths);
	fprintf(out, "], \"path_count\": %u}", paths.count);
}

static void heap_process(struct fxt_html *page, struct fxt_heap *heap, uint32_t process, uint64_t origin)
{
	const struct fxt_heap_process *p = &heap->processes[process];
	double *curve = fxt_allocate(STEPS * sizeof(*curve));
	FILE *out = page->out;

	fprintf(out, "{\"process\": %" PRIu64 ", \"name\": ", p->koid);
	fxt_json_string_in_html(out, heap->tables.strings[fxt_heap_process_name(heap, p)]);
	fprintf(out,
	        ", \"sample_bytes\": %" PRIu64 ", \"from\": %" PRIu64 ", \"to\": %" PRIu64
	        ", \"peak_at\": %" PRIu64,
	        p->sample_bytes, p->first - origin, p->last - origin,
	        p->peak > origin ? p->peak - origin : 0);
	for (enum fxt_heap_cost cost = 0; cost < FXT_HEAP_COSTS; cost++)
		heap_cost(out, heap, process, cost);
	fputs(",\n\"curve\": [", out);
	fxt_heap_curve(heap, process, curve, STEPS);
	for (unsigned i = 0; i < STEPS; i++) {
		fputs(i > 0 ? "," : "", out);
		fxt_json_number(out, curve[i]);
	}
	fputs("]}", out);
	free(curve);
}

static int heap_compare_peaks(const void *a, const void *b, void *heap)
{
	const struct fxt_heap_process *processes = ((const struct fxt_heap *)heap)->processes;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double x_bytes = processes[x].at_peak.bytes, y_bytes = processes[y].at_peak.bytes;

	return x_bytes != y_bytes ? (x_bytes < y_bytes) - (x_bytes > y_bytes) : (x > y) - (x < y);
}

/* Writes the processes with a heap, the largest peak first. For those beyond PROCESSES,
 * writes only their number and the sum of their leaks. */
static void heap_processes(struct fxt_html *page, struct fxt_heap *heap)
{
	struct fxt_heap_sums leaked = {0};
	size_t count;
	uint32_t *found = fxt_heap_list(heap, &count);

	qsort_r(found, count, sizeof(*found), heap_compare_peaks, heap);
	fputs("{\"processes\": [", page->out);
	for (size_t i = 0; i < count && i < PROCESSES; i++) {
		fputs(i > 0 ? ",\n" : "", page->out);
		heap_process(page, heap, found[i], fxt_scan_ns(page->scan, page->scan->start));
	}
	for (size_t i = PROCESSES; i < count; i++)
		leaked.bytes += heap->processes[found[i]].leaked.bytes;
	fprintf(page->out, "], \"more\": %zu, \"more_leaked\": ", count > PROCESSES ? count - PROCESSES : 0);
	fxt_json_number(page->out, leaked.bytes);
	putc('}', page->out);
	free(found);
}

void fxt_html_heap(struct fxt_html *page)
{
	struct fxt_archive archive;
	struct fxt_heap heap;
	char error[4096 + 256];

	fputs("\"heap\": ", page->out);
	if (!page->has_heap ||
	        fxt_archive_open_fd(&archive, page->source->fd, page->title, error, sizeof(error)) != 0) {
		if (page->has_heap) {
			fprintf(stderr, "fxt: %s\n", error);
			page->is_changed = true;
		}
		fputs("{\"processes\": [], \"more\": 0}", page->out);
		return;
	}
	fxt_heap_read(&heap, &archive, 0, false);
	heap_processes(page, &heap);
	fxt_heap_free(&heap);
	fxt_archive_close(&archive);
}
