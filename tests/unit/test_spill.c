/*
 * Spills: the same array, whether it is in memory, in a file, or in both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "reader/trace/spill.h"

enum { ITEMS = 20000 };

struct item {
	uint64_t key;
	uint32_t place; /* items are 16 bytes; 12 of them count */
};

static int by_key(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

static struct item item_at(uint32_t place)
{
	return (struct item){place * UINT64_C(0x9e3779b97f4a7c15) >> 54, place};
}

/* In memory, at its border, one item behind it, in many runs, and an item at a time. */
static const size_t rooms[] = {1 << 20, ITEMS * 16, (ITEMS - 1) * 16, 5000, 1};

static void fill(struct fxt_spill *spill, size_t room)
{
	fxt_spill_init(spill, sizeof(struct item), room);
	for (uint32_t i = 0; i < ITEMS; i++) {
		struct item item = item_at(i);

		fxt_spill_add(spill, &item);
	}
	assert_int_equal(spill->count, ITEMS);
	assert_int_equal(fxt_spill_is_in_memory(spill), room >= ITEMS * 16);
}

static void read_anywhere(void **state)
{
	static struct item items[ITEMS];

	(void)state;
	for (size_t r = 0; r < sizeof(rooms) / sizeof(*rooms); r++) {
		struct fxt_spill spill;

		fill(&spill, rooms[r]);
		for (uint32_t first = 0; first < ITEMS; first += 777) {
			size_t count = ITEMS - first < 1000 ? ITEMS - first : 1000;

			fxt_spill_read(&spill, first, count, items);
			for (uint32_t i = 0; i < count; i++) {
				assert_int_equal(items[i].place, first + i);
				assert_int_equal(items[i].key, item_at(first + i).key);
			}
		}
		fxt_spill_read(&spill, 0, ITEMS, items);
		assert_int_equal(items[ITEMS - 1].place, ITEMS - 1);
		/* One by one, forward, backward and in jumps. */
		struct fxt_spill_window window = {0};

		for (uint32_t i = 0; i < 3 * ITEMS; i++) {
			uint32_t at = i < ITEMS ? i : i < 2 * ITEMS ? 2 * ITEMS - 1 - i : i * 7919 % ITEMS;

			assert_int_equal(((const struct item *)fxt_spill_at(&spill, &window, at))->place, at);
		}
		fxt_spill_free(&spill);
	}
}

/* Single items, anywhere, are what was last put there; others are what they were. */
static void changed(void **state)
{
	static uint64_t keys[ITEMS];

	(void)state;
	for (size_t r = 0; r < sizeof(rooms) / sizeof(*rooms); r++) {
		struct fxt_spill spill;

		fill(&spill, rooms[r]);
		for (uint32_t i = 0; i < ITEMS; i++)
			keys[i] = item_at(i).key;
		fxt_spill_begin_items(&spill);
		for (uint32_t i = 0; i < 2 * ITEMS; i++) {
			uint32_t at = i < ITEMS ? i * 7919 % ITEMS : (uint32_t)item_at(i).key * 17 % ITEMS;
			struct item *changed = fxt_spill_change_item(&spill, at);

			assert_int_equal(changed->place, at);
			assert_int_equal(changed->key, keys[at]);
			changed->key = keys[at] = i;
			assert_int_equal(
			        ((const struct item *)fxt_spill_item(&spill, at / 2))->key, keys[at / 2]);
		}
		for (uint32_t i = 0; i < ITEMS; i++) {
			const struct item *item = fxt_spill_item(&spill, i);

			assert_int_equal(item->place, i);
			assert_int_equal(item->key, keys[i]);
		}
		fxt_spill_free(&spill);
	}
}

static void sorted(void **state)
{
	static struct item items[ITEMS];

	(void)state;
	for (size_t r = 0; r < sizeof(rooms) / sizeof(*rooms); r++) {
		struct fxt_spill spill;
		uint64_t sum = 0;

		/* Runs of single items would be too many. */
		if (rooms[r] < 1000)
			continue;
		fill(&spill, rooms[r]);
		fxt_spill_sort(&spill, by_key);
		assert_int_equal(spill.count, ITEMS);
		fxt_spill_read(&spill, 0, ITEMS, items);
		for (uint32_t i = 0; i < ITEMS; i++) {
			sum += items[i].place;
			assert_int_equal(items[i].key, item_at(items[i].place).key);
			assert_true(i == 0 || by_key(&items[i - 1], &items[i]) < 0);
		}
		assert_int_equal(sum, (uint64_t)ITEMS * (ITEMS - 1) / 2);
		fxt_spill_free(&spill);
	}
}

static void empty(void **state)
{
	struct fxt_spill spill;

	(void)state;
	fxt_spill_init(&spill, 8, 8);
	fxt_spill_sort(&spill, by_key);
	fxt_spill_read(&spill, 0, 0, &spill);
	assert_int_equal(spill.count, 0);
	fxt_spill_free(&spill);
}

/* Up and down across what memory holds, again and again, down to nothing; the last one is
 * what was put there.
 */
static void a_stack(void **state)
{
	static struct item expected[ITEMS];

	(void)state;
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
		struct fxt_spill spill;
		uint64_t count = 0;
		uint32_t place = 0;

		fxt_spill_init(&spill, sizeof(struct item), rooms[i]);
		for (unsigned turn = 0; turn < 40; turn++) {
			uint64_t to = turn % 8 == 7 ? 0 : turn * UINT64_C(7919) % ITEMS;

			for (; count < to; count++) {
				expected[count] = item_at(place++);
				fxt_spill_add(&spill, &expected[count]);
			}
			for (; count > to; fxt_spill_cut(&spill, --count)) {
				struct item last;

				fxt_spill_read(&spill, count - 1, 1, &last);
				assert_int_equal(last.place, expected[count - 1].place);
			}
			assert_int_equal(spill.count, count);
		}
		fxt_spill_free(&spill);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(read_anywhere),
	        cmocka_unit_test(changed),
	        cmocka_unit_test(sorted),
	        cmocka_unit_test(empty),
	        cmocka_unit_test(a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
