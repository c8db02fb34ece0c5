#include "slow_path.h"
#include "claim.h"
#include "helper.h"
#include "hooks.h"
#include "modules.h"
#include "shadow.h"
#include "stacks.h"

/* A call that gets no frame, nor do those inside it: all come out of line until its exit was told from
 * theirs. */
static void lose_entry(struct fxt_block *block)
{
	agent_lose(block, 1, fxt_clock_ticks(agent_engine.clock));
	block->frameless_calls++;
	stay_out_of_line(block);
}

/* Enters a call in a block that is SLOW_PATH. `stack_bytes`: of the stack its places count from. */
static void enter_on(struct fxt_block *block, const void *function, const void *call_site, uint64_t place,
        uint64_t stack_bytes)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	uint64_t word;

	if (agent_stack_is_short()) {
		lose_entry(block);
		return;
	}
	if (!agent_may_record(block))
		return;
	word = agent_function_word((uint64_t)(uintptr_t)function);
	if (is_dead(slot_top(slot) - 1, place, call_site))
		agent_abandon_dead(block, place, call_site, stack_bytes);
	if (block->frameless_calls) {
		lose_entry(block);
		return;
	}
	if (!block->top_limit)
		fxt_thread_restore_limit(&agent_engine, block);
	if ((uint64_t)(uintptr_t)slot_top(slot) >= block->top_limit &&
	        fxt_thread_grow_stack(&agent_engine, block))
		set_sentinel(slot, stack_bytes);
	if ((uint64_t)(uintptr_t)slot_top(slot) < block->top_limit)
		agent_push(block, slot, slot_top(slot), word, call_site, place, agent_engine.clock);
	else
		lose_entry(block);
}

/* Leaves a call of a block that is SLOW_PATH. */
static void leave_on(struct fxt_block *block, const void *function, uint64_t now)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	bool is_short = agent_stack_is_short();
	uint64_t end;
	struct fxt_frame *frame;

	if (!is_short && !agent_may_record(block))
		return;
	if (block->frameless_calls) { /* the next entry may be inside one of those too: pushes stay slow */
		block->frameless_calls--;
		return;
	}
	if (!block->top_limit)
		fxt_thread_restore_limit(&agent_engine, block);
	end = fxt_later(now, block->last);
	frame = agent_find_frame(block, function);
	if (!frame) /* an exit without an entry: tracing began inside the call, or it was cut off by a jump */
		return;
	if (is_short) {
		agent_lose(block, (uint64_t)(slot_top(slot) - frame), end);
		set_top(slot, frame);
		store_relaxed(&block->limit, 0);
		return;
	}
	while (slot_top(slot) - 1 > frame)
		agent_abandon_newest(block, end);
	if (!agent_record_call(block, frame, end, false))
		return;
	block->last = fxt_later(block->last, end);
	set_top(slot, frame);
}

static void enter_coroutine(
        struct fxt_block *coroutine, const void *function, const void *call_site, uint64_t stack_pointer)
{
	store_relaxed(&coroutine->busy, FXT_SLOW_PATH);
	enter_on(coroutine, function, call_site, stack_pointer, UINT64_MAX);
	store_release(&coroutine->busy, FXT_IDLE);
}

void agent_enter_out_of_line(
        struct fxt_block *block, const void *function, const void *call_site, uint64_t place)
{
	uint64_t stack_pointer = agent_address(place);
	struct fxt_block *coroutine;

	store_relaxed(&block->busy, FXT_SLOW_PATH);
	if (fxt_engine_was_forked(&agent_engine)) {
		agent_reborn();
		block = agent_attach();
		if (!block)
			return;
		block->busy = FXT_SLOW_PATH;
		place = agent_place(stack_pointer);
	}
	if (agent_stack_is_own(stack_pointer)) {
		enter_on(block, function, call_site, place, agent_self.stack_bytes);
	} else if ((coroutine = agent_coroutine_at(stack_pointer, false))) {
		enter_coroutine(coroutine, function, call_site, stack_pointer);
		stay_out_of_line(block);
	} else if (place < agent_self.stack_bytes || agent_is_on_signal_stack(stack_pointer)) {
		enter_on(block, function, call_site, place, agent_self.stack_bytes);
	} else if ((coroutine = agent_coroutine_at(stack_pointer, true))) {
		enter_coroutine(coroutine, function, call_site, stack_pointer);
		stay_out_of_line(block);
	}
	store_release(&block->busy, FXT_IDLE);
}

void agent_leave_out_of_line(
        struct fxt_block *block, const void *function, uint64_t now, uint64_t stack_pointer)
{
	struct fxt_block *coroutine = NULL;

	store_release(&block->busy, FXT_SLOW_PATH);
	if (fxt_engine_was_forked(&agent_engine)) {
		agent_reborn(); /* the call was entered in the parent, which records it */
		return;
	}
	if (!agent_stack_is_own(stack_pointer))
		coroutine = agent_coroutine_at(stack_pointer, false);
	if (coroutine) {
		store_relaxed(&coroutine->busy, FXT_SLOW_PATH);
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
static bool was_hook_left(const struct fxt_thread_slot *slot, uint64_t place)
{
	const struct fxt_frame *newest = slot_top(slot) - 1;

	return agent_stack_is_own(agent_address(place)) && !is_sentinel(newest) &&
	       place >= newest->stack_pointer;
}

void agent_enter_nested(struct fxt_block *block, const void *function, const void *call_site, uint64_t place)
{
	struct fxt_block *nested;

	if (was_hook_left(agent_self.slot, place)) {
		agent_leave_hook();
		agent_enter_out_of_line(block, function, call_site, place);
		return;
	}
	nested = agent_nested();
	if (!nested) {
		store_relaxed(&agent_self.slot->nested_lost, agent_self.slot->nested_lost + 1);
		stay_out_of_line(block);
		return;
	}
	store_relaxed(&nested->busy, FXT_SLOW_PATH);
	/* The interrupted hook may have a start in hand that is not stored yet: one step behind `last`. */
	nested->last = fxt_later(nested->last, block->last + agent_engine.step);
	enter_on(nested, function, call_site, place, UINT64_MAX);
	store_release(&nested->busy, FXT_IDLE);
}

void agent_leave_nested(struct fxt_block *block, const void *function, uint64_t stack_pointer)
{
	uint64_t now = fxt_clock_ticks(agent_engine.clock);
	struct fxt_block *nested = agent_self.nested;

	if (was_hook_left(agent_self.slot, agent_place(stack_pointer))) {
		agent_leave_hook();
		agent_leave_out_of_line(block, function, now, stack_pointer);
		return;
	}
	if (!nested || nested->busy != FXT_IDLE) /* its entry was counted as lost */
		return;
	store_relaxed(&nested->busy, FXT_SLOW_PATH);
	leave_on(nested, function, now);
	block->last = fxt_later(block->last, nested->last); /* what the thread records next begins later */
	store_release(&nested->busy, FXT_IDLE);
}

void agent_leave_hook(void)
{
	struct fxt_block *block = agent_self.block, *nested = agent_self.nested;

	if (load_relaxed(&sys_confinement) != SYS_FREE && block->busy == FXT_SLOW_PATH) {
		/* Perhaps with a lock that will never be released. */
		store_relaxed(&sys_confinement, SYS_UNLOCKED);
		store_relaxed(&agent_recording, AGENT_QUIET);
	}
	if (nested) {
		if (nested->busy != FXT_IDLE)
			agent_settle_left_hook(nested);
		nested->busy = FXT_SLOW_PATH;
		agent_abandon_all(nested);
		block->last = fxt_later(block->last, nested->last);
		nested->busy = FXT_IDLE;
	}
	agent_settle_left_hook(block);
	store_release(&block->busy, FXT_IDLE);
}

void agent_enter_first(void *function, void *call_site, uint64_t place)
{
	uint64_t stack_pointer =
	        agent_address(place); /* the place of a thread that is not told its stack yet */
	struct fxt_block *block;

	if (fxt_engine_was_forked(&agent_engine))
		agent_reborn();
	block = agent_attach();
	if (block)
		agent_enter_out_of_line(block, function, call_site, agent_place(stack_pointer));
}
