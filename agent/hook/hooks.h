/*
 * The hooks run at a call's entry and exit, for every event source. An event source is a
 * file that handles one compiler's way of calling it (finstrument.c:
 * -finstrument-functions). It passes on the function, the call site and the stack pointer
 * that the hook's caller has in its frame.
 *
 * Entry pushes a frame on the thread's shadow stack, which the manager can read after any
 * death. Exit takes it off and writes one Duration Complete record of FXT_CALL_WORDS words.
 * Both begin with the tests that lead to the slow path (slow_path.h). Each reads the clock
 * once: as late as possible at entry, and before the record is made at exit, so that a call
 * pays for its callees' hooks only. doc/hot-path.md explains the code that a compiler makes
 * of it.
 *
 * The clock is a parameter so that the hooks' own copy reads the bare counter: a call on
 * this path would make them save registers.
 */
#ifndef FXT_AGENT_HOOKS_H
#define FXT_AGENT_HOOKS_H

#include "frames.h"
#include "slow_path.h"
#include "writer/format/format.h"

#define AGENT_HOOK static inline __attribute__((always_inline))

/* Whether the reference is this function's, with an index that is not local to a chunk.
 * Local indexes have bit 15 set. */
static inline bool agent_ref_is_indexed(uint64_t ref, const void *function)
{
	return (ref ^ fxt_function_key((uint64_t)(uintptr_t)function)) < FXT_STRING_INLINE_BIT;
}

/* Enters a call of the function with this reference. */
AGENT_HOOK void agent_enter_known(struct fxt_thread_writer *writer, void *function, void *call_site,
        uint64_t stack_offset, uint64_t ref, enum fxt_clock_kind clock)
{
	struct fxt_thread_slot *slot = agent_self.slot;

	if (unlikely(writer->busy != FXT_IDLE)) {
		agent_enter_nested(writer, function, call_site, stack_offset);
		return;
	}
	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	struct fxt_frame *top = slot_top(slot);

	if (unlikely((uint64_t)(uintptr_t)top >= load_foldable(&writer->top_limit) ||
	             is_dead(top - 1, stack_offset, call_site))) {
		agent_enter_slow_path(writer, function, call_site, stack_offset);
		return;
	}
	agent_push(writer, slot, top, ref, call_site, stack_offset, clock);
	store_release(&writer->busy, FXT_IDLE);
}

/* Leaves a call if the newest frame is not its function's, or if the function's name is
 * local to a chunk. The writer is WRITING. */
void agent_leave_mismatched(struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer)
        __attribute__((noinline));

AGENT_HOOK void agent_leave(void *function, uint64_t stack_pointer, enum fxt_clock_kind clock)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	if (unlikely(!writer)) {
		agent_leave_first(function, stack_pointer);
		return;
	}
	if (unlikely(writer->busy != FXT_IDLE)) {
		agent_leave_nested(writer, function, stack_pointer);
		return;
	}
	struct fxt_thread_slot *slot = agent_self.slot;

	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	const struct fxt_frame *frame = slot_top(slot) - 1;

	/* Hides from the compiler how `frame` was computed. Otherwise it would keep the top
	 * too, and have no register left for it where the counter is read. */
	__asm__("" : "+r"(frame));
	uint64_t ref = frame->function;

	if (unlikely(!agent_ref_is_indexed(ref, function))) {
		agent_leave_mismatched(writer, function, stack_pointer);
		return;
	}
	uint64_t *position;

	if (unlikely(!fxt_chunk_has_room(writer, slot, &position))) {
		agent_leave_slow_path(writer, function, stack_pointer);
		return;
	}
	uint64_t now = fxt_clock_ticks(clock);
	uint64_t end = fxt_later(now, load_relaxed(&writer->last));

	fxt_chunk_put_call(writer, slot, position, ref, frame->start, end);
	set_top(slot, frame);
	store_relaxed(&writer->last, end);
	store_release(&writer->busy, FXT_IDLE);
}

/* Enters a call of a function if its reference is not in the first entry of the function
 * table that it hashes to. This is a separate function so that the hook needs only
 * registers that it need not save. */
void agent_enter_probing(void *function, void *call_site, uint64_t stack_offset) __attribute__((noinline));

/* The two hooks while a clock other than the counter times the calls, or while none is
 * recorded and their call sites are to be patched. */
COLD void agent_enter_general(void *function, void *call_site, uint64_t stack_pointer);
COLD void agent_leave_general(void *function, uint64_t stack_pointer);

/* Keeps the arguments of a call that was entered just now, if the stack has room for that:
 * agent_arguments_keep(). */
COLD void agent_keep_arguments(
        uint64_t function, uint64_t frame_address, const uint64_t *general, const uint64_t *vector);

/* Leaves a call with planned arguments (arguments.h), on the slow path. The registers are
 * those at the function's return, as SAVE_REGISTERS leaves them; NULL: they are not
 * known. */
COLD void agent_leave_with_arguments(
        void *function, uint64_t stack_pointer, const uint64_t *general, const uint64_t *vector);

/* ---- for event sources ---- */

/* A call of `function` begins, made from `call_site`. `stack_pointer` belongs to the call's
 * frame and is the same at its exit. For an inlined function it is that of the function
 * around it. */
AGENT_HOOK void agent_hook_enter(void *function, void *call_site, uint64_t stack_pointer)
{
	int32_t recording = load_foldable(&agent_hooks);

	if (likely(recording == AGENT_BY_COUNTER)) {
		uint64_t stack_offset = agent_stack_offset(stack_pointer);
		struct fxt_thread_writer *writer = agent_self.writer;
		uint64_t ref = fxt_function_first(&agent_engine.functions, (uint64_t)(uintptr_t)function);

		if (unlikely(!writer || !fxt_function_is(ref, (uint64_t)(uintptr_t)function)))
			agent_enter_probing(function, call_site, stack_offset);
		else
			agent_enter_known(writer, function, call_site, stack_offset, ref, FXT_CLOCK_COUNTER);
	} else if (unlikely(recording > AGENT_BY_COUNTER)) {
		agent_enter_general(function, call_site, stack_pointer);
	}
}

/* The newest call of `function` ends. */
AGENT_HOOK void agent_hook_leave(void *function, uint64_t stack_pointer)
{
	int32_t recording = load_foldable(&agent_hooks);

	if (likely(recording == AGENT_BY_COUNTER))
		agent_leave(function, stack_pointer, FXT_CLOCK_COUNTER);
	else if (unlikely(recording > AGENT_BY_COUNTER))
		agent_leave_general(function, stack_pointer);
}

#endif
