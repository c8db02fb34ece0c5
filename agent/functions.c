/*
 * The entry and exit hooks of -finstrument-functions.
 *
 * Entry pushes a frame on the thread's shadow stack, which the manager can read after any death. Exit takes
 * it off and writes one Duration Complete record of 24 bytes. Both begin with the tests that lead out of
 * line, and there is one clock read in each: the last thing at entry and the first at exit, so that a call
 * pays for its callees' hooks only.
 */
#include "agent.h"
#include <errno.h>
#include <signal.h>
#include "writer/encode.h"

#define CALL_WORDS 3

#define EXPORT __attribute__((visibility("default")))
#define COLD   __attribute__((noinline, cold))

static inline struct fxt_frame *slot_top(const struct fxt_thread_slot *slot)
{
	return (struct fxt_frame *)(uintptr_t)load_relaxed(&slot->top);
}

static inline void set_top(struct fxt_thread_slot *slot, const struct fxt_frame *top)
{
	/* Release: the frame is complete before the top covers it. Pairs with the collector's acquire. */
	store_release(&slot->top, (uint64_t)(uintptr_t)top);
}

static inline uint64_t latest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline bool is_frame_of(const struct fxt_frame *frame, const void *function)
{
	return (frame->function ^ fxt_function_key((uint64_t)(uintptr_t)function)) <
	       (UINT64_C(1) << FXT_FRAME_INDEX_BITS);
}

/* Of that function, and under an index that is not local to a chunk: those have bit 15 set. */
static inline bool is_indexed(uint64_t word, const void *function)
{
	return (word ^ fxt_function_key((uint64_t)(uintptr_t)function)) < FXT_STRING_INLINE_BIT;
}

/*
 * A frame is dead, left by longjmp or an exception, when a new entry finds it on its own part of the stack:
 * lower than the newcomer, or as high but called from elsewhere. As high and called from the same place is an
 * inlined callee, whose hooks run in its caller's frame.
 */
static inline bool is_dead(const struct fxt_frame *frame, uint64_t stack_pointer, const void *call_site)
{
	return frame->stack_pointer < stack_pointer ||
	       (frame->stack_pointer == stack_pointer && frame->call_site != (uint64_t)(uintptr_t)call_site);
}

/* The clock is a parameter so that the hooks' own copy is the bare counter: a call on this path would cost
 * them the saving of registers. */
static inline void push(struct fxt_block *block, struct fxt_thread_slot *slot, struct fxt_frame *top,
        uint64_t word, const void *call_site, uint64_t stack_pointer, enum fxt_clock_kind clock)
{
	top->call_site = (uint64_t)(uintptr_t)call_site;
	top->stack_pointer = stack_pointer;
	uint64_t start = latest(fxt_clock_ticks(clock), block->last + agent_engine.step);
	top->start = start;
	top->function = word;
	block->last = start;
	set_top(slot, top + 1);
}

/* Writes the call's record if its chunk has room. WRITING from before the limit is read until the record
 * stands. */
static inline bool record(
        struct fxt_block *block, struct fxt_thread_slot *slot, uint64_t word, uint64_t start, uint64_t end)
{
	uint64_t *position = fxt_chunk_position(slot);

	if (unlikely((uint64_t)(uintptr_t)(position + CALL_WORDS) > load_relaxed(&block->limit)))
		return false;
	position[0] =
	        block->header | word << 48; /* the index lies lowest in the word, and highest in the header */
	position[1] = start;
	position[2] = end;
	fxt_chunk_commit(slot, position, CALL_WORDS);
	return true;
}

/* ---- out of line ---- */

/* A hook inside a hook: a signal handler's. It is counted, and the next hook of the thread is led out of
 * line. */
static COLD void count_nested(struct fxt_block *block, struct fxt_thread_slot *slot)
{
	if (fxt_engine_was_forked(&agent_engine))
		return;
	store_relaxed(&slot->nested, slot->nested + 1);
	store_relaxed(&block->limit, 0);
	store_relaxed(&block->top_limit, 0);
}

static uint64_t function_word(const void *function)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t address = (uint64_t)(uintptr_t)function;
	uint64_t mask = fxt_lock(&e->lock);
	uint64_t word = fxt_function_search(e, address);

	if (!word)
		word = fxt_function_register(e, address, agent_module_of(address));
	fxt_unlock(&e->lock, mask);
	return word;
}

/*
 * Writes the call of a frame, whatever it takes, or counts it as lost. An abandoned call, left by longjmp, an
 * exception or the end of its thread, carries the argument "abandoned". OUT_OF_LINE.
 */
static void record_out_of_line(struct fxt_block *block, struct fxt_thread_slot *slot,
        const struct fxt_frame *frame, uint64_t end, bool is_abandoned)
{
	struct fxt_engine *e = &agent_engine;
	struct fxt_argument abandoned = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
	uint64_t address = frame->function >> FXT_FRAME_INDEX_BITS;
	bool is_local = (frame->function & FXT_INDEX_LOCAL) == FXT_INDEX_LOCAL;
	uint64_t words[CALL_WORDS + 1];
	uint32_t module = 0;

	if (is_local) {
		uint64_t mask = fxt_lock(&e->lock);

		module = agent_module_of(address);
		fxt_unlock(&e->lock, mask);
	}
	for (;;) {
		uint64_t index = frame->function & FXT_INDEX_LOCAL;

		/* An index of the chunk is void with the chunk: then the write below fails, and we ask again.
		 */
		if (is_local)
			index = fxt_local_index(e, block, address, module, CALL_WORDS + 1);
		if (!index)
			break;
		size_t size = fxt_put_event(words, CALL_WORDS + 1, FXT_EVENT_DURATION_COMPLETE,
		        fxt_thread_index(slot->thread_index), fxt_string_index(FXT_KNOWN_FUNCTION),
		        fxt_string_index((uint32_t)index), frame->start, &abandoned, is_abandoned, end);

		if (fxt_chunk_try_write(block, slot, words, size, 1))
			return;
		if (!is_local && !fxt_chunk_take(e, block, size))
			break;
	}
	fxt_chunk_lose(e, block, 1, end);
	if (load_relaxed(&e->broken))
		store_relaxed(&agent_recording, AGENT_QUIET); /* nobody reads us any more */
}

/* Records the newest call as abandoned and takes it off. OUT_OF_LINE. */
static void abandon(struct fxt_block *block, struct fxt_thread_slot *slot, uint64_t end)
{
	const struct fxt_frame *frame = slot_top(slot) - 1;

	record_out_of_line(block, slot, frame, end, true);
	set_top(slot, frame);
}

void agent_abandon_all(struct fxt_block *block)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	uint64_t now = latest(fxt_clock_ticks(agent_engine.clock), block->last);

	block->busy = FXT_OUT_OF_LINE;
	block->unpushed = 0;
	while (slot_top(slot) > fxt_slot_frames(&agent_engine, slot))
		abandon(block, slot, now);
	block->last = latest(block->last, now);
	store_release(&block->busy, FXT_IDLE);
}

/* Whether an address lies on the alternate signal stack this thread runs on; *foreign: it runs on none. */
static bool on_signal_stack(uint64_t address, const stack_t *stack)
{
	return (stack->ss_flags & SS_ONSTACK) && address - (uint64_t)(uintptr_t)stack->ss_sp < stack->ss_size;
}

static void cut_dead_frames(
        struct fxt_block *block, struct fxt_thread_slot *slot, uint64_t stack_pointer, const void *call_site)
{
	stack_t stack = {.ss_flags = 0};
	uint64_t now;

	if (likely(!is_dead(slot_top(slot) - 1, stack_pointer, call_site)))
		return;
	sys_call(SYS_sigaltstack, 0, &stack, 0, 0);
	now = latest(fxt_clock_ticks(agent_engine.clock), block->last);
	while (is_dead(slot_top(slot) - 1, stack_pointer, call_site)) {
		/* A handler on a stack of its own nests on what it interrupted, wherever that stack lies. */
		if (on_signal_stack(stack_pointer, &stack) &&
		        !on_signal_stack(slot_top(slot)[-1].stack_pointer, &stack))
			break;
		abandon(block, slot, now);
	}
	block->last = latest(block->last, now);
}

static COLD void enter_out_of_line(
        struct fxt_block *block, const void *function, const void *call_site, uint64_t stack_pointer)
{
	struct fxt_thread_slot *slot = agent_self.slot;

	store_relaxed(&block->busy, FXT_OUT_OF_LINE);
	if (fxt_engine_was_forked(&agent_engine)) {
		agent_reborn();
		block = agent_attach();
		if (!block)
			return;
		slot = agent_self.slot;
		block->busy = FXT_OUT_OF_LINE;
	}
	if (!block->top_limit)
		fxt_thread_restore_limit(&agent_engine, block);
	cut_dead_frames(block, slot, stack_pointer, call_site);
	uint64_t word = function_word(function);

	if ((uint64_t)(uintptr_t)slot_top(slot) < block->top_limit ||
	        fxt_thread_grow_stack(&agent_engine, block)) {
		push(block, slot, slot_top(slot), word, call_site, stack_pointer, agent_engine.clock);
	} else {
		fxt_chunk_lose(&agent_engine, block, 1, fxt_clock_ticks(agent_engine.clock));
		block->unpushed++;
	}
	if (block->unpushed)
		store_relaxed(
		        &block->limit, 0); /* so that every exit comes out of line and is told from these */
	store_release(&block->busy, FXT_IDLE);
}

static COLD void leave_out_of_line(struct fxt_block *block, const void *function, uint64_t now)
{
	struct fxt_thread_slot *slot = agent_self.slot;
	struct fxt_frame *frame;

	store_release(&block->busy, FXT_OUT_OF_LINE);
	if (fxt_engine_was_forked(&agent_engine)) {
		agent_reborn(); /* the call was entered in the parent, which records it */
		return;
	}
	if (!block->top_limit)
		fxt_thread_restore_limit(&agent_engine, block);
	if (block->unpushed) {
		block->unpushed--;
		goto out;
	}
	for (frame = slot_top(slot) - 1; frame->function != 0; frame--)
		if (is_frame_of(frame, function))
			break;
	if (frame->function == 0) /* an exit without an entry: tracing began inside the call */
		goto out;
	uint64_t end = latest(now, block->last);

	while (slot_top(slot) - 1 > frame)
		abandon(block, slot, end);
	record_out_of_line(block, slot, frame, end, false);
	if (agent_helper_wanted())
		agent_helper_start();
	block->last = latest(block->last, end);
	set_top(slot, frame);
out:
	store_release(&block->busy, FXT_IDLE);
}

/* ---- the hooks ---- */

static COLD void enter_first(void *function, void *call_site, uint64_t stack_pointer)
{
	struct fxt_block *block;

	if (fxt_engine_was_forked(&agent_engine))
		agent_reborn();
	block = agent_attach();
	if (block)
		enter_out_of_line(block, function, call_site, stack_pointer);
}

static inline __attribute__((always_inline)) void enter(
        void *function, void *call_site, uint64_t stack_pointer, enum fxt_clock_kind clock)
{
	struct fxt_block *block = agent_self.block;

	if (unlikely(!block)) {
		enter_first(function, call_site, stack_pointer);
		return;
	}
	struct fxt_thread_slot *slot = agent_self.slot;

	if (unlikely(load_relaxed(&block->busy) != FXT_IDLE)) {
		count_nested(block, slot);
		return;
	}
	store_relaxed(&block->busy, FXT_OUT_OF_LINE);
	compiler_barrier();
	struct fxt_frame *top = slot_top(slot);
	uint64_t word = fxt_function_find(&agent_engine.functions, (uint64_t)(uintptr_t)function);

	if (unlikely((uint64_t)(uintptr_t)top >= load_relaxed(&block->top_limit) || !word ||
	             is_dead(top - 1, stack_pointer, call_site))) {
		enter_out_of_line(block, function, call_site, stack_pointer);
		return;
	}
	push(block, slot, top, word, call_site, stack_pointer, clock);
	store_release(&block->busy, FXT_IDLE);
}

static inline __attribute__((always_inline)) void leave(void *function, enum fxt_clock_kind clock)
{
	struct fxt_block *block = agent_self.block;

	/* Never entered; or nested, and counted at its entry. */
	if (unlikely(!block || load_relaxed(&block->busy) != FXT_IDLE))
		return;
	struct fxt_thread_slot *slot = agent_self.slot;
	uint64_t now = fxt_clock_ticks(clock);

	store_relaxed(&block->busy, FXT_WRITING);
	compiler_barrier();
	const struct fxt_frame *frame = slot_top(slot) - 1;
	uint64_t word = frame->function;
	uint64_t end = latest(now, block->last);

	if (unlikely(!is_indexed(word, function) || !record(block, slot, word, frame->start, end))) {
		leave_out_of_line(block, function, now);
		return;
	}
	set_top(slot, frame);
	block->last = end;
	store_release(&block->busy, FXT_IDLE);
}

static COLD void enter_by_monotonic(void *function, void *call_site, uint64_t stack_pointer)
{
	enter(function, call_site, stack_pointer, FXT_CLOCK_MONOTONIC);
}

static COLD void leave_by_monotonic(void *function)
{
	leave(function, FXT_CLOCK_MONOTONIC);
}

EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();

	if (likely(load_relaxed(&agent_recording) == AGENT_BY_COUNTER))
		enter(function, call_site, stack_pointer, FXT_CLOCK_COUNTER);
	else if (load_relaxed(&agent_recording) == AGENT_BY_MONOTONIC)
		enter_by_monotonic(function, call_site, stack_pointer);
}

EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	if (likely(load_relaxed(&agent_recording) == AGENT_BY_COUNTER))
		leave(function, FXT_CLOCK_COUNTER);
	else if (load_relaxed(&agent_recording) == AGENT_BY_MONOTONIC)
		leave_by_monotonic(function);
}
