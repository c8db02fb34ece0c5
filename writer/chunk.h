/*
 * Chunks: a thread's own part of the current rolling buffer. The owner writes records without any atomic
 * read-modify-write; whoever closes the buffer takes the chunks away.
 *
 *   rolling buffer  |h|records....|free|h|records......|free|          | <- rolling_used = rolling_data_end
 *                    ^chunk        ^     ^
 *                                  |     slot B
 *                                  slot A.committed
 *
 * Closing, with the lock held: limit = 0 in every block that has a chunk here; membarrier, after which a
 * thread either sees limit 0 or is seen to be WRITING; wait for those, 10 ms at most. A thread still writing
 * then is parked: what it committed is saved, its bytes are not given out again before it has left, and the
 * record it commits later is moved into its next chunk. So closing always ends, and no byte is handed over or
 * reused under a writer.
 */
#ifndef FXT_WRITER_CHUNK_H
#define FXT_WRITER_CHUNK_H

#include "engine.h"

/*
 * Gives the calling thread room for a record of `words` words. Called OUT_OF_LINE, without the lock; may
 * close and switch buffers and, in streaming mode with on-full=block, wait for the manager. Also shows the
 * losses and the wait that came before as slices. False: there is no room; the record is lost and is to be
 * counted by fxt_chunk_lose().
 */
bool fxt_chunk_take(struct fxt_engine *e, struct fxt_block *block, uint64_t words);

/* Where the thread's next record goes. Only while `limit` leaves room for it. */
static inline uint64_t *fxt_chunk_position(const struct fxt_thread_slot *slot)
{
	return (uint64_t *)(uintptr_t)load_relaxed(&slot->committed);
}

/* Publishes a record of `words` words at the position. Release: its bytes come before the length that covers
 * them. Pairs with the acquire of a collector, in whatever process. */
static inline void fxt_chunk_commit(struct fxt_thread_slot *slot, const uint64_t *position, uint64_t words)
{
	store_release(&slot->committed, (uint64_t)(uintptr_t)(position + words));
}

/*
 * Copies a record of `words` words into the thread's open chunk. `calls` is 1 if it is a call's, else 0.
 * False: there is no room, or a closer took the chunk meanwhile. OUT_OF_LINE, without the lock.
 */
bool fxt_chunk_try_write(struct fxt_block *block, struct fxt_thread_slot *slot, const uint64_t *record,
        uint64_t words, uint64_t calls);

/* The same, taking new chunks until it is written. False: it is lost, and not counted. */
bool fxt_chunk_write(struct fxt_engine *e, struct fxt_block *block, const uint64_t *record, uint64_t words);

/* Counts records that could not be written, the first of them at `ticks`. */
void fxt_chunk_lose(struct fxt_engine *e, struct fxt_block *block, uint64_t records, uint64_t ticks);

/* The name of a loss, "fxt: N records lost"; returns its length in bytes. */
size_t fxt_loss_name(char text[48], uint64_t records);

/*
 * Where a loss that began at gap_start may end so that its slice overlaps no other partially: before the
 * first of the open calls, oldest first, that began inside it, else now.
 */
uint64_t fxt_loss_end(const struct fxt_frame *frames, uint64_t count, uint64_t gap_start, uint64_t now);

/* With the lock held: ends the thread's open chunk, so that its bytes are settled. */
void fxt_chunk_retire(struct fxt_engine *e, struct fxt_block *block);

/* With the lock held: closes all chunks of the current rolling buffer. */
void fxt_chunk_close_all(struct fxt_engine *e);

/* With the lock held, oneshot mode: room for a durable record in a chunk of its own kind, or NULL. To be
 * followed by fxt_chunk_durable_commit(). */
uint64_t *fxt_chunk_durable_reserve(struct fxt_engine *e, uint64_t words);
void fxt_chunk_durable_commit(struct fxt_engine *e, const uint64_t *position, uint64_t words);

static inline struct fxt_thread_slot *fxt_slot(const struct fxt_engine *e, uint32_t number)
{
	return (struct fxt_thread_slot *)((uint8_t *)e->control + FXT_SLOTS_OFFSET) + number;
}

/* The open calls of a slot, oldest first. */
static inline struct fxt_frame *fxt_slot_frames(
        const struct fxt_engine *e, const struct fxt_thread_slot *slot)
{
	return (struct fxt_frame *)((uint8_t *)e->control + slot->stack_offset) + 1; /* behind the sentinel */
}

#endif
