#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/call_details.h"

enum { LOCKS = 20, BILLS = 5 };

static void locks_blame(struct fxt_html *page, const struct fxt_blame *blame)
{
	struct fxt_describer holder, waiter;

	fxt_describe_begin(&holder);
	fxt_describe_holder(holder.out, page->scan, page->waits, blame);
	fxt_describe_begin(&waiter);
	fxt_describe_place(waiter.out, page->scan, page->waits, blame->waiter, blame->waiter_path);
	fprintf(page->out, "[%" PRIu64 ", %" PRIu64 ", ", blame->ns, blame->waits);
	fxt_html_words_write(page->out, &holder);
	fputs(", ", page->out);
	fxt_html_words_write(page->out, &waiter);
	putc(']', page->out);
}

static void locks_lock(struct fxt_html *page, const struct fxt_contention *c, size_t number)
{
	const struct fxt_contended_lock *lock = &c->locks[number];
	struct fxt_describer name;
	unsigned blames = 0;

	fputs("{\"lock\": ", page->out);
	fxt_describe_begin(&name);
	fxt_describe_object(name.out, page->scan, FXT_WAIT_LOCK, lock->symbol, lock->object, lock->life);
	fxt_html_words_write(page->out, &name);
	fprintf(page->out,
	        ", \"waits\": %" PRIu64 ", \"open\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"longest\": %" PRIu64
	        ", \"at_once\": %" PRIu32 ", \"name\": %" PRIu32 ",\n\"bills\": [",
	        lock->waits, lock->open, lock->ns, lock->longest, lock->at_once,
	        fxt_html_name(&page->names, lock->name));
	for (size_t i = 0; i < c->blame_count && blames < BILLS; i++) {
		if (c->blames[i].lock != number)
			continue;
		fputs(blames++ > 0 ? ",\n" : "", page->out);
		locks_blame(page, &c->blames[i]);
	}
	fputs("]}", page->out);
}

void fxt_html_locks(struct fxt_html *page)
{
	struct fxt_contention contention;

	page->is_changed |= !fxt_waits_walk(page->waits, page->scan);
	fxt_contention_read(&contention, page->waits, page->scan);
	fprintf(page->out, "\"lock_count\": %zu,\n\"locks\": [", contention.lock_count);
	for (size_t i = 0; i < contention.lock_count && i < LOCKS; i++) {
		fputs(i > 0 ? ",\n" : "", page->out);
		locks_lock(page, &contention, i);
	}
	fputs("]", page->out);
	fxt_contention_free(&contention);
}
