/*
 * Threads: slots in the control memory, and their names in the trace. A thread attaches
 * when it is born, or at its first call if it was born unseen. Its slot is taken back once it is found dead,
 * not when it ends: so its last destructors can still record.
 */
#ifndef FXT_WRITER_THREADS_H
#define FXT_WRITER_THREADS_H

#include "engine.h"

/*
 * A slot for the calling thread, whose name is the kernel's (comm). NULL: all FXT_SLOTS are in use, or
 * recording has not started. Without the lock.
 */
struct fxt_block *fxt_thread_attach(struct fxt_engine *e);

/*
 * A second slot, with a shadow stack and chunks of its own, for the thread of slot `first`: what a signal
 * handler calls that interrupted one of the thread's hooks is recorded there, in the same row of the trace.
 * It is given back with the thread. NULL and lock as above.
 */
struct fxt_block *fxt_thread_attach_nested(struct fxt_engine *e, uint32_t first);

/*
 * A slot for a coroutine that was first seen on the thread of slot `first`: a row of the trace of its own,
 * with that name. Any thread may come to run it, one at a time, so it is never given back. NULL and lock as
 * above.
 */
struct fxt_block *fxt_thread_attach_coroutine(struct fxt_engine *e, uint32_t first, const char *name);

enum fxt_thread_status {
	FXT_THREAD_CURRENT, /* nothing has happened */
	FXT_THREAD_STOPPED, /* nothing is recorded; the thread stays as it is */
	FXT_THREAD_RESUMED, /* its open calls are of an earlier run: they ended, unseen, after
	                       e->stopped_ticks */
	FXT_THREAD_RENEWED, /* cleared meanwhile: it has no open calls, and is registered anew if need be */
};

/*
 * What became of recording since the thread was here last; afterwards it is current, unless STOPPED. The
 * first thing on the slow path: limits are 0 after each of these. SLOW_PATH, without the lock.
 */
enum fxt_thread_status fxt_thread_check(struct fxt_engine *e, struct fxt_block *block);

/*
 * Gives the thread of a block a row for the events of its heap (thread_object.h): registers it, and has
 * block->heap_row name it in the headers of such events. Where the table has no room for more than threads,
 * or the durable buffer is full, that is the thread itself. By the thread, without the lock.
 */
void fxt_thread_take_heap_row(struct fxt_engine *e, struct fxt_block *block);

/*
 * The name of the thread of block `number` changed: writes a kernel-object record with the new one, into the
 * durable buffer or, if that is full, into a chunk of the calling thread (`self`; may be NULL). Without the
 * lock.
 */
void fxt_thread_rename(struct fxt_engine *e, struct fxt_block *self, uint32_t number, const char *name);

#endif
