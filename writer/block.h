/*
 * The private block of a thread: what the process itself keeps of the thread beside its slot (slot.h). Blocks
 * lie in memory that the kernel wipes in a forked child (MADV_WIPEONFORK): the child finds both limits 0, and
 * so takes the slow path before it writes to memory that is its parent's.
 */
#ifndef FXT_WRITER_BLOCK_H
#define FXT_WRITER_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Whether the thread is inside a hook. Stored by the thread itself; read by whoever closes a buffer. */
enum fxt_busy {
	FXT_IDLE = 0,
	FXT_WRITING = 1,   /* may write to its chunk: a closer waits for it */
	FXT_SLOW_PATH = 2, /* inside a hook, but not touching its chunk */
};

/*
 * What a thread has of the rolling buffers. Changed with the engine's lock held.
 *
 *                 fxt_chunk_reserve                    fxt_close_all, while the thread is WRITING
 *   NO_CHUNK -----------------------------> OPEN ------------------------------------------> STALLED
 *     ^  ^    fxt_close_thread, _close_all   |  ^      fxt_chunk_reserve: it is out again      |
 *     |  +-----------------------------------+  +----------------------------------------------+
 *     +------- fxt_chunk_close_dead: it died; fxt_thread_check: it is renewed -----------------+
 */
enum fxt_block_state {
	FXT_BLOCK_NO_CHUNK =
	        0,          /* `chunk` and slot.committed are 0; so are all fields of a free slot's block */
	FXT_BLOCK_OPEN = 1, /* the thread writes to its chunk by the fast path, up to `limit` */
	FXT_BLOCK_STALLED = 2, /* the chunk was closed while the thread was inside a write (closing.h) */
};

/*
 * Written by the thread itself, except where it says otherwise. Whoever wants the thread on the slow path
 * sets `limit`, which the next exit compares with, or `top_limit`, which the next entry compares with, to 0.
 */
struct fxt_block {
	/* On the slow path only. Those that a closer uses too are accessed with the engine's lock held. */
	uint64_t chunk_bytes;               /* the size of the thread's next chunk */
	uint64_t other_bytes;               /* bytes in the open chunk that are no calls */
	uint32_t state;                     /* enum fxt_block_state */
	uint32_t local_strings;             /* how many names are registered in the open chunk */
	struct fxt_local_name *local_names; /* their table, or NULL */
	uint64_t chunk_serial;              /* grows with each chunk the thread takes */
	uint64_t pthread;                   /* the thread's pthread_t, for whom the agent renames; 0 = none */
	uint32_t next; /* 1 + the number of the next free slot, or of the thread's next slot; 0 = none */
	uint32_t generation; /* fxt_engine.generation for which the slot was set up; 0 = the slot is free */
	uint32_t run;        /* fxt_engine.run to which the thread's open calls belong */
	uint32_t heap_row;   /* the thread of its heap's events, in place in their headers; 0 = none yet
	                        (fxt_thread_take_heap_row) */

	/* All that a recorded call touches here, in one line; see fxt_stack_color() for its place. */
	uint32_t busy __attribute__((aligned(64))); /* enum fxt_busy */
	uint32_t number;                            /* of the slot */
	uint64_t limit;     /* records may reach this address: the end of the open chunk, or 0; also set by
	                       closers, with the lock held */
	uint64_t top_limit; /* frames may reach this address: the end of the shadow stack, or 0; also set to 0
	                       by fxt_engine_stop() */
	uint64_t header;    /* first word of a Duration Complete record of this thread, without its name */
	uint64_t last;      /* ticks of the thread's latest start or end; closers read it too */
	uint64_t frameless_calls; /* open calls, inside that of the newest frame, that found no room for a
	                             frame and are lost */
	uint64_t is_full; /* 1: its oneshot buffer is full, and the shadow stack is kept (fxt_stack_keep) */
	uint64_t chunk;   /* address of the header of the open, or stalled, chunk; 0 = none. Written with
	                     the lock held */
	uint64_t was_interrupted; /* 1: a handler has recorded something inside of one of the thread's hooks,
	                             and the thread has not marked the call in which that was (filter.h) */

	/* By closers, with the lock held. */
	uint64_t closed_last[2]; /* `last` when a chunk in rolling buffer 0 or 1 was closed: all in it had
	                            ended by then; 0 = none was */

	uint64_t gap_end;     /* ticks: by then all had begun that slot.gap_lost counts, and most had ended */
	uint64_t slice_start; /* ticks: when a slice of the tracer's own began that is no frame's, and is
	                         written at its end; 0 = none is open */

	uint32_t filter_in_force; /* fxt_engine.filter_in_force by which the states of its frames are */
} __attribute__((aligned(256)));
_Static_assert(sizeof(struct fxt_block) == 256 && offsetof(struct fxt_block, busy) == 64,
        "as fxt_stack_color() has it");

#endif
