/*
 * The entry and exit hooks of -finstrument-functions.
 *
 * Entry pushes a frame on the thread's shadow stack, which the manager can read after any death. Exit takes
 * it off and writes one Duration Complete record of 24 bytes. Both begin with the tests that lead out of
 * line (aside.h), and there is one clock read in each: the last thing at entry and the first at exit, so that
 * a call pays for its callees' hooks only. doc/hot-path.md has what a compiler makes of it.
 */
#include "slow_path.h"
#include "stacks.h"
#include "writer/encode.h"

#define EXPORT __attribute__((visibility("default")))

/* Of that function, and under an index that is not local to a chunk: those have bit 15 set. */
static inline bool is_indexed(uint64_t word, const void *function)
{
	return (word ^ fxt_function_key((uint64_t)(uintptr_t)function)) < FXT_STRING_INLINE_BIT;
}

/* Enters a call of the function that has this word. */
static inline __attribute__((always_inline)) void enter_known(struct fxt_block *block, void *function,
        void *call_site, uint64_t place, uint64_t word, enum fxt_clock_kind clock)
{
	struct fxt_thread_slot *slot = agent_self.slot;

	if (unlikely(block->busy != FXT_IDLE)) {
		agent_enter_nested(block, function, call_site, place);
		return;
	}
	store_relaxed(&block->busy, FXT_SLOW_PATH);
	compiler_barrier();
	struct fxt_frame *top = slot_top(slot);

	if (unlikely((uint64_t)(uintptr_t)top >= load_foldable(&block->top_limit) ||
	             is_dead(top - 1, place, call_site))) {
		agent_enter_out_of_line(block, function, call_site, place);
		return;
	}
	agent_push(block, slot, top, word, call_site, place, clock);
	store_release(&block->busy, FXT_IDLE);
}

/* What the entry hook leaves aside, so that it gets along with the registers it need not save. */
static __attribute__((noinline)) void enter_probing(void *function, void *call_site, uint64_t place)
{
	struct fxt_block *block = agent_self.block;
	uint64_t word;

	if (unlikely(!block)) {
		agent_enter_first(function, call_site, place);
		return;
	}
	word = fxt_function_find(&agent_engine.functions, (uint64_t)(uintptr_t)function);
	if (likely(word))
		enter_known(block, function, call_site, place, word, agent_engine.clock);
	else if (block->busy != FXT_IDLE)
		agent_enter_nested(block, function, call_site, place);
	else
		agent_enter_out_of_line(block, function, call_site, place);
}

static inline __attribute__((always_inline)) void leave(
        void *function, uint64_t stack_pointer, enum fxt_clock_kind clock)
{
	struct fxt_block *block = agent_self.block;

	if (unlikely(!block)) /* never entered */
		return;
	if (unlikely(block->busy != FXT_IDLE)) {
		agent_leave_nested(block, function, stack_pointer);
		return;
	}
	struct fxt_thread_slot *slot = agent_self.slot;
	uint64_t now = fxt_clock_ticks(clock);

	store_relaxed(&block->busy, FXT_WRITING);
	compiler_barrier();
	const struct fxt_frame *frame = slot_top(slot) - 1;
	uint64_t word = frame->function;
	uint64_t end = fxt_later(now, block->last);

	if (unlikely(!is_indexed(word, function) ||
	             !fxt_chunk_record_call(block, slot, word, frame->start, end))) {
		agent_leave_out_of_line(block, function, end, stack_pointer);
		return;
	}
	set_top(slot, frame);
	block->last = end;
	store_release(&block->busy, FXT_IDLE);
}

/* The hooks while calls are not timed by the counter. */
static COLD void enter_otherwise(void *function, void *call_site, uint64_t stack_pointer)
{
	enter_probing(function, call_site, agent_place(stack_pointer));
}

static COLD void leave_otherwise(void *function, uint64_t stack_pointer)
{
	leave(function, stack_pointer, FXT_CLOCK_MONOTONIC);
}

/* The stack pointer that the hook's caller has in its frame, whatever is inlined into it. */
#define CALLERS_STACK_POINTER() ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())

EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
	int32_t recording = load_foldable(&agent_recording);

	if (likely(recording == AGENT_BY_COUNTER)) {
		uint64_t place = agent_place(CALLERS_STACK_POINTER());
		struct fxt_block *block = agent_self.block;
		uint64_t word = fxt_function_first(&agent_engine.functions, (uint64_t)(uintptr_t)function);

		if (unlikely(!block || !fxt_function_is(word, (uint64_t)(uintptr_t)function)))
			enter_probing(function, call_site, place);
		else
			enter_known(block, function, call_site, place, word, FXT_CLOCK_COUNTER);
	} else if (unlikely(recording > AGENT_BY_COUNTER)) {
		enter_otherwise(function, call_site, CALLERS_STACK_POINTER());
	}
}

EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
	int32_t recording = load_foldable(&agent_recording);

	(void)call_site;
	if (likely(recording == AGENT_BY_COUNTER))
		leave(function, CALLERS_STACK_POINTER(), FXT_CLOCK_COUNTER);
	else if (unlikely(recording > AGENT_BY_COUNTER))
		leave_otherwise(function, CALLERS_STACK_POINTER());
}
