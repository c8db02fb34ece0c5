/*
 * What only the traced process itself sees of a thread: its private block, beside its slot (slot.h).
 */
#ifndef FXT_WRITER_BLOCK_H
#define FXT_WRITER_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Who is inside a hook of this thread. Stored by the thread itself; read by whoever closes a buffer. */
enum fxt_busy {
	FXT_IDLE = 0,
	FXT_WRITING = 1,   /* may write to its chunk: a closer waits for it */
	FXT_SLOW_PATH = 2, /* inside a hook, but not touching its chunk */
};

/*
 * The private block of a thread. `limit` and `top_limit` are 0 whenever there is something to be seen to,
 * which sends the next exit and entry out of line.
 */
struct fxt_block {
	/* Out of line only, by the thread itself; the lock covers what a closer reads. */
	uint64_t chunk_bytes;               /* size to ask for next time */
	uint64_t other_bytes;               /* of the open chunk: bytes that are not 24-byte calls */
	uint32_t stalled;                   /* the chunk was closed while the thread was writing to it */
	uint32_t local_strings;             /* registered in the open chunk */
	struct fxt_local_name *local_names; /* their table, or NULL */
	uint64_t chunk_serial;              /* of the thread's chunks so far */
	uint64_t pthread;                   /* the thread's pthread_t, for whom the agent renames; 0 = none */
	uint32_t next; /* 1 + the number of the next free slot, or of the thread's next slot; 0 = none */
	uint32_t generation; /* of the engine, when the thread began in it; 0 = the slot is free */
	uint32_t run;        /* of the engine, to which its open calls belong */

	/* All that a recorded call touches here, in one line; see fxt_stack_color() for its place. */
	uint32_t busy __attribute__((aligned(64))); /* enum fxt_busy */
	uint32_t number;                            /* of the slot */
	uint64_t limit;     /* records may reach this address; changed by the owner and, under the lock, by
	                       closers */
	uint64_t top_limit; /* frames may reach this address */
	uint64_t header;    /* first word of a Duration Complete record of this thread, without its name */
	uint64_t last;      /* ticks of the thread's latest start or end */
	uint64_t frameless_calls; /* open calls inside the newest frame's that are lost and have no frame */
	uint64_t chunk;           /* address of the open chunk's header; 0 = none. Under the lock */
} __attribute__((aligned(256)));
_Static_assert(sizeof(struct fxt_block) == 256 && offsetof(struct fxt_block, busy) == 64,
        "as fxt_stack_color() has it");

#endif
