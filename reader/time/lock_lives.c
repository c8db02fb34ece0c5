/*
 * Numbers the lives of locks, in one pass over their waits and their ends, both by object
 * and time. Ends between which no wait begins are one: a program may destroy a lock,
 * initialise it and free its memory.
 */
#include "lock_lives.h"
#include "waits.h"

static int lives_compare_objects(const struct fxt_lock_moment *a, const struct fxt_lock_moment *b)
{
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

static int lives_compare(const void *left, const void *right)
{
	const struct fxt_lock_moment *a = left, *b = right;
	int order = lives_compare_objects(a, b);

	if (order)
		return order;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void lives_collect_begins(const struct fxt_spill *waits, struct fxt_spill *begins)
{
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct fxt_wait *wait = fxt_spill_item(waits, i);

		if (wait->object && wait->kind != FXT_WAIT_DESCRIPTOR && wait->kind != FXT_WAIT_THREAD)
			fxt_spill_add(begins,
			        &(struct fxt_lock_moment){wait->process, wait->object, wait->start, i});
	}
	fxt_spill_sort(begins, lives_compare);
}

/* Passes the ends up to `begin`, the first of them at *next. Returns whether the latest one
 * is of the same object. */
static bool lives_pass_ends(struct fxt_spill *ends, struct fxt_spill_window *window, uint64_t *next,
        const struct fxt_lock_moment *begin)
{
	bool is_of_object = false;

	for (; *next < ends->count; ++*next) {
		const struct fxt_lock_moment *end = fxt_spill_at(ends, window, *next);
		int order = lives_compare_objects(end, begin);

		if (order > 0 || (order == 0 && end->ns > begin->ns))
			break;
		is_of_object = order == 0;
	}
	return is_of_object;
}

void fxt_lock_lives_count(struct fxt_spill *ends, struct fxt_spill *waits)
{
	struct fxt_spill_window begin_window = {0}, end_window = {0};
	struct fxt_lock_moment last = {0};
	struct fxt_spill begins;
	uint64_t next = 0;
	uint32_t life = 0;

	if (ends->count == 0)
		return;
	fxt_spill_init(&begins, sizeof(struct fxt_lock_moment), FXT_SPILL_MEMORY_BYTES);
	lives_collect_begins(waits, &begins);
	fxt_spill_sort(ends, lives_compare);
	for (uint64_t i = 0; i < begins.count; i++) {
		const struct fxt_lock_moment begin =
		        *(const struct fxt_lock_moment *)fxt_spill_at(&begins, &begin_window, i);
		bool has_ended = lives_pass_ends(ends, &end_window, &next, &begin);

		life = i > 0 && lives_compare_objects(&last, &begin) == 0 ? life + has_ended : 0;
		((struct fxt_wait *)fxt_spill_change_item(waits, begin.id))->life = life;
		last = begin;
	}
	fxt_spill_free(&begins);
}
