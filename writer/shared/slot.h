/*
 * A thread's slot in the control memory: the state of the thread that the manager can read
 * after any death, SIGKILL included. Beside it lies the thread's shadow stack, the calls
 * that it has begun and not ended.
 *
 *           fxt_slot_take, fxt_slot_open                 a clearing start
 *   FREE ------------------------------------> LIVE ------------------------------> FREE
 *     ^  <------------------------------------  |  <------------------------------
 *           the thread was found dead,              the thread's next slow path:
 *           fxt_slot_reclaim_dead                   fxt_thread_check renews it
 *
 * A collector reads LIVE slots only. All transitions are made with the engine's lock held.
 */
#ifndef FXT_WRITER_SLOT_H
#define FXT_WRITER_SLOT_H

#include <stdint.h>

#define FXT_SLOTS      UINT64_C(16384) /* threads recorded at the same time */
#define FXT_SLOT_BYTES UINT64_C(256)

#define FXT_THREAD_NAME_BYTES 64 /* the terminator included */

/*
 * The offset of a slot's shadow stack in the slot's part of the control memory. A load that
 * follows a store to an address with the same low 12 bits waits for that store. Slots lie
 * at multiples of 256, the first line of a writer lies 64 bytes after such a multiple, and
 * a shadow stack begins 128 bytes after that of its slot. Therefore no two of a thread's
 * hot lines alias until calls nest 120 deep [29 ns a call without it, 21 with].
 */
static inline uint64_t fxt_stack_color(uint64_t number)
{
	return ((number * FXT_SLOT_BYTES) & 4095) + 128;
}

/* Flags in the upper bits of a frame's call site, in sessions that filter calls
 * (agent/hook/filter.h). */
#define FXT_FRAME_UNRECORDED (UINT64_C(1) << 63) /* the call is not recorded */
#define FXT_FRAME_NOT_UNDER  (UINT64_C(1) << 62) /* no call inside it is recorded */
/* the call exceeds the maximum number of calls of its function */
#define FXT_FRAME_COUNTED (UINT64_C(1) << 61)
/* a call inside it is recorded, so it is recorded however short it is */
#define FXT_FRAME_KEPT (UINT64_C(1) << 60)
/* how many calls deep is recorded inside it: at most this value, which means any depth; 0:
 * none */
#define FXT_FRAME_DEPTH_MAX    UINT64_C(0xfff)
#define FXT_FRAME_STATE        (UINT64_MAX << 48)
#define fxt_frame_depth(calls) ((uint64_t)(calls) << 48)

/*
 * A call that has begun. Its thread writes start and function, then makes slot.top cover
 * the frame (release). A collector or a snapshot loads slot.top (acquire) before it reads
 * the frames below it.
 */
struct fxt_frame {
	/* address << 16 | string index, the function table's reference. Index
	 * FXT_INDEX_LOCAL (0xffff) = the name is registered chunk by chunk. Or the
	 * reference of a wait (waits.h) or of an inherited call (inherited.h) */
	uint64_t function;
	uint64_t call_site;
	/* the stack pointer of the hook's caller, less the low end of the thread's stack;
	 * in the sentinel the size of that stack */
	uint64_t stack_offset;
	uint64_t start; /* ticks */
};
_Static_assert(sizeof(struct fxt_frame) == 32, "");
#define FXT_FRAME_INDEX_BITS 16

enum fxt_slot_state {
	FXT_SLOT_FREE = 0, /* no thread records in it: a collector skips it */
	FXT_SLOT_LIVE = 1, /* its thread records, or died and was not found dead yet */
};

/*
 * One thread. The manager reads it at any time. The thread writes the first line at every
 * call and the second on the slow path. The rest is written with the engine's lock held,
 * before LIVE is stored.
 */
struct fxt_thread_slot {
	uint64_t top; /* agent address one past the newest open frame (release) */
	/* agent address of the end of the last committed record (release); 0 = the thread
	 * has no open chunk. Set to 0 by closers */
	uint64_t committed;
	/* ticks when the thread began to end its process, by an exit or an exec; 0 = it did
	 * not. Its open calls end there if the process does */
	uint64_t ended;
	/* ticks by which all calls that `overwritten` counts had ended. Written with the
	 * engine's lock held */
	uint64_t overwritten_until;
	uint64_t line0[4];

	uint64_t lost; /* records lost so far, whether a slice shows them or not */
	/* the part of `lost` since the thread last wrote a slice that shows a loss */
	uint64_t gap_lost;
	uint64_t gap_start; /* ticks of the first of gap_lost; 0 = none */
	/* written by closers: agent address of a record that the thread, stalled inside a
	 * hook, may commit after its chunk was closed (closing.h); 0 = the thread is not
	 * stalled */
	uint64_t late_record;
	/* lost calls that a signal handler made inside a hook; they are in no gap, and not
	 * in `lost` */
	uint64_t nested_lost;
	uint64_t nested_shown; /* the part of nested_lost that a slice shows */
	/* written by closers: agent address of the end of the chunk of late_record */
	uint64_t late_chunk_end;
	/* ticks when the slot was opened, before all that the thread records in it */
	uint64_t began;

	uint32_t state; /* enum fxt_slot_state; LIVE is stored last (release) */
	/* index in the provider's thread table; FXT_THREAD_LOCAL_INDEX = the thread is
	 * registered in each of its chunks */
	uint32_t thread_index;
	uint64_t koid; /* see fxt_thread_koid() */
	/* 0 = a coroutine's slot, which belongs to no single thread */
	uint32_t tid;
	/* 1: a thread's second slot, for calls that signal handlers make inside its
	 * hooks */
	uint32_t is_nested;
	/* offset of its shadow stack in the control memory, with a sentinel that is no
	 * call */
	uint64_t stack_offset;
	uint64_t stack_bytes;
	/* calls in closed chunks of rolling buffer 0 and 1 */
	uint64_t calls[2];
	uint64_t overwritten;             /* calls that circular buffering overwrote */
	char name[FXT_THREAD_NAME_BYTES]; /* ended by a zero byte */
};
_Static_assert(sizeof(struct fxt_thread_slot) == FXT_SLOT_BYTES, "");

#endif
