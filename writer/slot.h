/*
 * What the manager can read of a thread, also after its death: its slot and its shadow stack.
 */
#ifndef FXT_WRITER_SLOT_H
#define FXT_WRITER_SLOT_H

#include <stdint.h>

#define FXT_SLOTS      UINT64_C(16384) /* threads recorded at the same time */
#define FXT_SLOT_BYTES UINT64_C(256)

/*
 * Where a slot's shadow stack begins in its place. A load that follows a store to an address with the same
 * low 12 bits waits for that store. Slots lie at multiples of 256, the first line of a block 64 behind one,
 * and a shadow stack begins 128 behind the one of its slot: so no two of a thread's hot lines alias until
 * calls nest 120 deep [29 ns a call without it, 21 with].
 */
static inline uint64_t fxt_stack_color(uint64_t number)
{
	return ((number * FXT_SLOT_BYTES) & 4095) + 128;
}

/* A call that has begun. Written by its thread: start, then function, then slot.top (release) covers it. */
struct fxt_frame {
	uint64_t function; /* address << 16 | string index; index 0 = the name is local to a chunk */
	uint64_t call_site;
	uint64_t stack_pointer; /* of the entry hook's caller frame */
	uint64_t start;         /* ticks */
};
_Static_assert(sizeof(struct fxt_frame) == 32, "");
#define FXT_FRAME_INDEX_BITS 16

enum fxt_slot_state {
	FXT_SLOT_FREE = 0,
	FXT_SLOT_LIVE = 1,
};

/*
 * One thread. The first line is written at every call by the thread itself; the second by the thread out of
 * line; the rest by whoever holds the engine lock, before state becomes LIVE (release).
 */
struct fxt_thread_slot {
	uint64_t top;       /* agent address one past the newest open frame */
	uint64_t committed; /* agent address of the end of the last committed record; 0 = no open chunk */
	uint64_t line0[6];

	uint64_t lost;         /* records lost so far, shown or not */
	uint64_t gap_lost;     /* of these, not yet shown by a slice of their own */
	uint64_t gap_start;    /* ticks of the first of gap_lost; 0 = none */
	uint64_t late_record;  /* agent address: committed bytes from here on came after their chunk was
	                        closed;  0 = none */
	uint64_t nested_lost;  /* calls a signal handler made inside a hook: lost, in no gap, not in `lost` */
	uint64_t nested_shown; /* of these, shown by a slice */
	uint64_t late_chunk_end; /* agent address: the end of that chunk */
	uint64_t began;          /* ticks, before anything else of the thread */

	uint32_t state;        /* enum fxt_slot_state */
	uint32_t thread_index; /* in the provider's thread table; FXT_THREAD_LOCAL_INDEX = registered chunk by
	                          chunk */
	uint64_t koid;         /* tid, or tid + (n << 22) for its n-th reuse */
	uint32_t tid;
	uint32_t is_nested; /* 1: the thread has another slot, and this one is for handlers inside of hooks */
	uint64_t stack_offset; /* of its shadow stack in the control memory; frame 0 is a sentinel, never a
	                          call */
	uint64_t stack_bytes;
	uint64_t calls[2];    /* calls in closed chunks of rolling buffer 0 and 1 */
	uint64_t overwritten; /* calls dropped with an older half (circular) */
	char name[64];        /* ended by a zero byte */
};
_Static_assert(sizeof(struct fxt_thread_slot) == FXT_SLOT_BYTES, "");

#endif
