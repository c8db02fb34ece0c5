/*
 * Whose stack an address is on, against stacks laid out here; and the life of a thread, with each part of its
 * state broken in turn.
 */
#include "agent_rig.h"

#define KIB UINT64_C(1024)

/* ---- a thread's own stack ---- */

static void own_stack(void **state)
{
	uint64_t low = UINT64_C(0x7000000), bytes = 256 * KIB;

	(void)state;
	agent_set_stack(low, bytes, low);
	assert_true(agent_stack_is_own(low));
	assert_true(agent_stack_is_own(low + bytes - 1));
	assert_false(agent_stack_is_own(low - 1));
	assert_false(agent_stack_is_own(low + bytes));
	assert_true(agent_stack_address(agent_stack_offset(low - 64)) == low - 64);
	agent_set_stack(0, UINT64_MAX, 0); /* not told: every address is on it */
	assert_true(agent_stack_is_own(UINT64_C(0x7fffffffffff)));
}

/* 2 KiB are needed: by the bounds that the thread was told, and by none if it is on no stack that is known.
 */
static void short_stack(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	(void)state;
	agent_set_stack(here - 1024 * KIB, 2048 * KIB, here - 1024 * KIB);
	assert_false(agent_stack_is_short());
	agent_set_stack(here - 1024 * KIB, 2048 * KIB, here - 4 * KIB);
	assert_false(agent_stack_is_short());
	agent_set_stack(here - 1024 * KIB, 2048 * KIB, here - KIB);
	assert_true(agent_stack_is_short());
	agent_set_stack(here - 1024 * KIB, 2048 * KIB, here + KIB); /* past its end */
	assert_true(agent_stack_is_short());
	agent_set_stack(here + 1024 * KIB, 2048 * KIB, here + 1024 * KIB);
	assert_false(agent_stack_is_short());
}

static void is_main_threads(void **state)
{
	(void)state;
	memset(&agent_self, 0, sizeof(agent_self));
	agent_set_main_stack(); /* cmocka runs tests on it */
	assert_true(agent_stack_is_own((uint64_t)(uintptr_t)__builtin_frame_address(0)));
	assert_false(agent_stack_is_own((uint64_t)(uintptr_t)&agent_engine));
}

/* ---- coroutines ---- */

#define STACKS 300

/* Bounds are known: each address belongs to the one whose stack it is on, whatever the distance. */
static void known_bounds(void **state)
{
	struct fxt_block *blocks[STACKS];
	struct rig rig;
	uint64_t first = UINT64_C(0x10000000);

	(void)state;
	agent_rig_begin(&rig);
	agent_set_stack(UINT64_C(0x7000000), 256 * KIB, UINT64_C(0x7000000));
	assert_non_null(agent_attach());
	for (uint64_t i = 0; i < STACKS; i++)
		agent_coroutine_bounds(first + i * 32 * KIB, 32 * KIB);
	for (uint64_t i = 0; i < STACKS; i++) {
		uint64_t high = first + (i + 1) * 32 * KIB;

		assert_null(agent_coroutine_at(high - 8, false)); /* it has called nothing yet */
		blocks[i] = agent_coroutine_at(high - 8, true);
		assert_non_null(blocks[i]);
		for (uint64_t j = 0; j < i; j++)
			assert_ptr_not_equal(blocks[i], blocks[j]);
	}
	for (uint64_t i = 0; i < STACKS; i++) {
		assert_ptr_equal(agent_coroutine_at(first + i * 32 * KIB, false), blocks[i]);
		assert_ptr_equal(agent_coroutine_at(first + (i + 1) * 32 * KIB - 1, false), blocks[i]);
	}
	assert_null(agent_coroutine_at(first - 1, false));
	assert_null(agent_coroutine_at(first + STACKS * 32 * KIB, false));

	/* Stacks are freed and made anew: one that overlaps takes the place of the old one. */
	agent_coroutine_bounds(first + 16 * KIB, 16 * KIB);
	assert_null(agent_coroutine_at(first, false));
	assert_ptr_equal(agent_coroutine_at(first + 16 * KIB, false), blocks[0]);
	agent_rig_end(&rig);
}

/* Nothing is known but the stack pointers of calls: near the newest one it is the same coroutine. */
static void unknown_bounds(void **state)
{
	uint64_t one = UINT64_C(0x10000000), other = UINT64_C(0x20000000);
	struct fxt_block *first, *second;
	struct rig rig;

	(void)state;
	agent_rig_begin(&rig);
	agent_set_stack(UINT64_C(0x7000000), 256 * KIB, UINT64_C(0x7000000));
	assert_non_null(agent_attach());
	assert_null(agent_coroutine_at(one, false));
	first = agent_coroutine_at(one, true);
	second = agent_coroutine_at(other, true);
	assert_non_null(first);
	assert_non_null(second);
	assert_ptr_not_equal(first, second);
	/* Deep calls: each is near the one before, the newest far from the first. */
	for (int i = 0; i < 8; i++) {
		assert_ptr_equal(agent_coroutine_at(one, true), first);
		agent_push(first, fxt_slot(&agent_engine, first->number),
		        slot_top(fxt_slot(&agent_engine, first->number)), agent_function_word(0x1000), NULL,
		        one, FXT_CLOCK_COUNTER);
		one -= 4 * KIB;
	}
	assert_ptr_equal(agent_coroutine_at(other - 4 * KIB, true), second);
	assert_null(agent_coroutine_at(other - 1024 * KIB, false));
	agent_rig_end(&rig);
}

/* A coroutine's stack is a part of the thread's: only a look at coroutines tells whose an address is. */
static void stack_on_stack(void **state)
{
	uint64_t low = UINT64_C(0x7000000);
	struct rig rig;

	(void)state;
	agent_rig_begin(&rig);
	agent_set_stack(low, 256 * KIB, low);
	assert_non_null(agent_attach());
	assert_true(agent_stack_is_own(low + 128 * KIB));
	agent_coroutine_bounds(low + 64 * KIB, 32 * KIB);
	assert_false(agent_stack_is_own(low + 128 * KIB));
	assert_non_null(agent_coroutine_at(low + 64 * KIB, true));
	assert_null(agent_coroutine_at(low + 128 * KIB, false));
	agent_coroutines_forget();
	assert_true(agent_stack_is_own(low + 128 * KIB));
	agent_rig_end(&rig);
}

/* ---- the life of a thread ---- */

static void life(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct rig rig;

	(void)state;
	agent_rig_begin(&rig);
	assert_int_equal(agent_thread_state(), AGENT_THREAD_UNATTACHED);
	assert_true(agent_thread_is_valid());
	agent_set_stack(here - 1024 * KIB, 2048 * KIB, here - 1024 * KIB);
	struct fxt_block *own = agent_attach();

	assert_non_null(own);
	assert_ptr_equal(agent_attach(), own);
	assert_int_equal(agent_thread_state(), AGENT_THREAD_OUTSIDE);
	agent_call(0x1000, here);
	assert_true(agent_thread_is_valid());
	own->busy = FXT_SLOW_PATH;
	assert_int_equal(agent_thread_state(), AGENT_THREAD_IN_HOOK);
	struct fxt_block *nested = agent_nested();

	assert_non_null(nested);
	assert_int_equal(agent_thread_state(), AGENT_THREAD_IN_HOOK);
	nested->busy = FXT_SLOW_PATH;
	assert_int_equal(agent_thread_state(), AGENT_THREAD_IN_HANDLER);
	assert_null(agent_nested()); /* a handler of its own is in it */
	assert_true(agent_thread_is_valid());
	nested->busy = own->busy = FXT_IDLE;
	assert_true(agent_thread_is_valid());
	store_relaxed(agent_engine.alive, 0); /* as the kernel does in a forked child */
	assert_int_equal(agent_thread_state(), AGENT_THREAD_FORKED);
	assert_true(agent_thread_is_valid());
	store_relaxed(agent_engine.alive, 1);
	agent_rig_end(&rig);
	assert_int_equal(agent_thread_state(), AGENT_THREAD_UNATTACHED);
}

#define IS_INVALID(part, value)                                  \
	do {                                                     \
		__typeof__(part) right = (part);                 \
		(part) = (__typeof__(part))(value);              \
		if (agent_thread_is_valid())                     \
			fail_msg("valid with %s broken", #part); \
		(part) = right;                                  \
		assert_true(agent_thread_is_valid());            \
	} while (0)

static void broken_states(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct rig rig;

	(void)state;
	agent_rig_begin(&rig);
	agent_set_stack(here - 1024 * KIB, 2048 * KIB, here - 1024 * KIB);
	struct fxt_block *own = agent_attach();

	assert_non_null(own);
	agent_call(0x1000, here);
	agent_call(0x2000, here - 64);
	assert_non_null(agent_nested());
	own->busy = FXT_SLOW_PATH;
	assert_true(fxt_chunk_reserve(&agent_engine, own, FXT_CALL_WORDS));
	own->busy = FXT_IDLE;
	assert_true(agent_thread_is_valid());
	struct fxt_thread_slot *slot = agent_self.slot;
	struct fxt_frame *top = slot_top(slot);

	IS_INVALID(agent_self.slot, slot + 1);
	IS_INVALID(agent_self.nested, own);
	IS_INVALID(agent_self.nested->busy, FXT_SLOW_PATH);
	IS_INVALID(slot->state, FXT_SLOT_FREE);
	IS_INVALID(slot->top, slot->top - 3 * sizeof(struct fxt_frame));
	IS_INVALID(slot->top, slot->top + slot->stack_bytes);
	IS_INVALID(slot->committed, own->limit + 8);
	IS_INVALID(slot->committed, 0);
	IS_INVALID(own->busy, 3);
	IS_INVALID(own->last, top[-1].start - 1);
	IS_INVALID(top[-1].start, top[-2].start);
	IS_INVALID(top[-1].function, 0);
	agent_rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(own_stack),
	        cmocka_unit_test(short_stack),
	        cmocka_unit_test(is_main_threads),
	        cmocka_unit_test(known_bounds),
	        cmocka_unit_test(unknown_bounds),
	        cmocka_unit_test(stack_on_stack),
	        cmocka_unit_test(life),
	        cmocka_unit_test(broken_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
