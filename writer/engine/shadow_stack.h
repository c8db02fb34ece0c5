/*
 * Room for a thread's shadow stack, in the control memory: the calls it has begun and not
 * ended. The hooks push and pop by themselves, up to fxt_block.top_limit.
 */
#ifndef FXT_WRITER_SHADOW_STACK_H
#define FXT_WRITER_SHADOW_STACK_H

#include "engine.h"

/* Gives the slot the `bytes` at `offset` of the control memory for its shadow stack, and
 * writes the sentinel. */
void fxt_stack_set(struct fxt_engine *e, struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        uint64_t offset, uint64_t bytes);

/* The end of the stack's frames. top_limit has this address too, unless it is 0. */
uint64_t fxt_stack_end(const struct fxt_engine *e, const struct fxt_thread_writer *writer);

/* Lets the fast path push frames again, after top_limit was set to 0 to send the thread to
 * the slow path. Called by the thread itself. */
void fxt_stack_restore_limit(struct fxt_engine *e, struct fxt_thread_writer *writer);

/*
 * The shadow stack is full: moves it to a large one if there is one left. SLOW_PATH,
 * without the lock. False: there is none; deeper calls are lost.
 */
bool fxt_stack_grow(struct fxt_engine *e, struct fxt_thread_writer *writer);

/*
 * To be called when the oneshot buffer is full and the newest call ends, at `end`. That
 * call and those around it stay on the shadow stack, for a collector to record them as
 * ended at that time. From now on a mark lies above them, a frame that is no function and
 * began at `end`, so that to all others the stack is empty. It gets no more frames: calls
 * are counted as they begin. SLOW_PATH.
 */
void fxt_stack_keep(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t end);

#endif
