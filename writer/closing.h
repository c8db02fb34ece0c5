/*
 * Closing: taking chunks away from the threads that write to them.
 *
 * With the lock held: limit = 0 in every block that has a chunk; membarrier, after which a thread either sees
 * limit 0 or is seen to be WRITING; wait for those, 10 ms at most. A thread still writing then is stalled:
 * what it committed is saved, its bytes are not given out again before it has left, and the one call it may
 * commit later is moved into its next chunk. So closing always ends, and no byte is handed over or reused
 * under a writer.
 *
 * Only the hooks' fast path writes without the lock (fxt_chunk_put_call), calls and the heap's records. So
 * what a stalled thread commits late is one such write, complete in itself.
 */
#ifndef FXT_WRITER_CLOSING_H
#define FXT_WRITER_CLOSING_H

#include "engine.h"

/* With the lock held: ends the open chunk of a thread that is not WRITING: the caller, a quiet one, a dead
 * one. */
void fxt_close_thread(struct fxt_engine *e, struct fxt_block *block);

/* With the lock held: closes all chunks of the current rolling buffer and publishes the count of lost
 * records. */
void fxt_close_all(struct fxt_engine *e);

/* With the lock held, after a change of the blocks that threads look at once they are WRITING: waits for
 * those that were by then, 10 ms at most, whether they have a chunk or not. */
void fxt_close_await_writers(struct fxt_engine *e);

/* With the lock held: copies the record that a stalled thread committed after its chunk was closed to
 * `position`, in its next chunk. Returns its size in bytes; 0: the thread committed none. The caller then
 * publishes the new position and marks the thread as no longer stalled. */
uint64_t fxt_close_move_late_record(struct fxt_engine *e, const struct fxt_block *block, uint64_t position);

/* With the lock held, before the buffer is laid out anew: no chunk is a stalled thread's any more. False: one
 * is still in the midst of its write. What others have committed late is dropped. */
bool fxt_close_forget_stalled(struct fxt_engine *e);

/* With the lock held: ends the open durable chunk of a oneshot buffer, if there is one. */
void fxt_close_durable(struct fxt_engine *e);

#endif
