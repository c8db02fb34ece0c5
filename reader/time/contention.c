/*
 * Sums up waits by lock, and divides each wait's time among the threads that held the lock.
 * Runs on the caller's thread, after the walk for waits. A wait's time must be counted
 * exactly once.
 */
#include "contention.h"

#include <stdlib.h>

static uint32_t contention_lock(
        struct fxt_contention *c, const struct fxt_wait *wait, const struct fxt_tables *t)
{
	uint64_t process = t->threads[wait->thread].process;
	uint32_t hash = fxt_hash_word(fxt_hash_mix(wait->object) ^ process ^ (uint64_t)wait->life << 32);

	for (struct fxt_probe probe = fxt_probe(&c->lock_index, hash);
	        fxt_probe_next(&c->lock_index, &probe);)
		if (c->locks[probe.id].object == wait->object && c->locks[probe.id].process == process &&
		        c->locks[probe.id].life == wait->life)
			return probe.id;
	fxt_index_add(&c->lock_index, hash, (uint32_t)c->lock_count);
	fxt_make_room(c->locks, c->lock_count, c->lock_room);
	c->locks[c->lock_count] = (struct fxt_contended_lock){.process = process,
	        .object = wait->object,
	        .life = wait->life,
	        .symbol = wait->symbol,
	        .name = wait->name};
	return (uint32_t)c->lock_count++;
}

static struct fxt_blame *contention_blame(struct fxt_contention *c, const struct fxt_blame *key)
{
	uint64_t paths = (uint64_t)key->holder_path << 32 | key->waiter_path;
	uint64_t threads = (uint64_t)key->holder << 32 | key->waiter;
	uint32_t hash =
	        fxt_hash_word(fxt_hash_mix(fxt_hash_mix(fxt_hash_mix(paths) ^ threads) ^ key->keeper) ^
	                      key->lock << 1 ^ key->is_free);

	for (struct fxt_probe probe = fxt_probe(&c->blame_index, hash);
	        fxt_probe_next(&c->blame_index, &probe);) {
		struct fxt_blame *blame = &c->blames[probe.id];

		if (blame->lock == key->lock && blame->holder == key->holder &&
		        blame->holder_path == key->holder_path && blame->waiter == key->waiter &&
		        blame->waiter_path == key->waiter_path && blame->keeper == key->keeper &&
		        blame->is_free == key->is_free)
			return blame;
	}
	fxt_index_add(&c->blame_index, hash, (uint32_t)c->blame_count);
	fxt_make_room(c->blames, c->blame_count, c->blame_room);
	c->blames[c->blame_count] = *key;
	return &c->blames[c->blame_count++];
}

/* Divides a wait's time by the holders of the lock. */
static void contention_divide(
        struct fxt_contention *c, const struct fxt_waits *waits, const struct fxt_wait *wait, uint32_t lock)
{
	uint64_t keeper = fxt_waits_keeper(waits, wait);

	for (uint64_t moment = wait->start; moment < wait->end;) {
		uint64_t until = wait->end;
		uint32_t release = fxt_waits_holder(waits, wait, moment, &until);
		struct fxt_blame key = {.lock = lock, .waiter = wait->thread, .waiter_path = wait->path};

		if (release != FXT_NO_RELEASE) {
			const struct fxt_release by = fxt_waits_release(waits, release);

			key.holder = by.thread;
			key.holder_path = by.path;
		} else {
			key.keeper = keeper;
			key.is_free = wait->release != FXT_NO_RELEASE;
		}
		struct fxt_blame *blame = contention_blame(c, &key);

		blame->waits++;
		blame->ns += until - moment;
		moment = until;
	}
}

struct moment {
	uint64_t ns;
	uint32_t lock;
	bool begins;
};

static int contention_by_lock_and_time(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->begins > b->begins) - (a->begins < b->begins);
}

static void contention_count_at_once(struct fxt_contention *c, struct fxt_spill *moments)
{
	struct fxt_spill_window window = {0};
	uint32_t now = 0;

	fxt_spill_sort(moments, contention_by_lock_and_time);
	for (uint64_t i = 0; i < moments->count; i++) {
		const struct moment *moment = fxt_spill_at(moments, &window, i);
		struct fxt_contended_lock *lock = &c->locks[moment->lock];

		now = moment->begins ? now + 1 : now - 1;
		if (now > lock->at_once)
			lock->at_once = now;
	}
}

/* ---- order ---- */

static int contention_longest_lock_first(const void *left, const void *right, void *context)
{
	const struct fxt_contended_lock *locks = context;
	const struct fxt_contended_lock *a = &locks[*(const uint32_t *)left];
	const struct fxt_contended_lock *b = &locks[*(const uint32_t *)right];

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a > b) - (a < b);
}

static int contention_by_lock_longest_first(const void *left, const void *right)
{
	const struct fxt_blame *a = left, *b = right;

	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->waiter > b->waiter) - (a->waiter < b->waiter);
}

static void contention_sort(struct fxt_contention *c)
{
	struct fxt_contended_lock *sorted = fxt_resize(NULL, c->lock_count + 1, sizeof(*sorted));
	uint32_t *order = fxt_resize(NULL, c->lock_count + 1, sizeof(*order));
	uint32_t *place = fxt_resize(NULL, c->lock_count + 1, sizeof(*place));

	for (size_t i = 0; i < c->lock_count; i++)
		order[i] = (uint32_t)i;
	if (c->lock_count > 1)
		qsort_r(order, c->lock_count, sizeof(*order), contention_longest_lock_first, c->locks);
	for (size_t i = 0; i < c->lock_count; i++) {
		sorted[i] = c->locks[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	for (size_t i = 0; i < c->blame_count; i++)
		c->blames[i].lock = place[c->blames[i].lock];
	if (c->blame_count > 1)
		qsort(c->blames, c->blame_count, sizeof(*c->blames), contention_by_lock_longest_first);
	free(c->locks);
	free(order);
	free(place);
	c->locks = sorted;
	c->lock_room = c->lock_count + 1;
}

void fxt_contention_read(struct fxt_contention *c, const struct fxt_waits *waits, const struct fxt_scan *scan)
{
	struct fxt_spill moments;

	*c = (struct fxt_contention){0};
	fxt_spill_init(&moments, sizeof(struct moment), FXT_SPILL_MEMORY_BYTES);
	for (uint32_t i = 0; i < fxt_waits_count(waits); i++) {
		const struct fxt_wait wait = fxt_waits_item(waits, i);
		uint64_t ns = wait.end - wait.start;

		if ((wait.kind != FXT_WAIT_LOCK && wait.kind != FXT_WAIT_SEMAPHORE &&
		            wait.kind != FXT_WAIT_FUTEX) ||
		        !fxt_waits_is_chosen(waits, scan, &wait))
			continue;
		uint32_t number = contention_lock(c, &wait, &scan->tables);
		struct fxt_contended_lock *lock = &c->locks[number];

		lock->waits++;
		lock->open += wait.is_open;
		lock->ns += ns;
		if (ns > lock->longest)
			lock->longest = ns;
		contention_divide(c, waits, &wait, number);
		for (int begins = 0; begins < 2; begins++)
			fxt_spill_add(
			        &moments, &(struct moment){begins ? wait.start : wait.end, number, begins});
	}
	contention_count_at_once(c, &moments);
	contention_sort(c);
	fxt_spill_free(&moments);
}

void fxt_contention_free(struct fxt_contention *c)
{
	free(c->locks);
	free(c->blames);
	fxt_index_free(&c->lock_index);
	fxt_index_free(&c->blame_index);
	*c = (struct fxt_contention){0};
}
