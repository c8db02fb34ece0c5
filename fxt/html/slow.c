#include "page.h"

#include <inttypes.h>

/* As fxt why follows waits; and parts of a call. */
enum { DEPTH = 4, PARTS = 24 };

/* Parts as fxt why prints them: of the call itself all, of what is inside of these what matters. */
static void slow_parts(struct fxt_html *page, const struct fxt_parts *parts, uint64_t whole,
        uint32_t function, unsigned level, unsigned *left)
{
	for (size_t i = 0; *left > 0 && i < parts->count; i++) {
		const struct fxt_part *part = &parts->items[i];
		struct fxt_words text;

		if (level > 0 && part->ns * 100 < whole)
			break;
		fprintf(page->out, "%s\n[%u, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", \"%s\", ",
		        *left < PARTS ? "," : "", level, part->ns, part->usual_ns, part->calls,
		        fxt_words_kind(part->kind));
		fxt_words_begin(&text);
		fxt_words_part(text.out, page->scan, page->waits, part, function);
		fxt_html_words_write(page->out, &text);
		putc(']', page->out);
		--*left;
		if (part->inside.count > 1 || part->kind == FXT_PART_WAITED)
			slow_parts(page, &part->inside, whole, FXT_NOTHING, level + 1, left);
	}
}

static void slow_call(struct fxt_html *page, const struct fxt_outlier *outlier)
{
	const struct fxt_scan *scan = page->scan;
	const struct fxt_slice *call = &outlier->slowest, *calls[] = {call};
	uint64_t start = fxt_scan_ns(scan, call->start) - fxt_scan_ns(scan, scan->start);
	uint64_t ns = fxt_scan_ns(scan, call->end - call->start);
	struct fxt_causes causes;
	struct fxt_words path;
	unsigned left = PARTS;

	page->is_changed |= !fxt_causes_read(
	        &causes, scan, &page->pastimes->timeline, page->waits, calls, 1, &outlier->usual, DEPTH);
	fprintf(page->out,
	        "{\"name\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"start\": %" PRIu64 ", \"ns\": %" PRIu64
	        ", \"usual_ns\": %" PRIu64 ", \"calls\": %" PRIu64 ", \"path\": ",
	        fxt_html_name(&page->names, call->name), call->thread, start, ns,
	        fxt_scan_ns(scan, outlier->usual.end - outlier->usual.start), outlier->calls);
	fxt_words_begin(&path);
	fxt_words_path(path.out, scan, &causes.accounts.paths, causes.accounts.items[0].path);
	fxt_html_words_write(page->out, &path);
	fputs(", \"parts\": [", page->out);
	slow_parts(page, &causes.calls[0], ns, call->name, 0, &left);
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
