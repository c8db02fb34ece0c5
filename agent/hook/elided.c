/*
 * Elides calls (elided.h) and keeps the sums of a thread's elided calls in the control
 * memory. Runs on the thread that makes the calls, inside its hooks. It never takes a lock
 * and never writes a record.
 */
#include "elided.h"
#include "filter.h"

/* The thread's sums; NULL if it has none. A handler's calls inside a hook are always
 * recorded: their slot does not show which calls they are inside of. */
static struct fxt_elided *elided_of(const struct fxt_thread_writer *writer)
{
	return writer->number < FXT_ELIDED_THREADS && writer->number >= agent_engine.first_slot &&
	                       writer != agent_self.nested
	               ? fxt_elided(agent_engine.control, writer->number)
	               : NULL;
}

static bool elided_has_index(uint64_t ref)
{
	return (ref & FXT_INDEX_LOCAL) < FXT_STRING_LOCAL_FIRST;
}

static struct fxt_elided_function *elided_function(struct fxt_elided *sums, uint64_t ref)
{
	return &sums->functions[ref & FXT_INDEX_LOCAL];
}

static uint64_t elided_sentinel(const struct fxt_thread_slot *slot)
{
	return (uint64_t)(uintptr_t)(fxt_slot_frames(&agent_engine, slot) - 1);
}

/* ---- which calls are inside which ---- */

void agent_keep_newest(const struct fxt_thread_writer *writer)
{
	if (agent_filters_calls())
		agent_keep_around(slot_top(fxt_slot(&agent_engine, writer->number)));
}

/* Whether a handler, in a hook of its thread, has recorded something inside the newest
 * call. */
static bool elided_was_interrupted(struct fxt_thread_writer *writer)
{
	if (likely(!load_relaxed(&writer->was_interrupted)))
		return false;
	store_relaxed(&writer->was_interrupted, 0);
	return true;
}

/*
 * Only the outermost call of a function adds its time to the function's total. It is noted
 * at the entry, since the exit would have to search the open calls. A note left by an
 * earlier call points either to no open call of the function any more, or still to the
 * outermost one.
 */
static bool elided_is_open(
        const struct fxt_thread_slot *slot, const struct fxt_frame *frame, uint64_t distance, uint64_t ref)
{
	const struct fxt_frame *outermost =
	        (const struct fxt_frame *)(uintptr_t)(elided_sentinel(slot) + distance);

	return outermost < frame && outermost->function == ref &&
	       !(outermost->call_site & FXT_FRAME_UNRECORDED);
}

/* Whether a call that begins is one too many of its function. Once one was, counting stops,
 * so that threads do not compete for the cache line. */
static bool elided_had_its_calls(uint64_t ref)
{
	const struct fxt_control *control = agent_engine.control;
	struct fxt_limit *limit = fxt_limit(control, ref & FXT_INDEX_LOCAL);
	uint64_t first = control->has_limits ? load_relaxed(&limit->first_counted) : 0;

	if (!first)
		first = load_relaxed(&control->first_counted);
	return first &&
	       (load_relaxed(&limit->begun) + 1 >= first || add_relaxed(&limit->begun, 1) + 1 >= first);
}

void agent_count_entered(
        struct fxt_thread_writer *writer, struct fxt_thread_slot *slot, struct fxt_frame *frame)
{
	struct fxt_elided *sums = elided_of(writer);
	struct fxt_elided_function *function;

	if (elided_was_interrupted(writer))
		frame->call_site |= FXT_FRAME_KEPT;
	if (!sums || !fxt_elides_calls(agent_engine.control) || !elided_has_index(frame->function) ||
	        frame->call_site & FXT_FRAME_UNRECORDED)
		return;
	function = elided_function(sums, frame->function);
	if (!elided_is_open(slot, frame, function->outermost, frame->function))
		function->outermost = (uint64_t)(uintptr_t)frame - elided_sentinel(slot);
	if (elided_had_its_calls(frame->function))
		frame->call_site |= FXT_FRAME_COUNTED;
}

/* ---- sums ---- */

/* The frame around a call in the trace: an open call, a wait, or the sentinel. */
static const struct fxt_frame *elided_around(const struct fxt_frame *frame)
{
	do
		frame--;
	while (frame->call_site & FXT_FRAME_UNRECORDED);
	return frame;
}

/* The entry of a frame, by its depth: a frame keeps that when its shadow stack moves
 * (fxt_stack_grow). */
static struct fxt_elided_inside *elided_inside(
        struct fxt_elided *sums, const struct fxt_thread_slot *slot, const struct fxt_frame *frame)
{
	uint64_t depth = ((uint64_t)(uintptr_t)frame - elided_sentinel(slot)) / sizeof(*frame);

	return &sums->inside[depth % FXT_ELIDED_DEPTH];
}

/* The part of an elided call's time that is in no call inside it. Adds the whole time to
 * `around`. */
static uint64_t elided_own(struct fxt_elided *sums, const struct fxt_thread_slot *slot,
        const struct fxt_frame *frame, const struct fxt_frame *around, uint64_t time)
{
	const struct fxt_elided_inside *inside = elided_inside(sums, slot, frame);
	uint64_t own = inside->start == frame->start ? time - inside->ticks : time;
	struct fxt_elided_inside *outside = elided_inside(sums, slot, around);

	if (outside->start != around->start)
		*outside = (struct fxt_elided_inside){.start = around->start};
	outside->ticks += time;
	return own;
}

/* Whether the time of calls inside it is subtracted from no caller: an inherited call's
 * time is counted by its parent process. */
static bool elided_is_nobodys(const struct fxt_frame *around)
{
	return is_sentinel(around) || fxt_is_inherited(around->function);
}

static void elided_count(struct fxt_elided *sums, const struct fxt_thread_slot *slot,
        const struct fxt_frame *frame, const struct fxt_frame *around, uint64_t end)
{
	struct fxt_elided_function *function = elided_function(sums, frame->function);
	uint32_t index = (uint32_t)(frame->function & FXT_INDEX_LOCAL);
	uint64_t time = end - frame->start;

	sums->counted_index = index;
	sums->counted_calls = function->calls + 1;
	if (index >= sums->end)
		sums->end = index + 1;
	/* Release: from here on the call counts, whether or not its thread gets through the
	 * rest. */
	store_release(&sums->counted_start, frame->start);
	compiler_barrier();
	function->calls++;
	function->sum += time;
	function->self += (int64_t)time;
	if (function->calls == 1 || time < function->shortest)
		function->shortest = time;
	if (time > function->longest)
		function->longest = time;
	if (elided_sentinel(slot) + function->outermost == (uint64_t)(uintptr_t)frame)
		function->total += time;
	if (!elided_is_nobodys(around)) {
		uint32_t caller = (uint32_t)(around->function & FXT_INDEX_LOCAL);

		sums->functions[caller].self -= (int64_t)time;
		if (caller >= sums->end)
			sums->end = caller + 1;
	}
	function->own += elided_own(sums, slot, frame, around, time);
}

/* ---- the end of a call ---- */

/* A call of a function without an index counts as long. */
static bool elided_is_short(const struct fxt_frame *frame, uint64_t end)
{
	const struct fxt_control *control = agent_engine.control;
	uint64_t index = fxt_frame_index(frame->function), own = 0;

	if (index >= FXT_STRING_LOCAL_FIRST)
		return false;
	if (control->has_limits)
		own = load_relaxed(&fxt_limit(control, (uint32_t)index)->min_duration);
	return end - frame->start < (own ? own - 1 : load_relaxed(&control->min_duration_ticks));
}

bool agent_elides(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const struct fxt_frame *frame, uint64_t end)
{
	const struct fxt_frame *around;
	struct fxt_elided *sums;
	bool is_kept;

	/* Stored in the frame: if its record cannot be written at once, the slow path asks
	 * again. */
	if (elided_was_interrupted(writer))
		agent_keep_around(slot_top(slot));
	is_kept = frame->call_site & FXT_FRAME_KEPT;
	if (frame->call_site & FXT_FRAME_UNRECORDED) {
		if (is_kept)
			agent_keep_around(frame);
		set_top(slot, frame);
		return true;
	}
	if (is_kept || !(frame->call_site & FXT_FRAME_COUNTED || elided_is_short(frame, end)))
		return false;
	if (fxt_is_inherited(frame->function)) {
		set_top(slot, frame);
		return true;
	}
	sums = elided_of(writer);
	around = elided_around(frame);
	if (!sums || !(elided_is_nobodys(around) || elided_has_index(around->function)))
		return false;
	elided_count(sums, slot, frame, around, end);
	store_relaxed(&writer->last, fxt_later(writer->last, end));
	set_top(slot, frame);
	return true;
}

bool agent_was_eliding(const struct fxt_thread_writer *writer, const struct fxt_frame *frame)
{
	struct fxt_elided *sums = elided_of(writer);

	if (!sums || !fxt_elides_calls(agent_engine.control) || sums->counted_start != frame->start)
		return false;
	sums->functions[sums->counted_index].calls = sums->counted_calls;
	return true;
}
