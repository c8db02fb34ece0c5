/*
 * Writing of an allocation and a free. The fast path is inline, in malloc() and free()
 * themselves. It covers FXT_HEAP_OBJECTS, times by the counter, a thread that is in no
 * hook, and a function with a known path. All other cases take the slow path in
 * heap_record.c, which has the same result in any situation.
 */
#ifndef FXT_AGENT_HEAP_RECORD_H
#define FXT_AGENT_HEAP_RECORD_H

#include "callpath.h"
#include "agent/hook/frames.h"
#include "agent/interpose/lock_lives.h"
#include "heap_state.h"
#include "writer/format/format.h"
#include "writer/engine/heap.h"

/* Header, time, pointer's header and value. */
#define AGENT_FREE_WORDS 4
/* The block's object: header, pointer, size, path's header and value. */
#define AGENT_OBJECT_WORDS 5
/* The object and an instant; one more for a size of 4 GiB or more. */
#define AGENT_ALLOCATION_WORDS (AGENT_OBJECT_WORDS + AGENT_FREE_WORDS)

static inline uint64_t agent_argument_header(enum fxt_argument_type type, uint64_t words, uint16_t name)
{
	return type | words << 4 | (uint64_t)name << 16;
}

/* A time for an instant, later than every call's start. A collector would otherwise take a
 * record with the start time of an open call for the record of that call
 * (fxt_is_last_record). */
static inline uint64_t agent_instant_ticks(const struct fxt_thread_writer *writer, uint64_t now)
{
	return now > writer->last ? now : writer->last + 1;
}

/* True if there is room for a record of `words` words; its place then goes to *position. In
 * either case the writer is WRITING from before the limit is read until the caller changes
 * that, so that a closer waits for the record. */
static inline bool agent_begin_write(struct fxt_thread_writer *writer, const struct fxt_thread_slot *slot,
        uint64_t words, uint64_t **position)
{
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	*position = fxt_chunk_position(slot);
	return likely((uint64_t)(uintptr_t)*position + words * 8 <= load_foldable(&writer->limit));
}

static inline void agent_end_write(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const uint64_t *position, uint64_t words)
{
	fxt_chunk_commit(slot, position, words);
	/* Counted after the commit, so that it never exceeds the committed bytes: a closer
	 * takes the difference for calls. */
	writer->other_bytes += words * 8;
}

static inline void agent_put_instant(uint64_t *at, uint64_t header, const struct fxt_thread_writer *writer,
        uint64_t ticks, const void *pointer)
{
	at[0] = header | writer->heap_track;
	at[1] = ticks;
	at[2] = agent_heap.pointer_argument;
	at[3] = (uint64_t)(uintptr_t)pointer;
}

/*
 * Writes the object of a block, and the instant of its allocation directly behind it: a
 * collector never takes the one without the other, so readers find them side by side. The
 * object's process is that of the heap track. `name`: index of the function's name, 0 = not
 * known. `is_huge`: the size takes a word of its own.
 */
static inline __attribute__((always_inline)) bool agent_write_allocation_of(struct fxt_thread_writer *writer,
        struct fxt_thread_slot *slot, const void *pointer, size_t size, uint64_t path, uint64_t name,
        enum fxt_clock_kind clock, bool is_huge)
{
	const uint64_t words = AGENT_ALLOCATION_WORDS + is_huge;
	uint64_t *position, *at;

	if (unlikely(!agent_begin_write(writer, slot, words, &position)))
		return false;
	at = position;
	*at++ = (agent_heap.object_header + ((uint64_t)is_huge << 4)) | writer->heap_track >> 8 | name << 24;
	*at++ = (uint64_t)(uintptr_t)pointer;
	if (is_huge) {
		*at++ = agent_argument_header(FXT_ARGUMENT_UINT64, 2, agent_heap.size_name);
		*at++ = size;
	} else {
		*at++ = agent_heap.size_argument | (uint64_t)size << 32;
	}
	*at++ = agent_heap.path_argument;
	*at++ = fxt_heap_path_of_number(path);
	agent_put_instant(at, agent_heap.allocate_header, writer,
	        agent_instant_ticks(writer, fxt_clock_ticks(clock)), pointer);
	agent_end_write(writer, slot, position, words);
	return true;
}

static inline bool agent_write_allocation(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const void *pointer, size_t size, uint64_t path, uint64_t name, enum fxt_clock_kind clock)
{
	return agent_write_allocation_of(writer, slot, pointer, size, path, name, clock, false);
}

static inline bool agent_write_free(
        struct fxt_thread_writer *writer, struct fxt_thread_slot *slot, const void *pointer, uint64_t ticks)
{
	uint64_t *position;

	if (unlikely(!agent_begin_write(writer, slot, AGENT_FREE_WORDS, &position)))
		return false;
	agent_put_instant(position, agent_heap.free_header, writer, ticks, pointer);
	agent_end_write(writer, slot, position, AGENT_FREE_WORDS);
	return true;
}

/* Adds to the live sums of the thread. The thread is busy, so nothing else writes them, and
 * no atomic addition is needed. */
static inline void agent_count(const struct fxt_thread_writer *writer, int64_t bytes, int64_t objects)
{
	struct fxt_heap_sum *sum = fxt_heap_sum(agent_engine.control, writer->number);

	add_foldable(&sum->bytes, bytes);
	add_foldable(&sum->objects, objects);
}

static inline void agent_heap_leave(struct fxt_thread_writer *writer)
{
	store_release(&writer->busy, FXT_IDLE);
}

/* ---- the slow path ---- */

/* A call from `caller` that asked for `size` allocated the block of `usable` bytes. Returns
 * the block. errno is kept. */
void *agent_heap_allocated(void *writer, size_t size, size_t usable, const void *caller);

/* The block of `usable` bytes is about to be freed, or was freed; `ticks` is a time before
 * that. errno is kept. */
void agent_heap_freed(void *writer, size_t usable, uint64_t ticks);

/* The same while nothing is recorded, which needs no time. False: recording is on. */
bool agent_heap_freed_while_stopped(size_t usable);

/* ---- the fast path ---- */

/* The block has `usable` bytes. False: the slow path must do it all, because nothing has
 * been done yet. errno is kept. */
static inline __attribute__((always_inline)) bool agent_try_allocated(
        const void *pointer, size_t size, size_t usable)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	if (unlikely(
	            !writer || size >> 32 || load_foldable(&writer->busy) != FXT_IDLE || !writer->heap_track))
		return false;
	struct fxt_thread_slot *slot = agent_self.slot;
	struct agent_heap_thread *thread = &agent_heap_threads[writer->number];
	const struct fxt_frame *frame = slot_top(slot) - 1;
	const struct agent_kept_path *kept = agent_path_place(thread, frame);

	if (unlikely(kept->start != frame->start || !kept->name ||
	             thread->generation != agent_paths_generation()))
		return false;
	if (unlikely(!agent_write_allocation(
	            writer, slot, pointer, size, kept->path, kept->name, FXT_CLOCK_COUNTER))) {
		agent_heap_leave(writer);
		return false;
	}
	agent_count(writer, (int64_t)usable, 1);
	agent_heap_leave(writer);
	return true;
}

/* The same for a block that is about to be freed; `ticks` is a time before that. */
static inline __attribute__((always_inline)) bool agent_try_freed(
        void *pointer, size_t usable, uint64_t ticks)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	agent_locks_freed(pointer, usable);
	if (unlikely(!writer || load_foldable(&writer->busy) != FXT_IDLE || !writer->heap_track))
		return false;
	if (unlikely(!agent_write_free(writer, agent_self.slot, pointer, ticks))) {
		agent_heap_leave(writer);
		return false;
	}
	agent_count(writer, -(int64_t)usable, -1);
	agent_heap_leave(writer);
	return true;
}

#endif
