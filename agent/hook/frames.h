/*
 * Frames of a shadow stack: the open calls of one slot, oldest first, above a sentinel that
 * is no function. The hooks push and pop them (hooks.h); shadow.h has what the slow path
 * does to them. A wait inside a call is a frame too (writer/engine/waits.h).
 *
 * A frame keeps its call's stack pointer as a stack offset (self.h). One comparison then
 * shows whether another offset is higher than the newest call's, or lies on another stack
 * altogether. The sentinel's offset is the size of the stack. A coroutine's frames keep
 * addresses, and its sentinel the highest address.
 */
#ifndef FXT_AGENT_FRAMES_H
#define FXT_AGENT_FRAMES_H

#include "agent/base/self.h"
#include "writer/engine/waits.h"

static inline struct fxt_frame *slot_top(const struct fxt_thread_slot *slot)
{
	return (struct fxt_frame *)(uintptr_t)load_relaxed(&slot->top);
}

static inline void set_top(struct fxt_thread_slot *slot, const struct fxt_frame *top)
{
	/* Release: the frame is complete before the top covers it. Pairs with the
	 * collector's acquire. */
	store_release(&slot->top, (uint64_t)(uintptr_t)top);
}

static inline bool is_sentinel(const struct fxt_frame *frame)
{
	return frame->function == 0;
}

static inline void set_sentinel(const struct fxt_thread_slot *slot, uint64_t stack_bytes)
{
	fxt_slot_frames(&agent_engine, slot)[-1].stack_offset = stack_bytes;
}

/* Whether a call is open, and not only waits. */
static inline bool has_open_call(const struct fxt_thread_slot *slot)
{
	const struct fxt_frame *frame = slot_top(slot) - 1;

	while (fxt_is_wait(frame->function))
		frame--;
	return !is_sentinel(frame);
}

static inline bool is_frame_of(const struct fxt_frame *frame, const void *function)
{
	return fxt_function_is(frame->function, (uint64_t)(uintptr_t)function);
}

/*
 * Whether a frame is dead: left by longjmp or an exception. A new entry finds it dead on
 * its own part of the stack if the frame is lower than the new entry, or as high but called
 * from elsewhere. A frame as high and called from the same place is alive: the new call is
 * an inlined callee, and its hooks run in its caller's frame.
 */
static inline bool is_dead(const struct fxt_frame *frame, uint64_t stack_offset, const void *call_site)
{
	return frame->stack_offset <= stack_offset && /* one test for the most frequent
	                                                 case, a callee of its own */
	       (frame->stack_offset != stack_offset || frame->call_site != (uint64_t)(uintptr_t)call_site);
}

/* is_dead() for frames that may have a state (filter.h). */
static inline bool is_dead_of_any_state(
        const struct fxt_frame *frame, uint64_t stack_offset, const void *call_site)
{
	return frame->stack_offset <= stack_offset &&
	       (frame->stack_offset != stack_offset ||
	               (frame->call_site & ~FXT_FRAME_STATE) != (uint64_t)(uintptr_t)call_site);
}

/* Whether a writer is a coroutine's. Its frames keep addresses. */
static inline bool is_coroutines(const struct fxt_thread_writer *writer)
{
	return writer != agent_self.writer && writer != agent_self.nested;
}

/* The number of the thread's signal stack that an address is on, from 1. 0: it is on no
 * known one. */
static inline int agent_signal_stack_of(uint64_t address)
{
	const struct agent_range *stacks = agent_self.signal_stacks;

	return address - stacks[0].low < stacks[0].bytes   ? 1
	       : address - stacks[1].low < stacks[1].bytes ? 2
	                                                   : 0;
}

/*
 * The stack that an address is on, among the stacks on which the frames of a writer may be:
 * 0 = the writer's own, 1 = an unknown one, 2 or more = a signal stack. This does not
 * depend on where the stacks lie. Only addresses on the same stack can be compared. The
 * frames on all stacks except 0 are handlers'.
 */
static inline int agent_stack_of(const struct fxt_thread_writer *writer, uint64_t stack_offset)
{
	bool is_coroutine = is_coroutines(writer);
	int signal_stack =
	        agent_signal_stack_of(is_coroutine ? stack_offset : agent_stack_address(stack_offset));

	return signal_stack ? 1 + signal_stack : !is_coroutine && stack_offset >= agent_self.stack_bytes;
}

/*
 * Whether the code that continues at `stack_offset` has left a frame: the code is higher on
 * the same stack, or it is on the writer's own stack and the frame is on another, a
 * handler's. Handlers nest on the calls that they interrupted, wherever their stack lies.
 */
static inline bool is_left(
        const struct fxt_thread_writer *writer, const struct fxt_frame *frame, uint64_t stack_offset)
{
	int stack = agent_stack_of(writer, stack_offset);

	if (agent_stack_of(writer, frame->stack_offset) != stack)
		return stack == 0;
	return frame->stack_offset < stack_offset;
}

/* Pushes the frame of a call or a wait that begins now. There is room, and the writer is
 * SLOW_PATH. */
static inline void agent_push(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        struct fxt_frame *top, uint64_t ref, const void *call_site, uint64_t stack_offset,
        enum fxt_clock_kind clock)
{
	top->call_site = (uint64_t)(uintptr_t)call_site;
	top->stack_offset = stack_offset;
	uint64_t start = fxt_later(fxt_clock_ticks(clock), writer->last + agent_engine.step);
	top->start = start;
	top->function = ref;
	store_relaxed(&writer->last, start);
	set_top(slot, top + 1);
}

/* Sends the thread's next hook to the slow path, on whichever stack it may be. Can be
 * called anywhere on the thread. */
static inline void agent_force_slow_path(struct fxt_thread_writer *writer)
{
	store_relaxed(&writer->limit, 0);
	store_relaxed(&writer->top_limit, 0);
}

#endif
