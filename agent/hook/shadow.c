/*
 * Changes shadow stacks on the slow path (shadow.h): ends, abandons and counts calls, and
 * opens waits. Runs on the thread that owns the writer, inside a hook or an interposed
 * function. It must not be entered with the engine's lock held.
 */
#include "shadow.h"
#include <string.h>
#include "arguments.h"
#include "filter.h"
#include "elided.h"
#include "agent/process/modules.h"
#include "triggers.h"
#include "writer/engine/valid.h"
#include "writer/engine/closing.h"
#include "writer/format/encode.h"
#include "writer/engine/waits.h"

static struct fxt_thread_slot *shadow_slot(const struct fxt_thread_writer *writer)
{
	return fxt_slot(&agent_engine, writer->number);
}

void agent_count_lost(struct fxt_thread_writer *writer, uint64_t calls, uint64_t ticks)
{
	struct fxt_thread_writer *own = agent_self.writer;

	FXT_ASSERT_SLOW_PATH(writer);
	if (writer != agent_self.nested) {
		fxt_chunk_count_lost(&agent_engine, writer, shadow_slot(writer), calls, ticks);
		return;
	}
	/* The trace has no gap for these calls: calls that the handler interrupted continue
	 * around them. */
	store_relaxed(&agent_self.slot->nested_lost, agent_self.slot->nested_lost + calls);
	store_relaxed(&own->limit, 0); /* the next exit reports them, on the slow path */
}

/* Writes the record of a wait that has the newest frame, with new chunks if need be, and
 * takes the frame off. False: the record cannot be written. */
static bool shadow_write_wait(
        struct fxt_thread_writer *writer, const struct fxt_frame *frame, uint64_t end, bool is_abandoned)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t record[FXT_WAIT_WORDS];
	uint64_t words = fxt_put_wait(record, FXT_EVENT_DURATION_COMPLETE, e->process_koid,
	        fxt_thread_index(shadow_slot(writer)->thread_index), frame, is_abandoned, end);

	while (!fxt_chunk_try_write(e, writer, record, words, true))
		if (fxt_chunk_is_dropping(e, writer) || !fxt_chunk_reserve(e, writer, words))
			return false;
	return true;
}

/* A call's record with arguments. */
struct shadow_call {
	const struct fxt_frame *frame;
	const struct agent_argument_cell *cell;
	uint64_t end;
	uint32_t thread;
	bool is_abandoned;
};

static void shadow_put_call(uint64_t *position, uint64_t words, const void *context)
{
	const struct shadow_call *call = context;
	struct fxt_argument abandoned = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
	uint64_t count = call->cell->count + (call->is_abandoned ? 1 : 0), *at = position;

	*at++ = (fxt_duration_complete_header((uint8_t)call->thread, FXT_KNOWN_FUNCTION) ^
	                fxt_record_header(0, FXT_CALL_WORDS ^ words)) |
	        count << 20 | fxt_frame_index(call->frame->function) << 48;
	*at++ = call->frame->start;
	memcpy(at, call->cell->encoded, call->cell->words * sizeof(*at));
	at = fxt_write_arguments(at + call->cell->words, &abandoned, call->is_abandoned);
	*at = call->end;
}

static bool shadow_write_call_with(
        struct fxt_thread_writer *writer, struct shadow_call *call, const struct fxt_thread_slot *slot)
{
	call->thread = slot->thread_index;
	return fxt_chunk_write_by(&agent_engine, writer, shadow_put_call, call,
	        FXT_CALL_WORDS + call->cell->words + call->is_abandoned, true);
}

static bool shadow_write_call(
        struct fxt_thread_writer *writer, const struct fxt_frame *frame, uint64_t end, bool is_abandoned)
{
	struct fxt_engine *e = &agent_engine;
	struct fxt_thread_slot *slot = shadow_slot(writer);
	struct fxt_argument abandoned = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
	uint64_t address = frame->function >> FXT_FRAME_INDEX_BITS;
	enum fxt_known_string category =
	        fxt_is_inherited(frame->function) ? FXT_KNOWN_INHERITED : FXT_KNOWN_FUNCTION;
	bool is_local = fxt_frame_index(frame->function) == FXT_INDEX_LOCAL;
	uint64_t words[FXT_CALL_WORDS + 1];
	uint32_t module = is_local ? agent_module_at(address) : 0;
	struct agent_argument_cell *cell = agent_arguments_of(writer, frame, is_abandoned);

	if (unlikely(cell && !is_local)) {
		struct shadow_call call = {
		        .frame = frame, .cell = cell, .end = end, .is_abandoned = is_abandoned};

		return shadow_write_call_with(writer, &call, slot);
	}
	for (;;) {
		uint64_t index = fxt_frame_index(frame->function);

		/* A local index is valid for one chunk. If the chunk is closed by
		 * then, the write below fails, and the loop asks for a new index. */
		if (is_local)
			index = fxt_local_index(e, writer, address, module, FXT_CALL_WORDS + 1);
		if (!index)
			break;
		size_t size = fxt_put_event(words, FXT_CALL_WORDS + 1, FXT_EVENT_DURATION_COMPLETE,
		        fxt_thread_index(slot->thread_index), fxt_string_index(category),
		        fxt_string_index((uint32_t)index), frame->start, &abandoned, is_abandoned, end);

		if (fxt_chunk_try_write(e, writer, words, size, true))
			return true;
		if (!is_local && !fxt_chunk_reserve(e, writer, size))
			break;
	}
	return false;
}

bool agent_end_frame(
        struct fxt_thread_writer *writer, const struct fxt_frame *frame, uint64_t end, bool is_abandoned)
{
	struct fxt_engine *e = &agent_engine;
	bool is_wait = fxt_is_wait(frame->function);
	uint32_t trigger = 0;

	FXT_ASSERT_SLOW_PATH(writer);
	if (agent_filters_calls() || frame->call_site & FXT_FRAME_UNRECORDED) {
		trigger = agent_trigger_of(frame, end);
		if (agent_elides(writer, shadow_slot(writer), frame, end)) {
			agent_trigger_raise(trigger);
			return true;
		}
		agent_keep_around(frame);
	}
	if (is_wait ? shadow_write_wait(writer, frame, end, is_abandoned)
	            : shadow_write_call(writer, frame, end, is_abandoned)) {
		agent_trigger_raise(trigger);
		return true;
	}
	if (load_relaxed(&e->run) != writer->run && !load_relaxed(&e->broken))
		return false;
	if (e->mode == FXT_ONESHOT && !load_relaxed(&e->broken)) {
		fxt_stack_keep(e, writer, end);
		return true;
	}
	if (fxt_is_counted(frame->function) || fxt_is_span(frame->function))
		agent_count_lost(writer, 1, end);
	set_top(shadow_slot(writer), frame);
	if (load_relaxed(&e->broken))
		agent_set_recording(AGENT_QUIET); /* no manager is left to read records */
	return true;
}

/* ---- abandoned calls ---- */

void agent_abandon_newest(struct fxt_thread_writer *writer, uint64_t end)
{
	struct fxt_thread_slot *slot = shadow_slot(writer);
	const struct fxt_frame *frame = slot_top(slot) - 1;

	FXT_ASSERT_SLOW_PATH(writer);
	if (!agent_end_frame(writer, frame, end, true))
		set_top(slot, frame);
	writer->frameless_calls = 0; /* they were inside this call */
}

static uint64_t shadow_now(const struct fxt_thread_writer *writer)
{
	return fxt_later(fxt_clock_ticks(agent_engine.clock), writer->last);
}

static void shadow_abandon_all(struct fxt_thread_writer *writer, uint64_t end)
{
	struct fxt_thread_slot *slot = shadow_slot(writer);

	writer->frameless_calls = 0;
	while (!is_sentinel(slot_top(slot) - 1))
		agent_abandon_newest(writer, end);
	store_relaxed(&writer->last, fxt_later(writer->last, end));
}

void agent_abandon_all(struct fxt_thread_writer *writer)
{
	FXT_ASSERT_SLOW_PATH(writer);
	if (agent_may_record(writer))
		shadow_abandon_all(writer, shadow_now(writer));
}

/* Ends the calls without marking them as abandoned: they will continue. */
void agent_suspend_all(struct fxt_thread_writer *writer)
{
	struct fxt_thread_slot *slot = shadow_slot(writer);

	FXT_ASSERT_SLOW_PATH(writer);
	if (!agent_may_record(writer))
		return;
	uint64_t end = shadow_now(writer);

	writer->frameless_calls = 0;
	while (!is_sentinel(slot_top(slot) - 1)) {
		const struct fxt_frame *frame = slot_top(slot) - 1;

		if (!agent_end_frame(writer, frame, end, false))
			set_top(slot, frame);
	}
	store_relaxed(&writer->last, fxt_later(writer->last, end));
}

void agent_abandon_dead(struct fxt_thread_writer *writer, uint64_t stack_offset, const void *call_site)
{
	struct fxt_thread_slot *slot = shadow_slot(writer);
	int stack = agent_stack_of(writer, stack_offset);
	uint64_t end = 0;

	FXT_ASSERT_SLOW_PATH(writer);
	for (;;) {
		const struct fxt_frame *frame = slot_top(slot) - 1;

		if (is_sentinel(frame) || !is_dead_of_any_state(frame, stack_offset, call_site))
			break;
		if (stack != 0 && agent_stack_of(writer, frame->stack_offset) != stack)
			break;
		if (!end) /* nearly always no frame is dead, and no time is needed */
			end = shadow_now(writer);
		agent_abandon_newest(writer, end);
		store_relaxed(&writer->last, fxt_later(writer->last, end));
	}
}

static bool shadow_is_left(const struct fxt_thread_writer *writer, const struct fxt_frame *frame,
        uint64_t stack_offset, bool keep_equal)
{
	if (frame->stack_offset == stack_offset)
		return !keep_equal && frame[-1].stack_offset == stack_offset;
	return is_left(writer, frame, stack_offset);
}

void agent_abandon_below(struct fxt_thread_writer *writer, uint64_t stack_offset, bool keep_equal)
{
	struct fxt_thread_slot *slot = shadow_slot(writer);
	uint64_t end = 0;

	FXT_ASSERT_SLOW_PATH(writer);
	for (;;) {
		const struct fxt_frame *frame = slot_top(slot) - 1;

		if (is_sentinel(frame) || !shadow_is_left(writer, frame, stack_offset, keep_equal))
			break;
		if (!end) /* a destructor often finds no frame to abandon */
			end = shadow_now(writer);
		agent_abandon_newest(writer, end);
		store_relaxed(&writer->last, fxt_later(writer->last, end));
	}
}

/* `last` is the writer's at the end of that run. */
static void shadow_end_earlier_run(struct fxt_thread_writer *writer, uint64_t last)
{
	const struct fxt_frame *newest = slot_top(shadow_slot(writer)) - 1;
	uint64_t end = fxt_later(agent_engine.stopped_ticks, last);

	writer->run_last = 0;
	/* A handler that raised `last` may have interrupted the newest call's entry. */
	if (!is_sentinel(newest))
		end = fxt_later(end, newest->start);
	shadow_abandon_all(writer, end);
}

/* Ends the calls that handlers left open in an earlier run, before the thread records new
 * ones on their track. Otherwise the old calls would end with a later run, and overlap the new
 * ones. Signals are blocked, because a handler would find no writer and lose its calls. */
static void shadow_end_earlier_run_of_handlers(void)
{
	struct fxt_thread_writer *nested = agent_self.nested;
	uint64_t mask;

	if (!nested || nested->busy != FXT_IDLE || load_relaxed(&sys_confinement) != SYS_FREE)
		return;
	mask = sys_block_signals();
	store_relaxed(&nested->busy, FXT_SLOW_PATH);
	agent_may_record(nested);
	store_release(&nested->busy, FXT_IDLE);
	sys_restore_signals(mask);
}

bool agent_may_record(struct fxt_thread_writer *writer)
{
	/* Read before the check: once that has set the new run, a handler raises `last` without
	 * keeping the old one. */
	uint64_t last = writer->run_last ?: writer->last;

	FXT_ASSERT_SLOW_PATH(writer);
	switch (fxt_thread_check(&agent_engine, writer)) {
	case FXT_THREAD_STOPPED:
		return false;
	case FXT_THREAD_RESUMED:
		shadow_end_earlier_run(writer, last);
		if (writer == agent_self.writer)
			shadow_end_earlier_run_of_handlers();
		return true;
	default:
		return true;
	}
}

struct fxt_frame *agent_find_frame(const struct fxt_thread_writer *writer, const void *function)
{
	struct fxt_frame *frame = slot_top(shadow_slot(writer)) - 1;

	while (!is_sentinel(frame) && !is_frame_of(frame, function))
		frame--;
	return is_sentinel(frame) ? NULL : frame;
}

/* ---- waits ---- */

bool agent_make_room(struct fxt_thread_writer *writer)
{
	struct fxt_thread_slot *slot = shadow_slot(writer);

	FXT_ASSERT_SLOW_PATH(writer);
	if (!writer->top_limit)
		fxt_stack_restore_limit(&agent_engine, writer);
	/* A stop may have set top_limit to 0. The stack is not full then, and the call must
	 * not count as lost. */
	if ((uint64_t)(uintptr_t)slot_top(slot) >= fxt_stack_end(&agent_engine, writer) &&
	        fxt_stack_grow(&agent_engine, writer))
		set_sentinel(slot, writer == agent_self.writer ? agent_self.stack_bytes : UINT64_MAX);
	return (uint64_t)(uintptr_t)slot_top(slot) < fxt_stack_end(&agent_engine, writer);
}

bool agent_push_inherited(struct fxt_thread_writer *writer, const struct fxt_frame *call, uint64_t ref)
{
	struct fxt_thread_slot *slot = shadow_slot(writer);
	struct fxt_frame *top;

	FXT_ASSERT_SLOW_PATH(writer);
	if (writer->is_full || !agent_make_room(writer))
		return false;
	top = slot_top(slot);
	*top = (struct fxt_frame){.function = fxt_inherited_ref(ref),
	        .call_site = call->call_site & ~FXT_FRAME_KEPT,
	        .stack_offset = call->stack_offset,
	        .start = writer->last + agent_engine.step};
	store_relaxed(&writer->last, top->start);
	set_top(slot, top + 1);
	return true;
}

uint64_t agent_begin_wait(
        struct fxt_thread_writer *writer, uint64_t ref, uint64_t site, uint64_t stack_pointer)
{
	const void *call_site = (const void *)(uintptr_t)site;
	uint64_t stack_offset = is_coroutines(writer) ? stack_pointer : agent_stack_offset(stack_pointer);

	FXT_ASSERT_SLOW_PATH(writer);
	agent_abandon_dead(writer, stack_offset, call_site);
	if (writer->is_full || writer->frameless_calls || !agent_make_room(writer))
		return 0;
	struct fxt_frame *top = slot_top(shadow_slot(writer));

	agent_push(writer, shadow_slot(writer), top, ref, agent_filter_site(writer, top - 1, ref, call_site),
	        stack_offset, agent_engine.clock);
	return writer->last;
}

const struct fxt_frame *agent_find_wait(struct fxt_thread_writer *writer, uint64_t begin)
{
	const struct fxt_frame *frame = slot_top(shadow_slot(writer)) - 1;
	uint64_t end = shadow_now(writer);

	FXT_ASSERT_SLOW_PATH(writer);
	while (!is_sentinel(frame) && frame->start != begin)
		frame--;
	if (is_sentinel(frame))
		return NULL;
	while (slot_top(shadow_slot(writer)) - 1 > frame && !writer->is_full)
		agent_abandon_newest(writer, end);
	store_relaxed(&writer->last, fxt_later(writer->last, end));
	return writer->is_full ? NULL : frame;
}

/* Whether the last committed record is that of the newest call. Starts are unique on a
 * thread, so an equal start tells. */
static bool shadow_is_recorded(const struct fxt_thread_writer *writer, const struct fxt_frame *newest)
{
	const uint64_t *end = (const uint64_t *)(uintptr_t)shadow_slot(writer)->committed;
	const uint64_t *first =
	        (const uint64_t *)(uintptr_t)(writer->chunk + sizeof(struct fxt_chunk_header));

	for (int words = FXT_CALL_WORDS;
	        writer->chunk && words <= (int)FXT_RECORD_MAX_WORDS && words <= end - first; words++)
		if (fxt_record_words(end[-words]) == (size_t)words &&
		        fxt_record_type(end[-words]) == FXT_RECORD_EVENT && end[1 - words] == newest->start)
			return true;
	return false;
}

void agent_finish_left_hook(struct fxt_thread_writer *writer)
{
	struct fxt_engine *e = &agent_engine;
	struct fxt_thread_slot *slot = shadow_slot(writer);
	const struct fxt_frame *newest = slot_top(slot) - 1;
	uint64_t mask = fxt_lock(&e->lock);

	if (!is_sentinel(newest) && (shadow_is_recorded(writer, newest) || agent_was_eliding(writer, newest)))
		set_top(slot, newest);
	fxt_engine_change_begin(e);
	fxt_close_thread(e, writer);
	fxt_engine_change_end(e);
	fxt_unlock(&e->lock, mask);
}
