/*
 * The rest of the hooks (hooks.h): functions found later in the function table, excluded
 * functions, and sessions that filter calls or use another clock. Runs on the program's
 * threads, inside hooks. It must not do anything rare itself: everything that may need a
 * lock or more stack goes to slow_path.c, except reports of triggers.
 */
#include "hooks.h"
#include "arguments.h"
#include "agent/patch/patch.h"
#include "filter.h"
#include "elided.h"
#include "stacks.h"
#include "triggers.h"

/*
 * Whether the entry of an excluded function needs the slow path after a change of the
 * filter. It does if the newest frame is the function's own, from a call that began before
 * the change: then their exits must be kept apart. It also does if the newest frame is
 * dead, because it may hide such a frame.
 */
static bool hooks_must_look(const struct fxt_thread_slot *slot, const void *function, const void *call_site,
        uint64_t stack_offset)
{
	const struct fxt_frame *newest = slot_top(slot) - 1;

	return is_frame_of(newest, function) || is_dead_of_any_state(newest, stack_offset, call_site);
}

static COLD void hooks_enter_excluded(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset)
{
	const struct fxt_thread_writer *nested = agent_self.nested;

	if (!writer || writer->is_full)
		return;
	if (writer->busy != FXT_IDLE) {
		if (nested && hooks_must_look(fxt_slot(&agent_engine, nested->number), function, call_site,
		                      stack_offset))
			agent_enter_nested(writer, function, call_site, stack_offset);
	} else if (hooks_must_look(agent_self.slot, function, call_site, stack_offset) ||
	           !agent_stack_is_own(agent_stack_address(stack_offset))) {
		agent_enter_slow_path(writer, function, call_site, stack_offset);
	}
}

/* Enters a function that the fast look-up does not find: it is excluded or new. */
static COLD void hooks_enter_unknown(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset)
{
	if (fxt_function_is_excluded(&agent_engine.functions, (uint64_t)(uintptr_t)function)) {
		if (agent_engine.filter_changes)
			hooks_enter_excluded(writer, function, call_site, stack_offset);
		agent_patch_later(function, agent_stack_address(stack_offset), false);
		return;
	}
	if (writer->busy != FXT_IDLE)
		agent_enter_nested(writer, function, call_site, stack_offset);
	else
		agent_enter_slow_path(writer, function, call_site, stack_offset);
}

/* Handles functions that are not excluded, or are not found excluded at their first place
 * in the table; and all functions once the filter was changed. */
static __attribute__((noinline)) void hooks_enter_further(
        void *function, void *call_site, uint64_t stack_offset)
{
	struct fxt_thread_writer *writer = agent_self.writer;
	uint64_t ref;

	if (unlikely(!writer)) {
		agent_enter_first(function, call_site, stack_offset);
		return;
	}
	ref = fxt_function_probe(&agent_engine.functions, (uint64_t)(uintptr_t)function, 1, 0);
	if (likely(ref))
		agent_enter_known(writer, function, call_site, stack_offset, ref, FXT_CLOCK_COUNTER);
	else
		hooks_enter_unknown(writer, function, call_site, stack_offset);
}

/* Makes only tail calls, so that no register is saved for excluded functions. */
void agent_enter_probing(void *function, void *call_site, uint64_t stack_offset)
{
	uint64_t ref = fxt_function_first(&agent_engine.functions, (uint64_t)(uintptr_t)function);

	if (likely(fxt_function_is(ref ^ FXT_FUNCTION_EXCLUDED, (uint64_t)(uintptr_t)function) &&
	            !load_foldable(&agent_engine.filter_changes)))
		agent_patch_later(function, agent_stack_address(stack_offset), false);
	else
		hooks_enter_further(function, call_site, stack_offset);
}

/* Enters a call of a session that filters calls. */
static void hooks_enter_filtered(struct fxt_thread_writer *writer, const void *function,
        const void *call_site, uint64_t stack_offset, uint64_t ref)
{
	struct fxt_thread_slot *slot = agent_self.slot;
	struct fxt_frame *top;
	uint32_t trigger;

	if (writer->busy != FXT_IDLE) {
		agent_enter_nested(writer, function, call_site, stack_offset);
		return;
	}
	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	top = slot_top(slot);
	if ((uint64_t)(uintptr_t)top >= load_foldable(&writer->top_limit) || !agent_filter_knows(ref) ||
	        agent_filter_has_changed(writer) || is_dead_of_any_state(top - 1, stack_offset, call_site)) {
		agent_enter_slow_path(writer, function, call_site, stack_offset);
		return;
	}
	trigger = agent_trigger_begin(ref);
	agent_push(writer, slot, top, ref, agent_filter_site(writer, top - 1, ref, call_site), stack_offset,
	        agent_engine.clock);
	agent_count_entered(writer, slot, top);
	store_release(&writer->busy, FXT_IDLE);
	agent_trigger_raise(trigger);
}

/* Counts a call that is not recorded because the process may not read its clock. */
COLD static void hooks_count(const void *function)
{
	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth(); /* ends the counting */
	else if (!fxt_function_is_excluded(&agent_engine.functions, (uint64_t)(uintptr_t)function))
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
}

static void hooks_enter_general(void *function, void *call_site, uint64_t stack_pointer)
{
	uint64_t stack_offset, ref;
	struct fxt_thread_writer *writer;

	if (!agent_records_calls()) {
		enum agent_call call;

		if (unlikely(load_relaxed(&agent_counts_only))) {
			hooks_count(function);
			return;
		}
		call = agent_begin_with_call();
		if (call == AGENT_CALL_NOT_RECORDED)
			agent_patch_later(function, stack_pointer, false);
		if (call != AGENT_CALL_RECORDED)
			return;
	}
	if (agent_is_borrower()) {
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return;
	}
	stack_offset = agent_stack_offset(stack_pointer);
	writer = agent_self.writer;
	ref = fxt_function_find(&agent_engine.functions, (uint64_t)(uintptr_t)function);
	if (unlikely(!writer))
		agent_enter_first(function, call_site, stack_offset);
	else if (unlikely(!ref))
		hooks_enter_unknown(writer, function, call_site, stack_offset);
	else if (agent_filters_calls())
		hooks_enter_filtered(writer, function, call_site, stack_offset, ref);
	else
		agent_enter_known(writer, function, call_site, stack_offset, ref, agent_engine.clock);
}

void agent_enter_general(void *function, void *call_site, uint64_t stack_pointer)
{
	uint64_t mask;

	if (likely(!load_relaxed(&agent_hooks_block_signals))) {
		hooks_enter_general(function, call_site, stack_pointer);
		return;
	}
	mask = sys_block_signals();
	hooks_enter_general(function, call_site, stack_pointer);
	sys_restore_signals(mask);
}

/* Leaves a call of a session that filters calls. */
static void hooks_leave_filtered(const void *function, uint64_t stack_pointer)
{
	struct fxt_thread_writer *writer = agent_self.writer;
	struct fxt_thread_slot *slot = agent_self.slot;
	const struct fxt_frame *frame;
	uint32_t trigger;
	uint64_t *position, end;

	if (!writer) {
		agent_leave_first(function, stack_pointer);
		return;
	}
	if (writer->busy != FXT_IDLE) {
		agent_leave_nested(writer, function, stack_pointer);
		return;
	}
	/* WRITING also while a call is elided: a stop then waits for the sums. */
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	frame = slot_top(slot) - 1;
	if (!load_relaxed(&writer->top_limit) /* the slow path was requested */ ||
	        !is_frame_of(frame, function)) {
		agent_leave_slow_path(writer, function, stack_pointer);
		return;
	}
	/* A call that is unrecorded because of its callers is not timed. */
	end = frame->call_site & FXT_FRAME_UNRECORDED
	              ? writer->last
	              : fxt_later(fxt_clock_ticks(agent_engine.clock), writer->last);
	trigger = agent_trigger_of(frame, end);
	if (!agent_elides(writer, slot, frame, end)) {
		agent_keep_around(frame); /* also for a lost call: a slice will report the loss */
		if (!agent_ref_is_indexed(frame->function, function) ||
		        !fxt_chunk_has_room(writer, slot, &position)) {
			agent_leave_slow_path(writer, function, stack_pointer);
			return;
		}
		fxt_chunk_put_call(writer, slot, position, frame->function, frame->start, end);
		set_top(slot, frame);
		store_relaxed(&writer->last, end);
	}
	store_release(&writer->busy, FXT_IDLE);
	agent_trigger_raise(trigger);
}

static void hooks_leave_general(void *function, uint64_t stack_pointer)
{
	if (!agent_records_calls()) {
		if (likely(load_relaxed(&agent_has_begun)))
			agent_patch_later(function, stack_pointer, true);
		return;
	}
	if (agent_is_borrower()) /* it was counted when it began */
		return;
	if (agent_filters_calls())
		hooks_leave_filtered(function, stack_pointer);
	else
		agent_leave(function, stack_pointer, agent_engine.clock);
}

void agent_leave_general(void *function, uint64_t stack_pointer)
{
	uint64_t mask;

	if (likely(!load_relaxed(&agent_hooks_block_signals))) {
		hooks_leave_general(function, stack_pointer);
		return;
	}
	mask = sys_block_signals();
	hooks_leave_general(function, stack_pointer);
	sys_restore_signals(mask);
}

/* ---- calls with planned arguments ---- */

void agent_keep_arguments(
        uint64_t function, uint64_t frame_address, const uint64_t *general, const uint64_t *vector)
{
	if (!agent_self.writer || !agent_stack_is_short())
		agent_arguments_keep(function, frame_address, general, vector);
}

static void hooks_leave_slowly(void *function, uint64_t stack_pointer)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	if (!agent_records_calls() || agent_is_borrower() || !writer) {
		hooks_leave_general(function, stack_pointer);
	} else if (writer->busy != FXT_IDLE) {
		agent_leave_nested(writer, function, stack_pointer);
	} else {
		store_relaxed(&writer->busy, FXT_WRITING);
		compiler_barrier();
		agent_leave_slow_path(writer, function, stack_pointer);
	}
}

void agent_leave_with_arguments(
        void *function, uint64_t stack_pointer, const uint64_t *general, const uint64_t *vector)
{
	struct agent_result around = agent_self.result;
	bool blocks = load_relaxed(&agent_hooks_block_signals);
	uint64_t mask;

	if (load_relaxed(&agent_hooks) < AGENT_BY_COUNTER)
		return;
	mask = blocks ? sys_block_signals() : 0;
	agent_self.result = general ? (struct agent_result){(uint64_t)(uintptr_t)function,
	                                      general[AGENT_SAVED_RAX], vector[0]}
	                            : (struct agent_result){0};
	hooks_leave_slowly(function, stack_pointer);
	agent_self.result = around;
	if (blocks)
		sys_restore_signals(mask);
}
