/*
 * The slow path of the hooks (slow_path.h): everything rare at the entry and exit of a
 * call. Runs on the program's threads, inside a hook, also in signal handlers. It must not
 * reach the end of the stack while it holds a lock, so it looks at the room there first.
 */
#include "slow_path.h"
#include "claim.h"
#include "agent/patch/patch.h"
#include "filter.h"
#include "agent/process/helper.h"
#include "hooks.h"
#include "elided.h"
#include "agent/process/modules.h"
#include "shadow.h"
#include "stacks.h"
#include "triggers.h"

/* Enters a call that gets no frame, and counts it as lost. The calls inside it get no frame
 * either: only their number shows when this call's exit has come. Every hook takes the slow
 * path until as many exits have come. */
static void slow_path_enter_frameless(struct fxt_thread_writer *writer)
{
	agent_count_lost(writer, 1, fxt_clock_ticks(agent_engine.clock));
	agent_keep_newest(writer);
	writer->frameless_calls++;
	agent_force_slow_path(writer);
}

/*
 * Whether a call of an excluded function is directly inside a call of the same function
 * that has a frame: the outer call began before the filter was changed, or is itself inside
 * such a call. The exit of the inner call would be taken for the outer one's. Therefore the
 * inner call gets a frame too. That frame has no record and no index, so that its exit
 * takes the slow path.
 */
static inline bool slow_path_is_inside_own(const struct fxt_thread_slot *slot, const void *function)
{
	return agent_engine.filter_changes && is_frame_of(slot_top(slot) - 1, function);
}

/* A handler on a signal stack inside the thread's stack may be higher than the calls it
 * interrupted. */
static void slow_path_abandon_dead(
        struct fxt_thread_writer *writer, uint64_t stack_offset, const void *call_site)
{
	if (!is_sentinel(slot_top(fxt_slot(&agent_engine, writer->number)) - 1) &&
	        !agent_stack_of(writer, stack_offset))
		agent_look_for_signal_stack(
		        is_coroutines(writer) ? stack_offset : agent_stack_address(stack_offset));
	agent_abandon_dead(writer, stack_offset, call_site);
}

/* Enters a call in a writer that is SLOW_PATH. */
static void slow_path_enter(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	uint64_t ref;
	bool is_excluded;
	uint32_t trigger;

	if (agent_stack_is_short()) {
		slow_path_enter_frameless(writer);
		return;
	}
	if (!agent_may_record(writer))
		return;
	if (writer->is_full) {
		agent_count_lost(writer, 1, writer->last);
		return;
	}
	ref = agent_function_ref((uint64_t)(uintptr_t)function);
	if (is_dead_of_any_state(slot_top(slot) - 1, stack_offset, call_site))
		slow_path_abandon_dead(writer, stack_offset, call_site);
	if (agent_filter_has_changed(writer))
		agent_filter_follow_change(writer);
	is_excluded = !fxt_function_is(ref, (uint64_t)(uintptr_t)function);
	if (is_excluded && !slow_path_is_inside_own(slot, function))
		return;
	if (writer->frameless_calls) {
		slow_path_enter_frameless(writer);
		return;
	}
	if (!agent_make_room(writer)) {
		slow_path_enter_frameless(writer);
		return;
	}
	agent_self.entered = writer;
	if (is_excluded) {
		agent_push(writer, slot, slot_top(slot),
		        fxt_function_key((uint64_t)(uintptr_t)function) | FXT_INDEX_LOCAL,
		        agent_filter_site_unrecorded(writer, slot_top(slot) - 1, call_site), stack_offset,
		        agent_engine.clock);
		return;
	}
	trigger = agent_trigger_begin(ref);
	agent_push(writer, slot, slot_top(slot), ref,
	        agent_filter_site(writer, slot_top(slot) - 1, ref, call_site), stack_offset,
	        agent_engine.clock);
	if (agent_filters_calls())
		agent_count_entered(writer, slot, slot_top(slot) - 1);
	agent_trigger_raise(trigger);
}

/*
 * Whether the call that ends was excluded at its entry. If it was entered before its
 * function was known to be excluded, it is the newest on the shadow stack, or is found dead
 * there later. An older open call of the same function is not the one that ends.
 */
static inline bool slow_path_is_excluded(const struct fxt_thread_slot *slot, const void *function)
{
	return !is_frame_of(slot_top(slot) - 1, function) &&
	       fxt_function_is_excluded(&agent_engine.functions, (uint64_t)(uintptr_t)function);
}

/* Whether the newest call was left by a jump that the agent did not see: the exit finds it
 * below its own stack pointer. After a change of the filter it may hide a call that began
 * before its function was excluded. */
static COLD bool slow_path_newest_is_left(const struct fxt_thread_writer *writer, uint64_t stack_offset)
{
	const struct fxt_frame *newest = slot_top(fxt_slot(&agent_engine, writer->number)) - 1;

	return !is_sentinel(newest) && is_left(writer, newest, stack_offset);
}

static inline bool slow_path_has_dead(const struct fxt_thread_writer *writer, uint64_t stack_offset)
{
	return unlikely(agent_engine.filter_changes) && slow_path_newest_is_left(writer, stack_offset);
}

/*
 * Whether that frame belongs to the call that ends. A call that began while its function
 * was excluded has no frame, and an older call of the function may be open. An exit hook
 * that is a tail call has its caller's stack pointer, which is higher than the frame's. An
 * inner call's stack pointer is no higher than the newest call's, unless that one is dead.
 */
static inline bool slow_path_is_frame_of_call(const struct fxt_thread_writer *writer,
        const struct fxt_thread_slot *slot, const struct fxt_frame *frame, uint64_t stack_offset)
{
	return frame == slot_top(slot) - 1 || !agent_engine.filter_changes ||
	       frame->stack_offset == stack_offset ||
	       (is_left(writer, frame, stack_offset) && slow_path_has_dead(writer, stack_offset));
}

/* Leaves a call of a writer that is SLOW_PATH. */
static void slow_path_leave(
        struct fxt_thread_writer *writer, const void *function, uint64_t now, uint64_t stack_offset)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	bool is_short = agent_stack_is_short();
	uint64_t end;
	struct fxt_frame *frame;

	if (slow_path_is_excluded(slot, function) && !slow_path_has_dead(writer, stack_offset))
		return;
	if (!is_short && !agent_may_record(writer))
		return;
	if (writer->is_full) /* counted when it began, or kept */
		return;
	/* the next entry may be inside another of them: it must come here too, to be
	 * counted */
	if (writer->frameless_calls) {
		writer->frameless_calls--;
		return;
	}
	if (!writer->top_limit)
		fxt_stack_restore_limit(&agent_engine, writer);
	end = fxt_later(now, writer->last);
	frame = agent_find_frame(writer, function);
	/* an exit without an entry: tracing began inside the call, or a jump cut it off */
	if (!frame || !slow_path_is_frame_of_call(writer, slot, frame, stack_offset))
		return;
	if (is_short) {
		agent_count_lost(writer, fxt_count_calls(frame, (uint64_t)(slot_top(slot) - frame)), end);
		set_top(slot, frame);
		store_relaxed(&writer->limit, 0);
		return;
	}
	while (slot_top(slot) - 1 > frame && !writer->is_full)
		agent_abandon_newest(writer, end);
	if (!writer->is_full && agent_end_frame(writer, frame, end, false))
		store_relaxed(&writer->last, fxt_later(writer->last, end));
}

/* Whether the writer no longer belongs to the thread, because the process is a forked
 * child: before its rebirth, or after it if a handler forked the child during this hook. */
static bool slow_path_is_in_child(const struct fxt_thread_writer *writer)
{
	return fxt_engine_was_forked(&agent_engine) || writer != agent_self.writer;
}

static COLD void slow_path_enter_recording(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset)
{
	uint64_t stack_pointer = agent_stack_address(stack_offset);
	struct fxt_thread_writer *on;

	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	if (slow_path_is_in_child(writer)) {
		store_relaxed(&writer->busy, FXT_IDLE);
		agent_rebirth();
		writer = agent_records_calls() ? agent_attach() : NULL;
		if (!writer)
			return;
		writer->busy = FXT_SLOW_PATH;
	}
	if (unlikely(load_relaxed(&agent_awaiting_call)))
		agent_report_call();
	on = agent_writer_at(writer, stack_pointer, true);
	if (on) {
		slow_path_enter(on, function, call_site, agent_frame_offset(on, stack_pointer));
		agent_coroutine_release(on);
	}
	if (on != writer)
		agent_force_slow_path(writer);
	store_release(&writer->busy, FXT_IDLE);
	agent_check_thread();
}

static COLD void slow_path_leave_recording(
        struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer)
{
	uint64_t now = fxt_clock_ticks(agent_engine.clock);
	bool takes_chunk = false;
	struct fxt_thread_writer *on;

	store_release(&writer->busy, FXT_SLOW_PATH);
	if (slow_path_is_in_child(writer)) {
		store_relaxed(&writer->busy, FXT_IDLE);
		agent_rebirth(); /* the call was entered in the parent, and is inherited (inherited.h) */
		writer = agent_self.writer;
		if (!writer)
			return;
		store_release(&writer->busy, FXT_SLOW_PATH);
	}
	on = agent_writer_at(writer, stack_pointer, false);
	if (on) { /* else it was counted when it began */
		uint64_t serial = on->chunk_serial;

		slow_path_leave(on, function, now, agent_frame_offset(on, stack_pointer));
		takes_chunk = on->chunk_serial != serial;
		agent_coroutine_release(on);
	}
	if (on != writer)
		agent_force_slow_path(writer);
	if (takes_chunk && agent_helper_wanted())
		agent_helper_start();
	store_release(&writer->busy, FXT_IDLE);
	agent_check_thread();
}

void slow_path_enter_or_count(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset);
void slow_path_leave_or_count(struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer);

/* ---- drops are counted: no lock, no system call; a forked child's writer is wiped ---- */

/* Whether a call on this stack belongs to a writer that gets no more frames. */
static inline bool slow_path_is_full(const struct fxt_thread_writer *writer, uint64_t stack_pointer)
{
	return writer->is_full && writer->run == load_relaxed(&agent_engine.run) &&
	       agent_stack_is_own(stack_pointer);
}

void slow_path_enter_or_count(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset)
{
	if (unlikely(!slow_path_is_full(writer, agent_stack_address(stack_offset)))) {
		slow_path_enter_recording(writer, function, call_site, stack_offset);
		return;
	}
	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	fxt_chunk_count_lost(&agent_engine, writer, agent_self.slot, 1, writer->last);
	store_release(&writer->busy, FXT_IDLE);
	agent_check_thread();
}

/*
 * Ends the newest call while no record of this thread can be written: takes its frame off
 * and counts it. If the stack pointer equals its frame's, it is on no other stack. Only the
 * first lost call needs its end time, because the gap begins there. The clock is not read
 * for the others [24.5 ns a call with it, 17.1 without].
 */
static inline bool slow_path_drop(
        struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer)
{
	const struct fxt_engine *e = &agent_engine;
	struct fxt_thread_slot *slot = agent_self.slot;
	const struct fxt_frame *frame = slot_top(slot) - 1;

	if (!slot->gap_start || !fxt_chunk_is_dropping(e, writer) || writer->run != load_relaxed(&e->run) ||
	        load_relaxed(&e->broken) || writer->frameless_calls || !is_frame_of(frame, function) ||
	        frame->stack_offset != agent_stack_offset(stack_pointer))
		return false;
	if (!(frame->call_site & FXT_FRAME_UNRECORDED) && fxt_is_counted(frame->function))
		fxt_chunk_count_lost(e, writer, slot, 1, writer->last);
	set_top(slot, frame);
	store_release(&writer->busy, FXT_IDLE);
	agent_check_thread();
	return true;
}

/* The exit of an excluded function after a change of the filter. */
static COLD void slow_path_leave_excluded(
        struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer)
{
	if (slow_path_has_dead(writer, agent_stack_offset(stack_pointer)))
		slow_path_leave_recording(writer, function, stack_pointer);
	else
		store_release(&writer->busy, FXT_IDLE);
}

void slow_path_leave_or_count(struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer)
{
	if (slow_path_is_excluded(agent_self.slot, function)) {
		if (unlikely(agent_engine.filter_changes))
			slow_path_leave_excluded(writer, function, stack_pointer);
		else
			store_release(&writer->busy, FXT_IDLE);
		agent_patch_later(function, stack_pointer, true);
	} else if (slow_path_is_full(writer, stack_pointer)) {
		/* it was counted when it began, or is kept */
		store_release(&writer->busy, FXT_IDLE);
	} else if (unlikely(!slow_path_drop(writer, function, stack_pointer))) {
		slow_path_leave_recording(writer, function, stack_pointer);
	}
}

/* Makes only tail calls, so that no register has to be saved in the common case. */
void agent_leave_mismatched(struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer)
{
	const struct fxt_thread_slot *slot = agent_self.slot;
	uint64_t ref = fxt_function_first(&agent_engine.functions, (uint64_t)(uintptr_t)function);

	if (likely(fxt_function_is(ref ^ FXT_FUNCTION_EXCLUDED, (uint64_t)(uintptr_t)function) &&
	            !is_frame_of(slot_top(slot) - 1, function) && !agent_engine.filter_changes)) {
		store_release(&writer->busy, FXT_IDLE);
		agent_patch_later(function, stack_pointer, true);
	} else {
		slow_path_leave_or_count(writer, function, stack_pointer);
	}
}

/* The hooks see these as COLD. If the compiler saw this at their definitions, it would
 * optimize them for size instead of speed. */
__typeof__(agent_enter_slow_path) agent_enter_slow_path __attribute__((alias("slow_path_enter_or_count")));
__typeof__(agent_leave_slow_path) agent_leave_slow_path __attribute__((alias("slow_path_leave_or_count")));

/* ---- a hook inside a hook: a signal handler's ---- */

/*
 * A handler's frames are lower than the hook that it interrupted. A hook as high as the
 * newest call, or higher, shows that a jump the agent did not see has left the handler, and
 * with it the interrupted hook.
 */
static bool slow_path_hook_was_left(const struct fxt_thread_slot *slot, uint64_t stack_offset)
{
	const struct fxt_frame *newest = slot_top(slot) - 1;
	int stack = agent_stack_of(agent_self.writer, stack_offset);

	return agent_stack_is_own(agent_stack_address(stack_offset)) && !is_sentinel(newest) &&
	       stack_offset >= newest->stack_offset &&
	       (stack == 0 || stack == agent_stack_of(agent_self.writer, newest->stack_offset));
}

void agent_enter_nested(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset)
{
	struct fxt_thread_writer *nested;

	if (slow_path_hook_was_left(agent_self.slot, stack_offset)) {
		agent_leave_hook();
		agent_enter_slow_path(writer, function, call_site, stack_offset);
		return;
	}
	nested = agent_nested();
	if (!nested) {
		store_relaxed(&agent_self.slot->nested_lost, agent_self.slot->nested_lost + 1);
		agent_force_slow_path(writer);
		return;
	}
	store_relaxed(&nested->busy, FXT_SLOW_PATH);
	/* The interrupted hook may hold a start that is not stored yet: one step after
	 * `last`. */
	agent_raise_last(nested, writer->last + agent_engine.step);
	slow_path_enter(nested, function, call_site, stack_offset);
	store_release(&nested->busy, FXT_IDLE);
}

void agent_leave_nested(struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer)
{
	uint64_t now = fxt_clock_ticks(agent_engine.clock);
	struct fxt_thread_writer *nested = agent_self.nested;

	if (slow_path_hook_was_left(agent_self.slot, agent_stack_offset(stack_pointer))) {
		agent_leave_hook();
		agent_leave_slow_path(writer, function, stack_pointer);
		return;
	}
	if (!nested || nested->busy != FXT_IDLE) /* its entry was counted as lost */
		return;
	store_relaxed(&nested->busy, FXT_SLOW_PATH);
	slow_path_leave(nested, function, now, agent_stack_offset(stack_pointer));
	agent_raise_last(writer, nested->last); /* the thread's next record begins later */
	store_release(&nested->busy, FXT_IDLE);
}

void agent_leave_hook(void)
{
	struct fxt_thread_writer *writer = agent_self.writer, *nested = agent_self.nested;

	if (load_relaxed(&sys_confinement) != SYS_FREE && writer->busy == FXT_SLOW_PATH) {
		/* The hook that the jump leaves may hold a lock, which can never be
		 * released. From now on no thread waits for a lock, and nothing is
		 * recorded. */
		store_relaxed(&sys_confinement, SYS_UNLOCKED);
		agent_set_recording(AGENT_QUIET);
	}
	if (nested) {
		if (nested->busy != FXT_IDLE)
			agent_finish_left_hook(nested);
		nested->busy = FXT_SLOW_PATH;
		agent_abandon_all(nested);
		agent_raise_last(writer, nested->last);
		nested->busy = FXT_IDLE;
	}
	if (agent_self.claimed) {
		agent_finish_left_hook(agent_self.claimed);
		agent_coroutine_release(agent_self.claimed);
	}
	agent_finish_left_hook(writer);
	store_release(&writer->busy, FXT_IDLE);
	agent_check_thread();
}

/* The thread has entered no call that could end here. */
void agent_leave_first(const void *function, uint64_t stack_pointer)
{
	if (fxt_function_is_excluded(&agent_engine.functions, (uint64_t)(uintptr_t)function))
		agent_patch_later(function, stack_pointer, true);
}

void agent_enter_first(void *function, void *call_site, uint64_t stack_offset)
{
	/* taken first: attaching may set the bounds that the offset counts from */
	uint64_t stack_pointer = agent_stack_address(stack_offset);
	struct fxt_thread_writer *writer;

	if (fxt_function_is_excluded(&agent_engine.functions, (uint64_t)(uintptr_t)function)) {
		agent_patch_later(function, stack_pointer, false);
		return;
	}
	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth();
	writer = agent_records_calls() ? agent_attach() : NULL;
	if (writer)
		agent_enter_slow_path(writer, function, call_site, agent_stack_offset(stack_pointer));
}
