/*
 * The rolling buffers: giving out chunks of the current one, switching to the other, and
 * handing a full one to the manager.
 *
 *   current  |h|records....|free|h|records......|free|            | <- rolling_used = rolling_data_end
 *             ^chunk        ^     ^
 *                           |     slot B.committed
 *                           slot A.committed
 *
 * All of this with the engine's lock held.
 */
#ifndef FXT_WRITER_ROLLING_H
#define FXT_WRITER_ROLLING_H

#include "engine.h"

/* of all chunks, so that a gap between two always holds a chunk header */
#define FXT_CHUNK_GRANULE UINT64_C(16)

static inline uint64_t fxt_chunk_round_up(uint64_t bytes)
{
	return (bytes + FXT_CHUNK_GRANULE - 1) & ~(FXT_CHUNK_GRANULE - 1);
}

/* Gives out a chunk of at least `least` and at most `most` bytes (both with header, both
 * whole granules), or 0: the buffer is full. Its header is complete; its records count only
 * as far as its slot says. */
uint64_t fxt_rolling_allocate_chunk(struct fxt_engine *e, uint32_t slot, uint64_t least, uint64_t most);

/*
 * Closes the current buffer and makes the other the current one. Circular: its old content
 * is dropped. Streaming: the closed one is handed to the manager. False: the other one is
 * not saved yet (streaming), or there is no other (oneshot).
 */
bool fxt_rolling_switch(struct fxt_engine *e);

/* Streaming: takes the manager's replies out of their ring. True if no buffer waits to be
 * saved. A reply that breaks the protocol makes the engine `broken`. */
bool fxt_rolling_is_saved(struct fxt_engine *e);

/* Empties both buffers; no thread may have an open chunk. */
void fxt_rolling_clear(struct fxt_engine *e);

/* Oneshot: the first returns room for a durable record in a chunk of its own kind, or NULL;
 * the second publishes the record. */
uint64_t *fxt_rolling_durable_reserve(struct fxt_engine *e, uint64_t words);
void fxt_rolling_durable_commit(struct fxt_engine *e, const uint64_t *position, uint64_t words);

#endif
