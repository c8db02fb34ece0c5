#include "page.h"

#include <inttypes.h>

/* Waits are followed this deep, as by fxt why; a call has at most so many parts. */
enum { DEPTH = 4, PARTS = 24 };

struct slow_parts {
	struct fxt_html *page;
	uint32_t function;
	const char *before;
};

static void slow_part(void *context, const struct fxt_part *part, unsigned level)
{
	struct slow_parts *parts = context;
	struct fxt_html *page = parts->page;
	struct fxt_describer text;

	fprintf(page->out, "%s\n[%u, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", \"%s\", ", parts->before, level,
	        part->ns, part->usual_ns, part->calls, fxt_describe_kind(part->kind));
	fxt_describe_begin(&text);
	fxt_describe_part(text.out, page->scan, page->waits, page->faults, part,
	        level == 0 ? parts->function : FXT_NOTHING);
	fxt_html_words_write(page->out, &text);
	putc(']', page->out);
	parts->before = ",";
}

/* The functions around a stretch of time, at most `most`. A recorded call of a function that
 * waits, and its wait, are one. */
static unsigned slow_depth(const struct fxt_paths *paths, uint32_t path, unsigned most)
{
	unsigned depth = 0;

	for (; path != 0 && depth < most; path = paths->items[path].parent)
		depth += paths->items[path].name != paths->items[paths->items[path].parent].name;
	return depth;
}

/*
 * True for a call by which a thread takes its work from others: it took nine tenths of its
 * time to wait for a condition or a semaphore, in itself, and the function of its thread
 * calls it. Not on the main thread, which rather waits for results.
 */
static bool slow_waits_for_work(const struct fxt_html *page, const struct fxt_causes *causes)
{
	enum { LOOP = 3 }; /* the thread's function, the call, and the wait */
	const struct fxt_account *account = &causes->accounts.items[0];
	const struct fxt_koids *koids = &page->scan->tables.threads[account->thread];
	struct fxt_spill_window window = {0};
	uint64_t ns = 0;

	if (koids->thread == koids->process)
		return false;
	for (uint64_t i = 0; i < account->waited.count; i++) {
		const struct fxt_cell_of_time *cell = fxt_spill_at(&account->waited, &window, i);
		const struct fxt_wait wait = fxt_waits_item(page->waits, cell->wait - 1);

		if ((wait.kind == FXT_WAIT_CONDITION || wait.kind == FXT_WAIT_SEMAPHORE) &&
		        slow_depth(&causes->accounts.paths, cell->path, LOOP + 1) <= LOOP)
			ns += cell->ns;
	}
	return ns >= (account->end - account->start) / 10 * 9;
}

static void slow_call(struct fxt_html *page, const struct fxt_outlier *outlier)
{
	const struct fxt_scan *scan = page->scan;
	const struct fxt_slice *call = &outlier->slowest, *calls[] = {call};
	uint64_t start = fxt_scan_ns(scan, call->start) - fxt_scan_ns(scan, scan->start);
	uint64_t ns = fxt_scan_ns(scan, outlier->slowest_time);
	struct fxt_causes causes;
	struct fxt_describer path;
	struct slow_parts parts = {page, call->name, ""};

	page->is_changed |= !fxt_causes_read(&causes, scan, &page->times->timeline, page->faults, page->waits,
	        calls, 1, &outlier->usual, DEPTH);
	fprintf(page->out,
	        "{\"name\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"start\": %" PRIu64 ", \"ns\": %" PRIu64
	        ", \"whole_ns\": %" PRIu64 ", \"usual_ns\": %" PRIu64 ", \"calls\": %" PRIu64
	        ", \"is_idle\": %s, \"path\": ",
	        fxt_html_name(&page->names, call->name), call->thread, start, ns,
	        fxt_scan_ns(scan, call->end - call->start), fxt_scan_ns(scan, outlier->usual_time),
	        outlier->calls, outlier->is_idle || slow_waits_for_work(page, &causes) ? "true" : "false");
	fxt_describe_begin(&path);
	fxt_describe_path(path.out, scan, &causes.accounts.paths, causes.accounts.items[0].path);
	fxt_html_words_write(page->out, &path);
	fputs(", \"parts\": [", page->out);
	fxt_causes_report(&causes.calls[0], ns, PARTS, true, slow_part, &parts);
	fputs("]}", page->out);
	fxt_causes_free(&causes);
}

void fxt_html_slow(struct fxt_html *page)
{
	fputs("\"slow\": [", page->out);
	for (size_t i = 0; i < page->outliers.count; i++) {
		fputs(i > 0 ? ",\n" : "", page->out);
		slow_call(page, &page->outliers.items[i]);
	}
	fputs("]", page->out);
}
