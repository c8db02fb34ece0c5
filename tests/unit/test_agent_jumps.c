/*
 * The calls that a jump leaves, against a recursion that knows its own depth:
 * agent/interpose/jumps.c interposes libc's functions in this program.
 */
#include <ucontext.h>
#include "agent_rig.h"

#define DEPTH 40

static jmp_buf targets[DEPTH];
static unsigned seen; /* jumps that have arrived */

static void (*jump)(struct __jmp_buf_tag *, int);

static void deeper(unsigned depth, unsigned target);

/* Called afresh at each depth: a function that calls setjmp() is inlined nowhere, and
 * neither is this. */
static __attribute__((noinline)) void descend(unsigned depth, unsigned target)
{
	uint64_t base = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();

	agent_call(0x1000 + depth * 16, base);
	assert_int_equal(agent_open_calls(), depth + 1);
	if (_setjmp(targets[depth]) == 0) {
		deeper(depth + 1, target);
	} else {
		/* The calls inside this one are left; this one, and those around it, are
		 * not. */
		assert_int_equal(depth, target);
		assert_int_equal(agent_open_calls(), depth + 1);
		assert_true(
		        is_frame_of(slot_top(agent_self.slot) - 1, (void *)(0x1000 + (uintptr_t)depth * 16)));
		assert_true(agent_thread_is_valid());
		seen++;
	}
	set_top(agent_self.slot, slot_top(agent_self.slot) - 1);
}

static __attribute__((noinline)) void deeper(unsigned depth, unsigned target)
{
	if (depth == DEPTH)
		jump(targets[target], 1);
	descend(depth, target);
	__asm__ volatile(""); /* no tail call */
}

static void begin(struct rig *rig)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	agent_rig_begin(rig);
	agent_set_stack(here - (UINT64_C(1) << 20), UINT64_C(2) << 20, here - (UINT64_C(1) << 20));
	seen = 0;
}

static void jump_over(void (*function)(struct __jmp_buf_tag *, int))
{
	struct rig rig;

	begin(&rig);
	jump = function;
	for (unsigned target = 0; target < DEPTH; target++) {
		descend(0, target);
		assert_int_equal(agent_open_calls(), 0);
	}
	assert_int_equal(seen, DEPTH);
	agent_rig_end(&rig);
}

static void jumps_over_any_number_of_frames(void **state)
{
	(void)state;
	jump_over((void (*)(struct __jmp_buf_tag *, int))longjmp);
	jump_over((void (*)(struct __jmp_buf_tag *, int))_longjmp);
	jump_over((void (*)(struct __jmp_buf_tag *, int))siglongjmp);
}

/* Abandoned calls are written, and marked. */
static void abandoned_calls_are_recorded(void **state)
{
	struct rig rig;

	(void)state;
	begin(&rig);
	jump = (void (*)(struct __jmp_buf_tag *, int))longjmp;
	descend(0, 3);
	assert_int_equal(fxt_engine_stop(&agent_engine), 0);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	assert_int_equal(trace_count(&rig.trace, EVENT_CALL, 0), DEPTH - 4);
	for (size_t i = 0; i < rig.trace.count; i++) {
		assert_true(rig.trace.events[i].is_abandoned);
		assert_true(rig.trace.events[i].function >= 0x1000 + 4 * 16);
	}
	agent_rig_end(&rig);
}

/* Nothing changes while nothing is recorded, and in a child with its parent's engine. */
static void jumps_that_do_not_concern_us(void **state)
{
	struct rig rig;
	jmp_buf here;
	volatile size_t open;

	(void)state;
	begin(&rig);
	if (_setjmp(here) == 0) /* no block yet */
		longjmp(here, 1);
	assert_null(agent_self.writer);
	agent_call(0x1000, (uint64_t)(uintptr_t)__builtin_frame_address(0) - 4096);
	open = agent_open_calls();
	agent_set_recording(AGENT_QUIET);
	if (_setjmp(here) == 0)
		longjmp(here, 1);
	assert_int_equal(agent_open_calls(), open);
	agent_set_recording(AGENT_BY_COUNTER);
	store_relaxed(agent_engine.alive, 0);
	if (_setjmp(here) == 0)
		longjmp(here, 1);
	assert_int_equal(agent_open_calls(), open);
	store_relaxed(agent_engine.alive, 1);
	if (_setjmp(here) == 0)
		longjmp(here, 1);
	assert_int_equal(agent_open_calls(), 0);
	agent_rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(jumps_over_any_number_of_frames),
	        cmocka_unit_test(abandoned_calls_are_recorded),
	        cmocka_unit_test(jumps_that_do_not_concern_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
