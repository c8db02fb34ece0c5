/*
 * The stack of an address, against stacks laid out here; and the life of a thread, with
 * each part of its state broken in turn.
 */
#include "agent_rig.h"
#include "agent/hook/events.h"

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

/* 2 KiB are needed: by the thread's own bounds, or by none if it is on no known stack. */
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

static const uint64_t own_low = UINT64_C(0x7000000);

static void begin(struct rig *rig)
{
	agent_rig_begin(rig);
	agent_set_stack(own_low, 256 * KIB, own_low);
	assert_non_null(agent_attach());
}

/* The writer of the coroutine there; NULL: it has none. */
static struct fxt_thread_writer *coroutine_at(uint64_t address, bool is_call)
{
	struct fxt_thread_writer *writer = NULL;

	assert_true(agent_coroutine_claim(address, is_call, &writer));
	if (writer)
		agent_coroutine_release(writer);
	return writer;
}

static void no_coroutine_at(uint64_t address)
{
	struct fxt_thread_writer *writer;

	assert_false(agent_coroutine_claim(address, true, &writer));
}

static struct fxt_thread_writer *new_coroutine_at(uint64_t address)
{
	struct fxt_thread_writer *writer = agent_coroutine_claim_new(address);

	assert_non_null(writer);
	agent_coroutine_release(writer);
	return writer;
}

/* Begins a call in that writer, where frames keep addresses. */
static void coroutine_call(struct fxt_thread_writer *writer, uint64_t function, uint64_t stack_pointer)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);

	agent_push(writer, slot, slot_top(slot), agent_function_ref(function), NULL, stack_pointer,
	        FXT_CLOCK_COUNTER);
}

static size_t coroutine_calls(const struct fxt_thread_writer *writer)
{
	const struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);

	return (size_t)(slot_top(slot) - fxt_slot_frames(&agent_engine, slot));
}

/* With known bounds each address belongs to the stack it is on, whatever the distance. */
static void known_bounds(void **state)
{
	struct fxt_thread_writer *writers[STACKS];
	struct rig rig;
	uint64_t first = UINT64_C(0x10000000);

	(void)state;
	begin(&rig);
	for (uint64_t i = 0; i < STACKS; i++) {
		uint64_t at = i * 7 % STACKS; /* in no order */

		agent_coroutine_runs(first + at * 32 * KIB, 32 * KIB, first + (at + 1) * 32 * KIB - 8);
	}
	for (uint64_t i = 0; i < STACKS; i++) {
		uint64_t high = first + (i + 1) * 32 * KIB;

		assert_null(coroutine_at(high - 8, false)); /* it has called nothing yet */
		writers[i] = coroutine_at(high - 8, true);
		assert_non_null(writers[i]);
		for (uint64_t j = 0; j < i; j++)
			assert_ptr_not_equal(writers[i], writers[j]);
	}
	for (uint64_t i = 0; i < STACKS; i++) {
		assert_ptr_equal(coroutine_at(first + i * 32 * KIB, false), writers[i]);
		assert_ptr_equal(coroutine_at(first + (i + 1) * 32 * KIB - 1, false), writers[i]);
	}
	no_coroutine_at(first - 1);
	no_coroutine_at(first + STACKS * 32 * KIB);

	/* Stacks are freed and made anew: one that overlaps takes the place of the old
	 * one. */
	agent_coroutine_runs(first + 16 * KIB, 16 * KIB, first + 32 * KIB - 8);
	no_coroutine_at(first);
	assert_ptr_equal(coroutine_at(first + 16 * KIB, true), writers[0]);
	assert_ptr_equal(coroutine_at(first + 32 * KIB, true), writers[1]);
	/* A new thread's stack is where many of them were. */
	agent_coroutines_leave(first + 64 * KIB, 128 * KIB);
	no_coroutine_at(first + 64 * KIB);
	no_coroutine_at(first + 192 * KIB - 8);
	assert_ptr_equal(coroutine_at(first + 192 * KIB, true), writers[6]);
	agent_rig_end(&rig);
}

/* Nothing is known but the stack pointers of calls: near the newest one it is the same
 * coroutine. */
static void unknown_bounds(void **state)
{
	uint64_t one = UINT64_C(0x10000000), other = UINT64_C(0x20000000);
	struct fxt_thread_writer *first, *second;
	struct rig rig;

	(void)state;
	begin(&rig);
	no_coroutine_at(one);
	first = new_coroutine_at(one);
	second = new_coroutine_at(other);
	assert_ptr_not_equal(first, second);
	/* Deep calls: each is near the one before, the newest far from the first. */
	for (int i = 0; i < 8; i++) {
		assert_ptr_equal(coroutine_at(one, true), first);
		coroutine_call(first, 0x1000, one);
		one -= 4 * KIB;
	}
	assert_ptr_equal(coroutine_at(other - 4 * KIB, true), second);
	no_coroutine_at(other - 1024 * KIB);
	agent_rig_end(&rig);
}

/* A coroutine's stack is a part of the thread's, and another one a part of that: the inner
 * one counts while it runs, and is gone once the outer one's frames are there. */
static void stack_on_stack(void **state)
{
	uint64_t outer = own_low + 64 * KIB, inner = outer + 8 * KIB;
	struct fxt_thread_writer *writer;
	struct rig rig;

	(void)state;
	begin(&rig);
	assert_true(agent_stack_is_own(own_low + 128 * KIB));
	agent_coroutine_runs(outer, 64 * KIB, outer + 64 * KIB - 8);
	assert_false(agent_stack_is_own(own_low + 128 * KIB));
	writer = coroutine_at(outer + 48 * KIB, true);
	assert_non_null(writer);
	coroutine_call(writer, 0x1000, outer + 48 * KIB);
	agent_coroutine_runs(inner, 16 * KIB, inner + 16 * KIB - 8);
	assert_ptr_not_equal(coroutine_at(inner + 8 * KIB, true), writer);
	assert_ptr_equal(coroutine_at(inner + 16 * KIB, true), writer);
	assert_ptr_equal(coroutine_at(inner + 8 * KIB, true), writer); /* covered */
	no_coroutine_at(own_low + 130 * KIB);
	no_coroutine_at(outer + 48 * KIB); /* covered */
	agent_coroutines_forget();
	assert_true(agent_stack_is_own(own_low + 128 * KIB));
	agent_rig_end(&rig);
}

/* More coroutines than rows, each in the midst of two calls: each goes on with its own when
 * it runs again. */
static void more_than_rows(void **state)
{
	enum { MANY = AGENT_TRACKS + 100 };
	uint64_t first = UINT64_C(0x10000000);
	struct fxt_thread_writer *writer;
	struct rig rig;

	(void)state;
	begin(&rig);
	for (uint64_t i = 0; i < MANY; i++) {
		agent_coroutine_runs(first + i * 4 * KIB, 4 * KIB, first + (i + 1) * 4 * KIB - 8);
		writer = coroutine_at(first + (i + 1) * 4 * KIB - 8, true);
		assert_non_null(writer);
		assert_int_equal(coroutine_calls(writer), 0);
		coroutine_call(writer, 0x1000 + 0x100 * i, first + (i + 1) * 4 * KIB - 64);
		coroutine_call(writer, 0x1010 + 0x100 * i, first + (i + 1) * 4 * KIB - 128);
	}
	for (uint64_t i = 0; i < MANY; i++) {
		const struct fxt_frame *newest;

		writer = coroutine_at(first + (i + 1) * 4 * KIB - 256, false);
		assert_non_null(writer);
		assert_int_equal(coroutine_calls(writer), 2);
		newest = slot_top(fxt_slot(&agent_engine, writer->number)) - 1;
		assert_true(is_frame_of(newest, (void *)(uintptr_t)(0x1010 + 0x100 * i)));
		assert_true(fxt_is_inherited(newest->function));
		assert_true(newest->stack_offset == first + (i + 1) * 4 * KIB - 128);
	}
	assert_int_equal(agent_engine.control->lost_without_slot, 0);
	agent_rig_end(&rig);
}

/* A row that a hook is in stays its coroutine's. */
static void rows_in_use(void **state)
{
	uint64_t first = UINT64_C(0x10000000);
	struct fxt_thread_writer *writers[AGENT_TRACKS], *writer;
	struct rig rig;

	(void)state;
	begin(&rig);
	for (uint64_t i = 0; i < AGENT_TRACKS; i++) {
		agent_coroutine_runs(first + i * 4 * KIB, 4 * KIB, first + (i + 1) * 4 * KIB - 8);
		writers[i] = coroutine_at(first + (i + 1) * 4 * KIB - 8, true);
	}
	writers[0]->busy = writers[1]->busy = FXT_WRITING;
	agent_coroutine_runs(first - 4 * KIB, 4 * KIB, first - 8);
	assert_ptr_equal(coroutine_at(first - 8, true), writers[2]);
	for (uint64_t i = 0; i < AGENT_TRACKS; i++)
		writers[i]->busy = FXT_WRITING;
	agent_coroutine_runs(first - 8 * KIB, 4 * KIB, first - 4 * KIB - 8);
	writer = coroutine_at(first - 4 * KIB - 8, true);
	assert_null(writer);
	assert_int_equal(agent_engine.control->lost_without_slot, 1);
	for (uint64_t i = 0; i < AGENT_TRACKS; i++)
		writers[i]->busy = FXT_IDLE;
	agent_rig_end(&rig);
}

/* ---- signal stacks ---- */

static void set_signal_stack(uint64_t low, uint64_t bytes)
{
	agent_set_signal_stack(&(stack_t){
	        .ss_sp = (void *)(uintptr_t)low, .ss_size = bytes, .ss_flags = bytes ? 0 : SS_DISABLE});
}

/* Frames are compared with others on the same stack; handlers nest on what they
 * interrupted. */
static void signal_stack_on_stack(void **state)
{
	uint64_t low = own_low + 128 * KIB, beyond = UINT64_C(0x30000000);
	struct fxt_frame below = {.stack_offset = 64 * KIB}, on = {.stack_offset = 140 * KIB},
	                 above = {.stack_offset = 192 * KIB}, elsewhere = {.stack_offset = beyond - own_low};
	struct fxt_thread_writer *own;
	struct rig rig;

	(void)state;
	begin(&rig);
	own = agent_self.writer;
	assert_true(is_left(own, &below, 144 * KIB));
	set_signal_stack(low, 32 * KIB);
	assert_ptr_equal(agent_writer_at(own, low + 16 * KIB, true), own);
	assert_false(is_left(own, &below, 144 * KIB)); /* the handler's caller */
	assert_false(is_left(own, &above, 144 * KIB));
	assert_true(is_left(own, &on, 144 * KIB)); /* in the handler */
	assert_false(is_left(own, &on, 136 * KIB));
	assert_true(is_left(own, &on, 64 * KIB)); /* out of the handler */
	assert_true(is_left(own, &on, 192 * KIB));
	assert_true(is_left(own, &elsewhere, 64 * KIB));
	/* A handler sets another one, which is elsewhere, and the kernel the former one
	 * again. */
	set_signal_stack(beyond - KIB, 32 * KIB);
	assert_ptr_equal(agent_writer_at(own, beyond, true), own);
	assert_false(is_left(own, &on, beyond - own_low));
	assert_false(is_left(own, &below, 144 * KIB));
	set_signal_stack(0, 0);
	assert_true(is_left(own, &below, 144 * KIB));
	agent_rig_end(&rig);
}

/* A handler's calls nest on those of the coroutine that it interrupted. */
static void handler_in_coroutine(void **state)
{
	uint64_t stack = UINT64_C(0x10000000), handlers = own_low + 128 * KIB;
	struct fxt_thread_writer *own, *writer;
	struct rig rig;

	(void)state;
	begin(&rig);
	own = agent_self.writer;
	set_signal_stack(handlers, 32 * KIB);
	agent_coroutine_runs(stack, 64 * KIB, stack + 64 * KIB - 8);
	assert_ptr_equal(agent_writer_at(own, handlers + KIB, true), own); /* it has no call */
	writer = coroutine_at(stack + 32 * KIB, true);
	coroutine_call(writer, 0x1000, stack + 32 * KIB);
	assert_ptr_equal(agent_writer_at(own, handlers + KIB, true), writer);
	agent_coroutine_release(writer);
	assert_ptr_equal(agent_writer_at(own, own_low + KIB, true), own);
	assert_ptr_equal(agent_writer_at(own, handlers + KIB, true), own);
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
	struct fxt_thread_writer *own = agent_attach();

	assert_non_null(own);
	assert_ptr_equal(agent_attach(), own);
	assert_int_equal(agent_thread_state(), AGENT_THREAD_OUTSIDE);
	agent_call(0x1000, here);
	assert_true(agent_thread_is_valid());
	own->busy = FXT_SLOW_PATH;
	assert_int_equal(agent_thread_state(), AGENT_THREAD_IN_HOOK);
	struct fxt_thread_writer *nested = agent_nested();

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

/* A handler that interrupted a hook forks, say. The hook's next record ends later than
 * that. */
static void slice_inside_hook(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0), begin;
	struct rig rig;

	(void)state;
	agent_rig_begin(&rig);
	agent_set_stack(here - 1024 * KIB, 2048 * KIB, here - 1024 * KIB);
	struct fxt_thread_writer *own = agent_attach();

	assert_non_null(own);
	agent_call(0x1000, here);
	own->busy = FXT_WRITING;
	begin = agent_slice_begin("process");
	assert_true(begin > 0);
	assert_true(own->last >= begin);
	agent_slice_end(begin, "process", "fork", NULL, 0);
	assert_true(own->last >= agent_self.nested->last);
	assert_true(agent_self.nested->last > begin);
	own->busy = FXT_IDLE;
	agent_rig_end(&rig);
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
	struct fxt_thread_writer *own = agent_attach();

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
	        cmocka_unit_test(more_than_rows),
	        cmocka_unit_test(rows_in_use),
	        cmocka_unit_test(signal_stack_on_stack),
	        cmocka_unit_test(handler_in_coroutine),
	        cmocka_unit_test(life),
	        cmocka_unit_test(slice_inside_hook),
	        cmocka_unit_test(broken_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
