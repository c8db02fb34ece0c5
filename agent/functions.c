/*
 * The entry and exit hooks of -finstrument-functions.
 *
 * Entry pushes a frame on the thread's shadow stack, which the manager can read after any death. Exit takes
 * it off and writes one Duration Complete record of 24 bytes. Both begin with the tests that lead out of
 * line, and there is one clock read in each: the last thing at entry and the first at exit, so that a call
 * pays for its callees' hooks only.
 */
#include "shadow.h"
#include "stacks.h"
#include "writer/encode.h"

#define EXPORT __attribute__((visibility("default")))
#define COLD   __attribute__((noinline, cold))

/* Of that function, and under an index that is not local to a chunk: those have bit 15 set. */
static inline bool is_indexed(uint64_t word, const void *function)
{
	return (word ^ fxt_function_key((uint64_t)(uintptr_t)function)) < FXT_STRING_INLINE_BIT;
}

/* The clock is a parameter so that the hooks' own copy is the bare counter: a call on this path would cost
 * them the saving of registers. */
static inline void push(struct fxt_block *block, struct fxt_thread_slot *slot, struct fxt_frame *top,
        uint64_t word, const void *call_site, uint64_t place, enum fxt_clock_kind clock)
{
	top->call_site = (uint64_t)(uintptr_t)call_site;
	top->stack_pointer = place;
	uint64_t start = latest(fxt_clock_ticks(clock), block->last + agent_engine.step);
	top->start = start;
	top->function = word;
	block->last = start;
	set_top(slot, top + 1);
}

/* ---- out of line ---- */

static uint64_t function_word(const void *function)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t address = (uint64_t)(uintptr_t)function;
	uint64_t word = fxt_function_find(&e->functions, address);

	if (word)
		return word;
	uint64_t mask = fxt_lock(&e->lock);

	word = fxt_function_search(e, address);
	if (!word)
		word = fxt_function_register(e, address, agent_module_of(address));
	fxt_unlock(&e->lock, mask);
	return word;
}

/* Enters a call in a block that is OUT_OF_LINE. `stack_bytes`: of the stack its places count from. */
static void enter_on(struct fxt_block *block, const void *function, const void *call_site, uint64_t place,
        uint64_t stack_bytes)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	uint64_t word = function_word(function);

	if (!block->top_limit)
		fxt_thread_restore_limit(&agent_engine, block);
	if (is_dead(slot_top(slot) - 1, place, call_site))
		agent_abandon_dead(block, place, call_site, stack_bytes);
	if ((uint64_t)(uintptr_t)slot_top(slot) >= block->top_limit &&
	        fxt_thread_grow_stack(&agent_engine, block))
		set_sentinel(slot, stack_bytes);
	if ((uint64_t)(uintptr_t)slot_top(slot) < block->top_limit) {
		push(block, slot, slot_top(slot), word, call_site, place, agent_engine.clock);
	} else {
		agent_lose(block, 1, fxt_clock_ticks(agent_engine.clock));
		block->unpushed++;
	}
	if (block->unpushed) /* so that every exit comes out of line and is told from these */
		store_relaxed(&block->limit, 0);
}

/* Leaves a call of a block that is OUT_OF_LINE. */
static void leave_on(struct fxt_block *block, const void *function, uint64_t now)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	uint64_t end = latest(now, block->last);
	struct fxt_frame *frame;

	if (!block->top_limit)
		fxt_thread_restore_limit(&agent_engine, block);
	if (block->unpushed) {
		block->unpushed--;
		return;
	}
	frame = agent_find_frame(block, function);
	if (!frame) /* an exit without an entry: tracing began inside the call, or it was cut off by a jump */
		return;
	while (slot_top(slot) - 1 > frame)
		agent_abandon_newest(block, end);
	agent_record_call(block, frame, end, false);
	block->last = latest(block->last, end);
	set_top(slot, frame);
}

static void enter_coroutine(
        struct fxt_block *coroutine, const void *function, const void *call_site, uint64_t stack_pointer)
{
	store_relaxed(&coroutine->busy, FXT_OUT_OF_LINE);
	enter_on(coroutine, function, call_site, stack_pointer, UINT64_MAX);
	store_release(&coroutine->busy, FXT_IDLE);
}

/* The next exit, on whichever stack it may be, comes out of line to be looked at. */
static void stay_out_of_line(struct fxt_block *block)
{
	store_relaxed(&block->limit, 0);
	store_relaxed(&block->top_limit, 0);
}

static COLD void enter_out_of_line(
        struct fxt_block *block, const void *function, const void *call_site, uint64_t stack_pointer)
{
	struct fxt_block *coroutine;

	store_relaxed(&block->busy, FXT_OUT_OF_LINE);
	if (fxt_engine_was_forked(&agent_engine)) {
		agent_reborn();
		block = agent_attach();
		if (!block)
			return;
		block->busy = FXT_OUT_OF_LINE;
	}
	if (agent_stack_is_own(stack_pointer)) {
		enter_on(block, function, call_site, agent_place(stack_pointer), agent_self.stack_bytes);
	} else if ((coroutine = agent_coroutine_at(stack_pointer, false))) {
		enter_coroutine(coroutine, function, call_site, stack_pointer);
		stay_out_of_line(block);
	} else if (agent_place(stack_pointer) < agent_self.stack_bytes ||
	           agent_is_on_signal_stack(stack_pointer)) {
		enter_on(block, function, call_site, agent_place(stack_pointer), agent_self.stack_bytes);
	} else if ((coroutine = agent_coroutine_at(stack_pointer, true))) {
		enter_coroutine(coroutine, function, call_site, stack_pointer);
		stay_out_of_line(block);
	}
	store_release(&block->busy, FXT_IDLE);
}

static COLD void leave_out_of_line(
        struct fxt_block *block, const void *function, uint64_t now, uint64_t stack_pointer)
{
	struct fxt_block *coroutine = NULL;

	store_release(&block->busy, FXT_OUT_OF_LINE);
	if (fxt_engine_was_forked(&agent_engine)) {
		agent_reborn(); /* the call was entered in the parent, which records it */
		return;
	}
	if (!agent_stack_is_own(stack_pointer))
		coroutine = agent_coroutine_at(stack_pointer, false);
	if (coroutine) {
		store_relaxed(&coroutine->busy, FXT_OUT_OF_LINE);
		leave_on(coroutine, function, now);
		store_release(&coroutine->busy, FXT_IDLE);
		stay_out_of_line(block);
	} else {
		leave_on(block, function, now);
	}
	if (agent_helper_wanted())
		agent_helper_start();
	store_release(&block->busy, FXT_IDLE);
}

/* ---- a hook inside a hook: a signal handler's ---- */

/*
 * A handler's frames are lower than the hook it came into. A hook as high as the newest call, or higher,
 * tells that the handler was left by a jump we did not see, and the hook it had interrupted with it.
 */
static bool was_hook_left(const struct fxt_thread_slot *slot, uint64_t stack_pointer)
{
	const struct fxt_frame *newest = slot_top(slot) - 1;

	return agent_stack_is_own(stack_pointer) && !is_sentinel(newest) &&
	       agent_place(stack_pointer) >= newest->stack_pointer;
}

static COLD void enter_nested(
        struct fxt_block *block, const void *function, const void *call_site, uint64_t stack_pointer)
{
	struct fxt_block *nested;

	if (was_hook_left(agent_self.slot, stack_pointer)) {
		agent_leave_hook();
		enter_out_of_line(block, function, call_site, stack_pointer);
		return;
	}
	nested = agent_nested();
	if (!nested) {
		store_relaxed(&agent_self.slot->nested, agent_self.slot->nested + 1);
		stay_out_of_line(block);
		return;
	}
	store_relaxed(&nested->busy, FXT_OUT_OF_LINE);
	/* The interrupted hook may have a start in hand that is not stored yet: one step behind `last`. */
	nested->last = latest(nested->last, block->last + agent_engine.step);
	enter_on(nested, function, call_site, agent_place(stack_pointer), UINT64_MAX);
	store_release(&nested->busy, FXT_IDLE);
}

static COLD void leave_nested(struct fxt_block *block, const void *function, uint64_t stack_pointer)
{
	uint64_t now = fxt_clock_ticks(agent_engine.clock);
	struct fxt_block *nested = agent_self.nested;

	if (was_hook_left(agent_self.slot, stack_pointer)) {
		agent_leave_hook();
		leave_out_of_line(block, function, now, stack_pointer);
		return;
	}
	if (!nested || nested->busy != FXT_IDLE) /* its entry was counted as lost */
		return;
	store_relaxed(&nested->busy, FXT_OUT_OF_LINE);
	leave_on(nested, function, now);
	block->last = latest(block->last, nested->last); /* what the thread records next begins later */
	store_release(&nested->busy, FXT_IDLE);
}

void agent_leave_hook(void)
{
	struct fxt_block *block = agent_self.block, *nested = agent_self.nested;

	if (nested) {
		if (nested->busy != FXT_IDLE)
			agent_settle_left_hook(nested);
		nested->busy = FXT_OUT_OF_LINE;
		agent_abandon_all(nested);
		block->last = latest(block->last, nested->last);
		nested->busy = FXT_IDLE;
	}
	agent_settle_left_hook(block);
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
		enter_nested(block, function, call_site, stack_pointer);
		return;
	}
	store_relaxed(&block->busy, FXT_OUT_OF_LINE);
	compiler_barrier();
	struct fxt_frame *top = slot_top(slot);
	uint64_t place = agent_place(stack_pointer);
	uint64_t word = fxt_function_find(&agent_engine.functions, (uint64_t)(uintptr_t)function);

	if (unlikely((uint64_t)(uintptr_t)top >= load_relaxed(&block->top_limit) || !word ||
	             is_dead(top - 1, place, call_site))) {
		enter_out_of_line(block, function, call_site, stack_pointer);
		return;
	}
	push(block, slot, top, word, call_site, place, clock);
	store_release(&block->busy, FXT_IDLE);
}

static inline __attribute__((always_inline)) void leave(
        void *function, uint64_t stack_pointer, enum fxt_clock_kind clock)
{
	struct fxt_block *block = agent_self.block;

	if (unlikely(!block)) /* never entered */
		return;
	if (unlikely(load_relaxed(&block->busy) != FXT_IDLE)) {
		leave_nested(block, function, stack_pointer);
		return;
	}
	struct fxt_thread_slot *slot = agent_self.slot;
	uint64_t now = fxt_clock_ticks(clock);

	store_relaxed(&block->busy, FXT_WRITING);
	compiler_barrier();
	const struct fxt_frame *frame = slot_top(slot) - 1;
	uint64_t word = frame->function;
	uint64_t end = latest(now, block->last);

	if (unlikely(!is_indexed(word, function) ||
	             !fxt_chunk_record_call(block, slot, word, frame->start, end))) {
		leave_out_of_line(block, function, now, stack_pointer);
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

static COLD void leave_by_monotonic(void *function, uint64_t stack_pointer)
{
	leave(function, stack_pointer, FXT_CLOCK_MONOTONIC);
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
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();

	(void)call_site;
	if (likely(load_relaxed(&agent_recording) == AGENT_BY_COUNTER))
		leave(function, stack_pointer, FXT_CLOCK_COUNTER);
	else if (load_relaxed(&agent_recording) == AGENT_BY_MONOTONIC)
		leave_by_monotonic(function, stack_pointer);
}
