/*
 * Finds the closed circles of waiting threads at a trace's end, and prints them. Runs on the
 * main thread. It must not call a wait a deadlock unless the circle of holders is closed.
 */
#include "deadlocks.h"

#include <stdlib.h>
#include "describe.h"
#include "print.h"
#include "reader/trace/index.h"
#include "reader/trace/text.h"
#include "writer/shared/search.h"

static int deadlocks_compare(const void *left, const void *right)
{
	const struct fxt_open_wait *a = left, *b = right;

	if (a->koid != b->koid)
		return a->koid < b->koid ? -1 : 1;
	return (a->wait.start < b->wait.start) - (a->wait.start > b->wait.start);
}

/* The place of the innermost wait of a thread; `count`: it does not wait. */
static size_t deadlocks_wait_of(const struct fxt_deadlocks *d, uint64_t koid)
{
	size_t at = partition_point(i, d->count, d->waits[i].koid < koid);

	return at < d->count && d->waits[at].koid == koid ? at : d->count;
}

/* Follows the wait at `at` to the thread that must end it. Returns the place of that thread's
 * own wait; `count`: it does not wait. */
static size_t deadlocks_next(const struct fxt_deadlocks *d, const struct fxt_waits *waits, size_t at)
{
	uint64_t keeper = fxt_waits_keeper(waits, &d->waits[at].wait);

	if (keeper == d->waits[at].koid)
		return at;
	return keeper ? deadlocks_wait_of(d, keeper) : d->count;
}

/* True if the steps of deadlocks_next() lead from a wait back to it. */
static bool deadlocks_is_circle(const struct fxt_deadlocks *d, size_t first)
{
	size_t at = d->waits[first].next;

	for (size_t steps = 0; at < d->count && at != first && steps < d->count; steps++)
		at = d->waits[at].next;
	return at == first;
}

void fxt_deadlocks_find(struct fxt_deadlocks *d, const struct fxt_waits *waits, const struct fxt_scan *scan)
{
	*d = (struct fxt_deadlocks){0};
	for (uint32_t i = 0; i < fxt_waits_count(waits); i++) {
		const struct fxt_wait wait = fxt_waits_item(waits, i);

		if (!wait.is_open || (wait.kind != FXT_WAIT_LOCK && wait.kind != FXT_WAIT_THREAD))
			continue;
		fxt_make_room(d->waits, d->count, d->room);
		d->waits[d->count++] =
		        (struct fxt_open_wait){wait, scan->tables.threads[wait.thread].thread, 0, 0};
	}
	if (d->count == 0)
		return;
	qsort(d->waits, d->count, sizeof(*d->waits), deadlocks_compare);
	for (size_t i = 0; i < d->count; i++)
		d->waits[i].next = deadlocks_next(d, waits, i);
	for (size_t i = 0; i < d->count; i++) {
		if (d->waits[i].circle || !deadlocks_is_circle(d, i))
			continue;
		d->circles++;
		for (size_t at = i; !d->waits[at].circle; at = d->waits[at].next)
			d->waits[at].circle = d->circles;
	}
}

/* Prints: thread 17 "worker" holds m1 and has waited for 3.2 s for m2, held by thread 18
 * "main", in serve > lock_both. `before` is the wait for this thread. */
static void deadlocks_describe(FILE *out, const struct fxt_waits *waits, const struct fxt_scan *scan,
        const struct fxt_open_wait *before, const struct fxt_open_wait *of, bool is_first)
{
	bool with_process = is_first || before->wait.process != of->wait.process;

	fputs(is_first ? "" : "; ", out);
	fxt_describe_thread(out, scan, of->wait.thread, with_process);
	if (before != of && before->wait.kind == FXT_WAIT_LOCK) {
		fputs(" holds ", out);
		fxt_describe_awaited(out, scan, waits, &before->wait);
		fputs(" and", out);
	}
	fprintf(out, " has waited for %s for ", fxt_time_text((double)(of->wait.end - of->wait.start)).text);
	fxt_describe_awaited(out, scan, waits, &of->wait);
	fxt_describe_keeper(out, scan, waits, &of->wait);
	fputs(", in ", out);
	fxt_describe_path(out, scan, &waits->paths, of->wait.path);
}

static void deadlocks_print_circle(const struct fxt_deadlocks *d, const struct fxt_waits *waits,
        const struct fxt_scan *scan, size_t first)
{
	size_t last = first, at = first;
	bool is_chosen = false;
	struct fxt_describer text;

	while (d->waits[last].next != first)
		last = d->waits[last].next;
	fxt_describe_begin(&text);
	fputs("deadlock: ", text.out);
	do {
		deadlocks_describe(text.out, waits, scan, &d->waits[last], &d->waits[at], at == first);
		is_chosen |= fxt_waits_is_chosen(waits, scan, &d->waits[at].wait);
		last = at;
		at = d->waits[at].next;
	} while (at != first);
	struct fxt_span line = fxt_describe_end(&text);

	if (is_chosen)
		fxt_print_note("%.*s", (int)line.bytes, line.data);
	fxt_describe_free(&text);
}

void fxt_deadlocks_print(
        const struct fxt_deadlocks *d, const struct fxt_waits *waits, const struct fxt_scan *scan)
{
	size_t printed = 0;

	for (size_t i = 0; i < d->count; i++) {
		if (d->waits[i].circle != printed + 1)
			continue;
		deadlocks_print_circle(d, waits, scan, i);
		printed++;
	}
}

bool fxt_deadlocks_tell(struct fxt_waits *waits, const struct fxt_scan *scan)
{
	struct fxt_deadlocks deadlocks;
	bool is_whole = true;

	fxt_deadlocks_find(&deadlocks, waits, scan);
	if (deadlocks.circles > 0) {
		/* The walk finds the functions that wait. */
		is_whole = fxt_waits_walk(waits, scan);
		fxt_deadlocks_free(&deadlocks);
		fxt_deadlocks_find(&deadlocks, waits, scan);
		fxt_deadlocks_print(&deadlocks, waits, scan);
	}
	fxt_deadlocks_free(&deadlocks);
	return is_whole;
}

void fxt_deadlocks_free(struct fxt_deadlocks *d)
{
	free(d->waits);
	*d = (struct fxt_deadlocks){0};
}
