/*
 * A thread's writer: the private state that the process keeps of the thread beside its slot
 * (slot.h). Writers lie in memory that the kernel wipes in a forked child
 * (MADV_WIPEONFORK). The child finds both limits 0, and so takes the slow path before it
 * writes to its parent's memory.
 */
#ifndef FXT_WRITER_THREAD_WRITER_H
#define FXT_WRITER_THREAD_WRITER_H

#include <stddef.h>
#include <stdint.h>

/* Whether the thread is inside a hook. Stored by the thread itself; read by a thread that
 * closes a buffer. */
enum fxt_busy {
	FXT_IDLE = 0,
	FXT_WRITING = 1,   /* may write to its chunk: a closer waits for it */
	FXT_SLOW_PATH = 2, /* inside a hook, but not touching its chunk */
};

/*
 * A thread's part of the rolling buffers. Changed with the engine's lock held.
 *
 *                 fxt_chunk_reserve                    fxt_close_all, while the thread is WRITING
 *   NO_CHUNK -----------------------------> OPEN ------------------------------------------> STALLED
 *     ^  ^    fxt_close_thread, _close_all   |  ^      fxt_chunk_reserve: it is out again      |
 *     |  +-----------------------------------+  +----------------------------------------------+
 *     +------- fxt_chunk_close_dead: it died; fxt_thread_check: it is renewed -----------------+
 */
enum fxt_writer_state {
	/* `chunk` and slot.committed are 0; so are all fields of a free slot's writer */
	FXT_WRITER_NO_CHUNK = 0,
	/* the thread writes to its chunk by the fast path, up to `limit` */
	FXT_WRITER_OPEN = 1,
	/* the chunk was closed while the thread was inside a write (closing.h) */
	FXT_WRITER_STALLED = 2,
};

/*
 * Fields are written by the thread itself, unless they say otherwise. To send a thread to
 * the slow path, another one sets `limit`, which the next exit compares with, or
 * `top_limit`, which the next entry compares with, to 0.
 */
struct fxt_thread_writer {
	/* Used on the slow path only. Fields that a closer uses too are accessed with the
	 * engine's lock held. */
	uint64_t chunk_bytes; /* the size of the thread's next chunk */
	/* bytes in the open chunk that belong to no call */
	uint64_t other_bytes;
	uint32_t state; /* enum fxt_writer_state */
	/* how many names are registered in the open chunk */
	uint32_t local_strings;
	struct fxt_local_name *local_names; /* their table, or NULL */
	uint64_t chunk_serial;              /* grows with each chunk the thread takes */
	/* the thread's pthread_t, which identifies it when the agent renames it; 0 =
	 * none */
	uint64_t pthread;
	/* 1 + the number of the next free slot, or of the thread's next slot; 0 = none */
	uint32_t next;
	/* the fxt_engine.generation that the slot was set up for; 0 = the slot is free */
	uint32_t generation;
	uint32_t run; /* the fxt_engine.run that the thread's open calls belong to */
	/* the thread reference of its heap's events, shifted to its place in their headers;
	 * 0 = none yet (fxt_thread_take_heap_track) */
	uint32_t heap_track;

	/* All fields here that a recorded call touches, in one cache line;
	 * fxt_stack_color() explains its place. */
	uint32_t busy __attribute__((aligned(64))); /* enum fxt_busy */
	uint32_t number;                            /* number of the slot */
	/* records may reach this address: the end of the open chunk, or 0; closers set it
	 * too, with the lock held */
	uint64_t limit;
	/* frames may reach this address: the end of the shadow stack, or 0;
	 * fxt_engine_stop() sets it to 0 too */
	uint64_t top_limit;
	/* first word of a Duration Complete record of this thread, without its name */
	uint64_t header;
	/* ticks of the thread's latest start or end; closers read it too */
	uint64_t last;
	/* open calls inside the newest frame's call that found no room for a frame and are
	 * lost */
	uint64_t frameless_calls;
	/* 1: its oneshot buffer is full, and the shadow stack is kept (fxt_stack_keep) */
	uint64_t is_full;
	/* address of the header of the open, or stalled, chunk; 0 = none. Written with the
	 * lock held */
	uint64_t chunk;
	/* 1: a handler has recorded something inside one of the thread's hooks, and the
	 * thread has not yet marked the call around that hook (filter.h) */
	uint64_t was_interrupted;

	/* Written by closers, with the lock held. */

	/* `last` when a chunk in rolling buffer 0 or 1 was closed: all calls in it had
	 * ended by then; 0 = none was closed */
	uint64_t closed_last[2];

	/* ticks by which all calls that slot.gap_lost counts had begun, and most had
	 * ended */
	uint64_t gap_end;
	/* `last` at the end of the run `run`, if a record of a later run by another writer of the
	 * track has raised `last` since (agent_raise_last); 0 = none has */
	uint64_t run_last;
	/* ticks when an open slice of the tracer's own began that has no frame and is
	 * written at its end; 0 = none is open */
	uint64_t slice_start;

	/* the value of fxt_engine.filter_in_force that the states of its frames follow */
	uint32_t filter_in_force;
	/* lowest address of the stack that the offsets of its frames count from, for other
	 * threads; 0: unknown */
	uint64_t stack_low;
} __attribute__((aligned(256)));
_Static_assert(sizeof(struct fxt_thread_writer) == 256 && offsetof(struct fxt_thread_writer, busy) == 64,
        "as fxt_stack_color() has it");

#endif
