/*
 * Gives threads their chunks and writes all records but the hooks' calls into them, with
 * the slices that explain a wait or a loss. Runs on the recording threads' slow path, and
 * takes the engine's lock itself. Must never wait for a manager that is gone, and never
 * write beyond `limit`.
 */
#include "chunk.h"
#include "valid.h"
#include <string.h>
#include "closing.h"
#include "decisions.h"
#include "writer/format/encode.h"
#include "loss.h"
#include "rolling.h"
#include "strings.h"
#include "writer/format/thread_object.h"
#include "waits.h"

#define FIRST_BYTES         UINT64_C(1024)
#define LARGE_BYTES         (UINT64_C(256) << 10)
#define MANAGER_PATIENCE_NS UINT64_C(1000000000)
#define WAIT_NS             UINT64_C(50000000)

/* Room for the slices that explain what came before a new chunk, and for the records it
 * begins with. */
#define SLICE_WORDS   10
#define EXPLAIN_WORDS (3 * SLICE_WORDS)
#define THREAD_WORDS  16
#define LATE_WORDS    ((FXT_ALLOCATION_BYTES + 8) / 8)

/* ---- writing under the lock ---- */

/* Lets `put` write a record behind those of the thread, and takes the newest frame off the
 * shadow stack if the record is that frame's. False: it does not fit below the limit, which
 * is 0 once a closer took the chunk. */
static bool chunk_put_by(struct fxt_engine *e, struct fxt_thread_writer *writer, fxt_chunk_putter *put,
        const void *record, uint64_t words, bool is_frame)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t *position = fxt_chunk_position(slot);
	const struct fxt_frame *newest = (const struct fxt_frame *)(uintptr_t)slot->top - 1;

	if ((uint64_t)(uintptr_t)position + words * 8 > load_relaxed(&writer->limit))
		return false;
	put(position, words, record);
	writer->other_bytes +=
	        words * 8 - (is_frame && fxt_is_counted(newest->function) ? FXT_CALL_BYTES : 0);
	fxt_chunk_commit(slot, position, words);
	if (is_frame)
		store_release(&slot->top, (uint64_t)(uintptr_t)newest);
	return true;
}

static void chunk_copy(uint64_t *position, uint64_t words, const void *record)
{
	memcpy(position, record, words * 8);
}

static bool chunk_put(struct fxt_engine *e, struct fxt_thread_writer *writer, const uint64_t *record,
        uint64_t words, bool is_frame)
{
	return chunk_put_by(e, writer, chunk_copy, record, words, is_frame);
}

bool fxt_chunk_write_by(struct fxt_engine *e, struct fxt_thread_writer *writer, fxt_chunk_putter *put,
        const void *context, uint64_t words, bool is_frame)
{
	while (!fxt_chunk_is_dropping(e, writer)) {
		uint64_t mask = fxt_engine_lock(e);
		bool is_written = chunk_put_by(e, writer, put, context, words, is_frame);

		fxt_engine_unlock(e, mask);
		if (is_written)
			return true;
		if (!fxt_chunk_reserve(e, writer, words))
			break;
	}
	return false;
}

bool fxt_chunk_try_write(struct fxt_engine *e, struct fxt_thread_writer *writer, const uint64_t *record,
        uint64_t words, bool is_frame)
{
	uint64_t mask = fxt_engine_lock(e);
	bool written = chunk_put(e, writer, record, words, is_frame);

	fxt_engine_unlock(e, mask);
	return written;
}

bool fxt_chunk_write(
        struct fxt_engine *e, struct fxt_thread_writer *writer, const uint64_t *record, uint64_t words)
{
	while (!fxt_chunk_is_dropping(e, writer)) {
		if (fxt_chunk_try_write(e, writer, record, words, false))
			return true;
		if (!fxt_chunk_reserve(e, writer, words))
			break;
	}
	return false;
}

/* ---- slices that explain a wait or a loss, with the lock held ---- */

/* Writes a slice of the tracer's own. It fits: fxt_chunk_reserve() asked for EXPLAIN_WORDS
 * more than its caller needs. */
static void chunk_put_slice(struct fxt_engine *e, struct fxt_thread_writer *writer, struct fxt_string name,
        uint64_t start, uint64_t end, const struct fxt_argument *argument)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t record[SLICE_WORDS];

	FXT_ASSERT_LOCKED(e);
	chunk_put(e, writer, record,
	        fxt_put_event(record, SLICE_WORDS, FXT_EVENT_DURATION_COMPLETE,
	                fxt_thread_index(slot->thread_index), fxt_string_index(FXT_KNOWN_FXT), name, start,
	                argument, argument != NULL, end),
	        false);
}

static void chunk_put_loss(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t records,
        uint64_t start, uint64_t end)
{
	char text[FXT_LOSS_NAME_BYTES];
	struct fxt_argument argument = fxt_argument_uint64(fxt_string_index(FXT_KNOWN_RECORDS), records);

	chunk_put_slice(e, writer, fxt_string_inline(text, fxt_loss_name(text, records, FXT_LOSS_LOST)),
	        start, end, &argument);
}

/*
 * Shows the wait and the losses that came before the room just found. The call that is to
 * be written there has its end already. Therefore a loss ends with the last record that was
 * lost, and not at `last`, which a handler may have moved beyond that end. A wait began
 * after the call's end, and is no part of that call.
 */
static void chunk_explain_gap(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t wait_start)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t nested = load_relaxed(&slot->nested_lost) - slot->nested_shown;

	FXT_ASSERT_LOCKED(e);
	if (slot->gap_lost) {
		const struct fxt_frame *frames = fxt_slot_frames(e, slot);
		uint64_t open = (slot->top - (uint64_t)(uintptr_t)frames) / sizeof(*frames);
		uint64_t end = fxt_loss_end(frames, open, slot->gap_start, writer->gap_end);

		if (writer->slice_start > slot->gap_start && writer->slice_start <= end)
			end = writer->slice_start - 1;
		chunk_put_loss(e, writer, slot->gap_lost, slot->gap_start, end);
		store_relaxed(&slot->gap_lost, 0);
		store_relaxed(&slot->gap_start, 0);
	}
	if (nested) {
		/* The handlers that made these calls ran inside hooks, when nothing of the
		 * thread could be written. The loss is shown as a moment, now. */
		writer->last += e->step;
		store_relaxed(&slot->nested_shown, slot->nested_shown + nested);
		chunk_put_loss(e, writer, nested, writer->last, writer->last);
	}
	if (wait_start) {
		uint64_t start = fxt_later(wait_start, writer->last + e->step);

		store_relaxed(&writer->last, fxt_later(fxt_clock_ticks(e->clock), start));
		e->control->waited_ticks += writer->last - start;
		chunk_put_slice(e, writer, fxt_string_index(FXT_KNOWN_WAITED), start, writer->last, NULL);
	}
}

/* ---- taking, with the lock held ---- */

/* Makes a chunk just given out the thread's own. A record that a stalled thread committed
 * after its chunk was closed becomes the first record in it. */
static void chunk_open(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t chunk)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t position = chunk + sizeof(struct fxt_chunk_header);
	uint64_t end = chunk + ((struct fxt_chunk_header *)(uintptr_t)chunk)->size;

	FXT_ASSERT_LOCKED(e);
	writer->other_bytes = 0;
	if (slot->thread_index == FXT_THREAD_LOCAL_INDEX) {
		uint64_t *words = (uint64_t *)(uintptr_t)position;
		uint64_t count = fxt_put_thread(
		        words, THREAD_WORDS, FXT_THREAD_LOCAL_INDEX, e->process_koid, slot->koid);

		count += fxt_thread_object(
		        slot->koid, slot->name, e->process_koid, words + count, THREAD_WORDS - count);
		writer->other_bytes = count * 8;
		position += count * 8;
	}
	if (writer->state == FXT_WRITER_STALLED) {
		position += fxt_close_move_late_record(e, writer, position);
		e->stalled--;
	}
	writer->state = FXT_WRITER_OPEN;
	store_relaxed(&writer->chunk, chunk);
	writer->local_strings = 0;
	writer->chunk_serial++;
	FXT_FAIL_POINT("open: moved");
	/* One store gives the chunk its first records, and removes the late one from its
	 * old place. */
	store_release(&slot->committed, position);
	FXT_FAIL_POINT("open: committed");
	store_release(&slot->late_record, 0);
	store_relaxed(&writer->limit, end);
	if (writer->chunk_bytes < LARGE_BYTES && writer->chunk_bytes < e->layout.rolling_bytes / 16)
		writer->chunk_bytes *= 2;
}

static uint64_t chunk_least_bytes(uint64_t words)
{
	return fxt_chunk_round_up(sizeof(struct fxt_chunk_header) + (words + THREAD_WORDS + LATE_WORDS) * 8);
}

/* STOPPED: nothing is recorded any more, or not in the run that the thread is in; this says
 * nothing about the room there is. */
enum take_outcome { TAKEN, FULL, WAIT, HELD, STOPPED };

static enum take_outcome chunk_take(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t least)
{
	if (!writer->chunk_bytes)
		writer->chunk_bytes = FIRST_BYTES;
	/* Two switches: if stalled chunks leave no room in the next buffer, there may be
	 * some in the one after it. */
	for (int switches = 0;; switches++) {
		uint64_t most = writer->chunk_bytes > least ? writer->chunk_bytes : least;
		uint64_t chunk = fxt_rolling_allocate_chunk(e, writer->number, least, most);

		if (chunk) {
			fxt_close_thread(e, writer);
			chunk_open(e, writer, chunk);
			return TAKEN;
		}
		if (e->mode == FXT_ONESHOT || switches == 2)
			return FULL;
		if (!fxt_rolling_switch(e))
			return e->broken ? FULL : WAIT;
	}
}

static enum take_outcome chunk_take_locked(
        struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t words, bool heeds_hold)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t least = chunk_least_bytes(words);
	enum take_outcome outcome;

	FXT_ASSERT_LOCKED(e);
	if (FXT_SESSION_COMMAND(load_relaxed(&e->control->session_command)) == FXT_COMMAND_QUIT)
		e->broken = true;
	if (e->broken || least > e->layout.rolling_bytes)
		return FULL;
	if (e->state != FXT_ENGINE_STARTED || writer->run != e->run)
		return STOPPED;
	if (writer->state == FXT_WRITER_OPEN) {
		uint64_t end = writer->chunk + ((struct fxt_chunk_header *)(uintptr_t)writer->chunk)->size;

		/* The limit may have been lowered only to send the thread here. */
		if (slot->committed + words * 8 <= end) {
			store_relaxed(&writer->limit, end);
			return TAKEN;
		}
	}
	/* a function that is called all the time soon needs a chunk */
	fxt_decisions_carry_out(e);
	fxt_engine_change_begin(e);
	if (heeds_hold && load_relaxed(&e->control->snapshot_hold)) {
		fxt_engine_change_cancel(e);
		return HELD;
	}
	outcome = chunk_take(e, writer, least);
	fxt_engine_change_end(e);
	return outcome;
}

/*
 * Whether the manager's heartbeat has stood still for MANAGER_PATIENCE_NS: then it died or
 * is stopped, and a thread that waits for it would wait for ever. A waiting thread looks
 * every WAIT_NS. If more time than that has passed since the last look, no thread waited or
 * the whole machine stood still, which says nothing about the manager. Therefore one look
 * counts at most two such intervals.
 */
static bool chunk_manager_is_gone(struct fxt_engine *e)
{
	uint64_t now = fxt_monotonic_ns(), since = now - e->heartbeat_checked_ns;
	uint32_t beat = load_relaxed(&e->control->heartbeat);

	e->heartbeat_still_ns = beat == e->heartbeat
	                                ? e->heartbeat_still_ns + (since < 2 * WAIT_NS ? since : 2 * WAIT_NS)
	                                : 0;
	store_relaxed(&e->heartbeat, beat);
	store_relaxed(&e->heartbeat_checked_ns, now);
	return e->heartbeat_still_ns > MANAGER_PATIENCE_NS;
}

/* ---- the interface ---- */

bool fxt_chunk_reserve(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t words)
{
	uint64_t wait_start = 0, held_until = 0;

	while (!fxt_chunk_is_dropping(e, writer)) {
		/* Read before the buffers are looked at: if the manager replies in between,
		 * the count has moved and the wait below ends at once. */
		uint32_t replies = load_acquire(&e->control->to_provider.written);
		bool heeds_hold = !held_until || fxt_monotonic_ns() < held_until;
		uint64_t mask = fxt_engine_lock(e);
		enum take_outcome outcome = chunk_take_locked(e, writer, words + EXPLAIN_WORDS, heeds_hold);

		if (outcome == WAIT &&
		        (chunk_manager_is_gone(e) || e->control->on_full != FXT_ON_FULL_BLOCK ||
		                load_relaxed(&sys_confinement) != SYS_FREE))
			outcome = FULL;
		if (outcome == TAKEN) {
			chunk_explain_gap(e, writer, wait_start);
		} else if (outcome == FULL) { /* no smaller record may come before the loss is shown */
			fxt_engine_change_begin(e);
			fxt_close_thread(e, writer);
			fxt_engine_change_end(e);
		}
		if (outcome != STOPPED) {
			store_relaxed(&e->full, outcome == FULL);
			store_relaxed(&e->replies_when_full, replies);
		}
		fxt_engine_unlock(e, mask);
		if (outcome == TAKEN || outcome == FULL || outcome == STOPPED)
			return outcome == TAKEN;
		if (!wait_start)
			wait_start = fxt_clock_ticks(e->clock);
		if (outcome == WAIT) {
			sys_futex_wait(&e->control->to_provider.written, replies, WAIT_NS);
		} else {
			if (!held_until)
				held_until = fxt_monotonic_ns() + FXT_SNAPSHOT_HOLD_NS;
			sys_futex_wait(&e->control->snapshot_hold, 1, FXT_SNAPSHOT_HOLD_NS);
		}
	}
	return false;
}

void fxt_chunk_close_dead(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);

	FXT_ASSERT_LOCKED(e);
	if (writer->state == FXT_WRITER_STALLED && load_relaxed(&slot->committed) != slot->late_record) {
		uint64_t least = chunk_least_bytes(FXT_CALL_WORDS);
		uint64_t chunk = fxt_rolling_allocate_chunk(e, writer->number, least, least);

		if (chunk)
			chunk_open(e, writer, chunk);
		else
			store_relaxed(&slot->lost, slot->lost + 1);
	}
	if (writer->state == FXT_WRITER_STALLED) {
		writer->state = FXT_WRITER_NO_CHUNK;
		e->stalled--;
		store_release(&slot->committed, 0);
		store_release(&slot->late_record, 0);
		store_relaxed(&writer->chunk, 0);
	}
	fxt_close_thread(e, writer);
}
