/*
 * Closing: taking chunks away from the threads that write to them.
 *
 * A closer does it in three steps, with the lock held. It sets limit = 0 in every writer
 * that has a chunk. It executes membarrier, after which a thread either sees limit 0 or is
 * seen to be WRITING. It waits for the WRITING threads, 10 ms at most. A thread still
 * writing then is stalled. The records it committed are saved, its bytes are not given out
 * again before it has left, and the one call it may commit later is moved into its next
 * chunk. Therefore closing always ends, and no byte is handed over or reused while a thread
 * may write to it.
 *
 * Only the hooks' fast path writes without the lock (fxt_chunk_put_call): calls and the
 * heap's records. A late commit of a stalled thread is therefore one such write, complete
 * in itself.
 */
#ifndef FXT_WRITER_CLOSING_H
#define FXT_WRITER_CLOSING_H

#include "engine.h"

/* With the lock held: ends the open chunk of a thread that is not WRITING: the caller, a
 * quiet thread, or a dead one. */
void fxt_close_thread(struct fxt_engine *e, struct fxt_thread_writer *writer);

/* With the lock held: closes all chunks of the current rolling buffer and publishes the
 * count of lost records. */
void fxt_close_all(struct fxt_engine *e);

/* With the lock held, after a change of the writers that threads look at once they are
 * WRITING: waits for the threads that were WRITING at that time, with or without a chunk,
 * 10 ms at most. */
void fxt_close_await_writers(struct fxt_engine *e);

/* With the lock held: copies the record that a stalled thread committed after its chunk was
 * closed to `position`, in its next chunk. Returns its size in bytes; 0: the thread
 * committed none. The caller then publishes the new position and marks the thread as no
 * longer stalled. */
uint64_t fxt_close_move_late_record(
        struct fxt_engine *e, const struct fxt_thread_writer *writer, uint64_t position);

/* With the lock held, before the buffer is laid out anew: takes all chunks from stalled
 * threads, and drops their late records. False: one of them is still in the middle of its
 * write. */
bool fxt_close_forget_stalled(struct fxt_engine *e);

/* With the lock held: ends the open durable chunk of a oneshot buffer, if there is one. */
void fxt_close_durable(struct fxt_engine *e);

#endif
