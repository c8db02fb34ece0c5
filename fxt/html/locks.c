#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/json.h"
#include "fxt/moments.h"
#include "fxt/words.h"
#include "reader/contention.h"

enum { LOCKS = 20, BILLS = 5 };

static void locks_words(FILE *out, struct fxt_words *words)
{
	fxt_json_string_in_html(out, fxt_words_end(words));
	fxt_words_free(words);
}

/* A thread, and the functions in which it held the lock or waited for it. */
static void locks_place(struct fxt_html *page, uint32_t thread, uint32_t path)
{
	struct fxt_words words;

	fxt_words_begin(&words);
	fxt_words_thread(words.out, page->scan, thread, false);
	fputs(" in ", words.out);
	fxt_words_path(words.out, page->scan, &page->waits->paths, path);
	locks_words(page->out, &words);
}

static void locks_bill(struct fxt_html *page, const struct fxt_bill *bill)
{
	fprintf(page->out, "[%" PRIu64 ", %" PRIu64 ", ", bill->ns, bill->waits);
	if (bill->holder != FXT_NOTHING)
		locks_place(page, bill->holder, bill->holder_path);
	else
		fputs(bill->is_free ? "\"nobody any more: released, and the waiter not back yet\""
		                    : "\"unknown\"",
		        page->out);
	fputs(", ", page->out);
	locks_place(page, bill->waiter, bill->waiter_path);
	putc(']', page->out);
}

static void locks_lock(struct fxt_html *page, const struct fxt_contention *c, size_t number)
{
	const struct fxt_contended_lock *lock = &c->locks[number];
	struct fxt_words name;
	unsigned bills = 0;

	fputs("{\"lock\": ", page->out);
	fxt_words_begin(&name);
	fxt_words_object(name.out, page->scan, FXT_WAIT_LOCK, lock->symbol, lock->object);
	locks_words(page->out, &name);
	fprintf(page->out,
	        ", \"waits\": %" PRIu64 ", \"open\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"longest\": %" PRIu64
	        ", \"at_once\": %" PRIu32 ", \"process\": %" PRIu64 ", \"name\": %" PRIu32 ",\n\"bills\": [",
	        lock->waits, lock->open, lock->ns, lock->longest, lock->at_once, lock->process,
	        fxt_html_name(&page->names, lock->name));
	for (size_t i = 0; i < c->bill_count && bills < BILLS; i++) {
		if (c->bills[i].lock != number)
			continue;
		fputs(bills++ > 0 ? ",\n" : "", page->out);
		locks_bill(page, &c->bills[i]);
	}
	fputs("]}", page->out);
}

void fxt_html_locks(struct fxt_html *page)
{
	struct fxt_contention contention;

	page->is_changed |= !fxt_waits_walk(page->waits, page->scan);
	bool *chosen = fxt_moments_choose_waits(page->scan, page->waits);

	fxt_contention_read(&contention, page->waits, page->scan, chosen);
	fprintf(page->out, "\"lock_count\": %zu,\n\"locks\": [", contention.lock_count);
	for (size_t i = 0; i < contention.lock_count && i < LOCKS; i++) {
		fputs(i > 0 ? ",\n" : "", page->out);
		locks_lock(page, &contention, i);
	}
	fputs("]", page->out);
	free(chosen);
	fxt_contention_free(&contention);
}
