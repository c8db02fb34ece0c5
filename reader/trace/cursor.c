/*
 * Walks over the records of a mapped archive. Runs on any thread; a cursor belongs to one.
 * Must never read outside the archive, whatever its bytes say.
 */
#include "cursor.h"

#include <sys/mman.h>
#include <unistd.h>
#include "progress.h"
#include "writer/engine/heap.h"

struct fxt_cursor fxt_cursor(const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = {
	        .first = archive->words,
	        .next = archive->words,
	        .end = archive->words + archive->bytes / 8,
	        .kept = archive->mapped ? archive->words : NULL,
	        .tail = archive->bytes % 8 != 0,
	};

	if (archive->parts) {
		cursor.part = archive->parts;
		cursor.last_part = archive->parts + archive->part_count;
		cursor.end = cursor.next;
	}
	cursor.tell = cursor.end;
	if ((fxt_progress || archive->mapped) && archive->bytes > FXT_PROGRESS_BYTES)
		cursor.tell = cursor.first + FXT_PROGRESS_BYTES / 8;
	return cursor;
}

/* Drops the pages behind the cursor. Pages of a mapping count as the reader's memory,
 * although they can be read from the file again. The last piece stays, and is dropped once
 * more later: code that copies records follows a little behind, and a fault maps the pages
 * around it too. */
static void cursor_let_go(struct fxt_cursor *c)
{
	const size_t piece = FXT_PROGRESS_BYTES, page = (size_t)sysconf(_SC_PAGESIZE);
	size_t next = (size_t)(c->next - c->first) * 8, kept = (size_t)(c->kept - c->first) * 8;
	size_t to = next > piece ? (next - piece) & -page : 0, from = kept > piece ? kept - piece : 0;

	if (to <= kept)
		return;
	madvise((char *)c->first + from, to - from, MADV_DONTNEED);
	c->kept = c->first + to / 8;
}

void fxt_cursor_where(struct fxt_cursor *c)
{
	uint64_t all = c->last_part ? c->last_part[-1].to : (uint64_t)(c->end - c->first) * 8;

	if (c->kept)
		cursor_let_go(c);
	fxt_progress_report("reading", (uint64_t)(c->next - c->first) * 8, all);
	c->tell = (uint64_t)(c->end - c->next) * 8 > FXT_PROGRESS_BYTES ? c->next + FXT_PROGRESS_BYTES / 8
	                                                                : c->end;
}

bool fxt_cursor_stop(struct fxt_cursor *c, struct fxt_record *r)
{
	if (c->next == c->end && c->part < c->last_part) {
		c->next = c->first + c->part->from / 8;
		c->end = c->first + c->part->to / 8;
		c->part++;
		fxt_cursor_where(c);
		return fxt_next(c, r);
	}
	if (c->end - c->first > (ptrdiff_t)(FXT_PROGRESS_BYTES / 8))
		fxt_progress_end();
	c->fault.offset = r->offset;
	if (c->next < c->end && r->size == 0) {
		c->fault.reason = "record of size 0, so nothing after it can be found";
	} else if (c->next < c->end || c->tail) {
		c->fault.reason = "truncated inside a record";
		c->fault.truncated = true;
	}
	return false;
}

bool fxt_view_heap_counters(const struct fxt_view *view, struct fxt_view *counters)
{
	if (view->type != FXT_RECORD_LARGE || view->large_blob.format != FXT_LARGE_BLOB_WITH_METADATA ||
	        !fxt_span_is(fxt_inline_text(view->large_blob.category), FXT_HEAP_COUNTERS_NAME) ||
	        !fxt_span_is(fxt_inline_text(view->large_blob.name), FXT_HEAP_COUNTERS_NAME))
		return false;
	*counters = (struct fxt_view){.type = FXT_RECORD_EVENT,
	        .event = {.type = FXT_EVENT_COUNTER,
	                .thread = view->large_blob.thread,
	                .category = view->large_blob.category,
	                .name = view->large_blob.name,
	                .ticks = view->large_blob.ticks},
	        .arguments = view->arguments,
	        .end = view->end};
	return true;
}
