/*
 * Threads: slots in the control memory, and their names in the trace. A thread attaches
 * when it is created, or at its first call if its creation was not seen. Its slot is taken
 * back once it is found dead, not when it ends, so that its last destructors can still
 * record.
 */
#ifndef FXT_WRITER_THREADS_H
#define FXT_WRITER_THREADS_H

#include "engine.h"

/*
 * Returns a slot for the calling thread, named after the kernel's name for it (comm). NULL:
 * all FXT_SLOTS are in use, or recording has not started. Without the lock.
 */
struct fxt_thread_writer *fxt_thread_attach(struct fxt_engine *e);

/*
 * The koid of the thread that has this number for its process, as a lock's memory names its
 * owner. A thread that was never attached has the koid that it would get. 0: it is not
 * known, because the number is of a PID namespace of the process's own. Without the lock.
 */
uint64_t fxt_koid_of_tid(const struct fxt_engine *e, uint32_t tid);

/* The same for a thread's pthread_t; 0 also if it is not attached. */
uint64_t fxt_koid_of_pthread(const struct fxt_engine *e, uint64_t handle);

/*
 * Returns a second slot, with a shadow stack and chunks of its own, for the thread of slot
 * `first`. It records the calls of a signal handler that interrupted one of the thread's
 * hooks, on the same track. It is given back with the thread. NULL and lock as above.
 */
struct fxt_thread_writer *fxt_thread_attach_nested(struct fxt_engine *e, uint32_t first);

/*
 * Returns a slot for a coroutine that was first seen on the thread of slot `first`: a track
 * of its own, with that name. Any thread may run it later, one at a time, so the slot is
 * never given back. NULL and lock as above.
 */
struct fxt_thread_writer *fxt_thread_attach_coroutine(struct fxt_engine *e, uint32_t first, const char *name);

enum fxt_thread_status {
	FXT_THREAD_CURRENT, /* nothing has happened */
	FXT_THREAD_STOPPED, /* nothing is recorded; the thread stays as it is */
	/* its open calls belong to an earlier run: they ended, unseen, after
	 * e->stopped_ticks */
	FXT_THREAD_RESUMED,
	/* cleared since then: it has no open calls, and is registered anew if need be */
	FXT_THREAD_RENEWED,
};

/*
 * Returns what happened to the recording since the thread's last check; afterwards the
 * thread is current, unless STOPPED. This is the first step on the slow path: limits are 0
 * after each of these events. SLOW_PATH, without the lock.
 */
enum fxt_thread_status fxt_thread_check(struct fxt_engine *e, struct fxt_thread_writer *writer);

/*
 * Gives the thread of a writer a heap track (thread_object.h): registers the track and
 * stores its index in writer->heap_track, for the headers of heap events. If the rest of
 * the indices is kept for threads, or the durable buffer is full, the index is that of the
 * thread itself. By the thread, without the lock.
 */
void fxt_thread_take_heap_track(struct fxt_engine *e, struct fxt_thread_writer *writer);

/*
 * To be called when the name of the thread of writer `number` changed. Writes a
 * kernel-object record with the new name into the durable buffer or, if that is full, into
 * a chunk of the calling thread (`self`; may be NULL). Without the lock.
 */
void fxt_thread_rename(
        struct fxt_engine *e, struct fxt_thread_writer *self, uint32_t number, const char *name);

#endif
