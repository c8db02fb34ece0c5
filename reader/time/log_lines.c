#include "log_lines.h"
#include "reader/slices/span.h"

void fxt_log_lines_init(struct fxt_log_lines *l)
{
	fxt_spill_init(&l->lines, sizeof(struct fxt_log_line), FXT_SPILL_MEMORY_BYTES);
}

void fxt_log_lines_free(struct fxt_log_lines *l)
{
	fxt_spill_free(&l->lines);
}

void fxt_log_lines_clear(struct fxt_log_lines *l)
{
	fxt_spill_clear(&l->lines);
}

void fxt_log_lines_record(
        struct fxt_log_lines *l, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	if (view->type != FXT_RECORD_LOG || fxt_begins_with(view->log.text, "{{{"))
		return;
	/* Two words, and the thread, are in front of the text. */
	fxt_spill_add(&l->lines,
	        &(struct fxt_log_line){.ns = fxt_provider_ns(t->provider, view->log.ticks),
	                .offset = offset + (2 + fxt_thread_words(view->log.thread)) * sizeof(uint64_t),
	                .thread = fxt_tables_thread(t, view->log.thread),
	                .bytes = (uint32_t)view->log.text.bytes});
}

static int log_lines_by_time(const void *left, const void *right)
{
	const struct fxt_log_line *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

void fxt_log_lines_finish(struct fxt_log_lines *l)
{
	fxt_spill_sort(&l->lines, log_lines_by_time);
}
