/*
 * Chunks: a thread's own part of the current rolling buffer, which it fills without any
 * atomic read-modify-write.
 *
 * The hooks' fast path writes calls (fxt_chunk_put_call) while no lock is held; a closer
 * handles a thread inside it (closing.h). Every other record is written under the lock.
 * Either way a record counts once slot.committed covers it, and a call's frame leaves the
 * shadow stack before the chunk can be closed. A death in between leaves both the frame and
 * the record. A collector recognizes this case: the record is the last one in an open
 * chunk.
 */
#ifndef FXT_WRITER_CHUNK_H
#define FXT_WRITER_CHUNK_H

#include "engine.h"
#include "writer/shared/failpoint.h"
#include "writer/format/format.h"

/* The most that the agent writes in one piece without a lock: the object and the instant of
 * an allocation, or an event of the program's own. A size of 4 GiB takes 8 bytes more. */
#define FXT_ALLOCATION_BYTES UINT64_C(72)

static inline struct fxt_thread_slot *fxt_slot(const struct fxt_engine *e, uint32_t number)
{
	return fxt_control_slot(e->control, number);
}

/* The open calls of a slot, oldest first. */
static inline struct fxt_frame *fxt_slot_frames(
        const struct fxt_engine *e, const struct fxt_thread_slot *slot)
{
	/* behind the sentinel */
	return (struct fxt_frame *)((uint8_t *)e->control + slot->stack_offset) + 1;
}

/* The place of the thread's next record. Valid only while `limit` leaves room for it. */
static inline uint64_t *fxt_chunk_position(const struct fxt_thread_slot *slot)
{
	return (uint64_t *)(uintptr_t)load_relaxed(&slot->committed);
}

/* Publishes a record of `words` words at the position. Release: its bytes are stored before
 * the length that covers them. Pairs with the acquire of a collector, in either process. */
static inline void fxt_chunk_commit(struct fxt_thread_slot *slot, const uint64_t *position, uint64_t words)
{
	FXT_FAIL_POINT("commit: written");
	store_release(&slot->committed, (uint64_t)(uintptr_t)(position + words));
	FXT_FAIL_POINT("commit: committed");
}

/*
 * The fast path's record of a call, in two steps. The thread is WRITING from before the
 * first until the call's frame is off the shadow stack. True: `position` is where the
 * record goes. False: the chunk has no room, or was closed, and the caller takes the slow
 * path.
 */
static inline bool fxt_chunk_has_room(
        const struct fxt_thread_writer *writer, const struct fxt_thread_slot *slot, uint64_t **position)
{
	uint64_t at = load_relaxed(&slot->committed);

	*position = (uint64_t *)(uintptr_t)at;
	FXT_FAIL_POINT("call: position");
	if (unlikely(at + FXT_CALL_BYTES > load_foldable(&writer->limit)))
		return false;
	FXT_FAIL_POINT("call: limit");
	return true;
}

/* `ref` is the function's reference of the function table; its index is durable. */
static inline void fxt_chunk_put_call(const struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        uint64_t *position, uint64_t ref, uint64_t start, uint64_t end)
{
	/* the index is in the reference's lowest bits, and in the header's highest */
	position[0] = writer->header | ref << 48;
	position[1] = start;
	position[2] = end;
	fxt_chunk_commit(slot, position, FXT_CALL_WORDS);
}

/*
 * Gives the calling thread room for a record of `words` words. May close and switch buffers
 * and, in streaming mode with --on-full=block, wait for the manager. Also shows the losses
 * and the wait that came before as slices. False: there is no room; the record is lost, and
 * the caller counts it by fxt_chunk_count_lost(). SLOW_PATH, without the lock.
 */
bool fxt_chunk_reserve(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t words);

/*
 * Copies a record of `words` words into the thread's open chunk. A record of the newest
 * frame, a call's or a wait's (`is_frame`), also takes the frame off the shadow stack.
 * False: there is no room, or a closer has taken the chunk. SLOW_PATH, without the lock.
 */
bool fxt_chunk_try_write(struct fxt_engine *e, struct fxt_thread_writer *writer, const uint64_t *record,
        uint64_t words, bool is_frame);

/* The same for a record without a frame, taking new chunks until it is written. False: it
 * is lost, and not counted. */
bool fxt_chunk_write(
        struct fxt_engine *e, struct fxt_thread_writer *writer, const uint64_t *record, uint64_t words);

/* Writes a record of exactly `words` words at the position. */
typedef void fxt_chunk_putter(uint64_t *position, uint64_t words, const void *context);

/*
 * The same for a record that `put` writes straight into the chunk, with the lock held. A
 * large record then needs no copy on the program's stack, which may be small. `is_frame` is
 * as above.
 */
bool fxt_chunk_write_by(struct fxt_engine *e, struct fxt_thread_writer *writer, fxt_chunk_putter *put,
        const void *context, uint64_t words, bool is_frame);

/*
 * Without the lock: whether the thread's next record is certainly lost, because records are
 * being dropped, the thread has no open chunk, and nothing has changed on the manager's
 * side since the last look. A call that ends while this holds only has to be counted.
 */
static inline bool fxt_chunk_is_dropping(const struct fxt_engine *e, const struct fxt_thread_writer *writer)
{
	return load_relaxed(&e->full) && !load_relaxed(&writer->chunk) &&
	       (e->mode == FXT_ONESHOT ||
	               (load_relaxed(&e->control->to_provider.written) ==
	                               load_relaxed(&e->replies_when_full) &&
	                       load_relaxed(&e->control->heartbeat) == load_relaxed(&e->heartbeat)));
}

/* Counts records of that writer and its slot that could not be written. `ticks` is the time
 * of the last of them; it may be the time that record began, unless the record is the first
 * of its gap. */
static inline void fxt_chunk_count_lost(const struct fxt_engine *e, struct fxt_thread_writer *writer,
        struct fxt_thread_slot *slot, uint64_t records, uint64_t ticks)
{
	store_relaxed(&writer->last, fxt_later(ticks, writer->last + (slot->gap_start ? 0 : e->step)));
	if (!slot->gap_start)
		store_relaxed(&slot->gap_start, writer->last);
	writer->gap_end = writer->last;
	store_relaxed(&slot->lost, slot->lost + records);
	store_relaxed(&slot->gap_lost, slot->gap_lost + records);
}

/* With the lock held: ends the chunk of a thread that is dead. */
void fxt_chunk_close_dead(struct fxt_engine *e, struct fxt_thread_writer *writer);

#endif
