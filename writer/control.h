/*
 * The control memory (memfd 2): how a provider is to record, what it is told to do, where it stands, and of
 * each of its threads a slot and a shadow stack.
 */
#ifndef FXT_WRITER_CONTROL_H
#define FXT_WRITER_CONTROL_H

#include <stddef.h>
#include <stdint.h>
#include "packets.h"
#include "slot.h"

#define FXT_CONTROL_MAGIC UINT64_C(0x6c6f72746e6f6366) /* "fcontrol" */

#define FXT_SMALL_STACK_BYTES   UINT64_C(32768)
#define FXT_LARGE_STACKS        UINT64_C(64)
#define FXT_LARGE_STACK_BYTES   (UINT64_C(8) << 20)
#define FXT_CONTROL_PAGE_BYTES  UINT64_C(4096)
#define FXT_SLOTS_OFFSET        FXT_CONTROL_PAGE_BYTES
#define FXT_STACKS_OFFSET       (FXT_SLOTS_OFFSET + FXT_SLOTS * FXT_SLOT_BYTES)
#define FXT_LARGE_STACKS_OFFSET (FXT_STACKS_OFFSET + FXT_SLOTS * FXT_SMALL_STACK_BYTES)
#define FXT_HEAP_SUMS_OFFSET    (FXT_LARGE_STACKS_OFFSET + FXT_LARGE_STACKS * FXT_LARGE_STACK_BYTES)
#define FXT_HEAP_SUM_BYTES      UINT64_C(64)
#define FXT_TID_USES_OFFSET     (FXT_HEAP_SUMS_OFFSET + FXT_SLOTS * FXT_HEAP_SUM_BYTES)
#define FXT_TID_BITS            22 /* of the kernel's largest; koids beyond are reuses of a number */
#define FXT_CONTROL_BYTES       (FXT_TID_USES_OFFSET + (sizeof(uint16_t) << FXT_TID_BITS))

enum fxt_clock_kind {
	FXT_CLOCK_COUNTER = 1,   /* fxt_counter_ticks() */
	FXT_CLOCK_MONOTONIC = 2, /* clock_gettime, nanoseconds */
};
enum fxt_on_full { FXT_ON_FULL_BLOCK = 1, FXT_ON_FULL_DROP = 2 };

/* What becomes of the data of before (Fuchsia's buffer dispositions). */
enum fxt_start_mode {
	FXT_START_CLEAR_ENTIRE = 1,     /* all of it goes */
	FXT_START_CLEAR_NONDURABLE = 2, /* names stay, with their indices; in oneshot mode, which has no
	                                   durable buffer, all of it goes */
	FXT_START_RETAIN = 3,
};

/*
 * What the manager wants of a provider, in one word: the session command, for a start how to begin (enum
 * fxt_start_mode), and a count, so that no command equals the one before. The latest is carried out; one that
 * was overtaken is not. A provider that is to begin at once finds a start in its memory.
 */
enum fxt_session_command {
	FXT_COMMAND_STOP = 0, /* record nothing, keep what is in the buffers */
	FXT_COMMAND_START = 1,
	FXT_COMMAND_QUIT = 2, /* the session is over for this provider: its hooks fall quiet */
};
#define FXT_SESSION_COMMAND(word)    ((word)&3u)
#define FXT_SESSION_START_MODE(word) ((word) >> 2 & 3u)

static inline uint32_t fxt_session_command_next(
        uint32_t last, enum fxt_session_command command, uint32_t start_mode)
{
	return ((last >> 4) + 1) << 4 | start_mode << 2 | command;
}

/* How the heap is recorded: every object, some of them by sampling, live sums alone. */
enum fxt_heap_mode { FXT_HEAP_OFF = 0, FXT_HEAP_OBJECTS = 1, FXT_HEAP_SAMPLED = 2, FXT_HEAP_COUNTERS = 3 };
/* Where call paths come from: the shadow stack where there is one, else libunwind; one of them alone;
 * nowhere. */
enum fxt_heap_stacks {
	FXT_HEAP_STACKS_AUTO = 0,
	FXT_HEAP_STACKS_SHADOW = 1,
	FXT_HEAP_STACKS_UNWIND = 2,
	FXT_HEAP_STACKS_NONE = 3,
};

/* How long an agent heeds `snapshot_hold`. */
#define FXT_SNAPSHOT_HOLD_NS UINT64_C(50000000)

#define FXT_CATEGORIES_BYTES 2048

struct fxt_control {
	/* Written by the manager before it hands the memory over. */
	uint64_t magic;
	uint32_t version;
	uint32_t buffering_mode;   /* enum fxt_buffering_mode */
	uint32_t on_full;          /* enum fxt_on_full */
	uint32_t clock_kind;       /* enum fxt_clock_kind */
	uint64_t ticks_per_second; /* one rate for all providers of a session */
	uint64_t process_koid;
	uint32_t provider_id;
	uint32_t categories_bytes;  /* of `categories`; 0 = all categories */
	uint32_t heap_mode;         /* enum fxt_heap_mode */
	uint32_t heap_stacks;       /* enum fxt_heap_stacks */
	uint64_t heap_sample_bytes; /* sampled: mean distance of two samples */
	uint32_t populate;          /* 1: every page of the buffer is to be there before the program begins */
	uint8_t reserved0[60];

	/* Written by the manager while the provider runs. */
	uint32_t heartbeat;       /* moves at least every 250 ms while the manager lives */
	uint32_t session_command; /* a futex, see enum fxt_session_command */
	uint32_t snapshot_hold;   /* 1: a snapshot is being taken, chunks are to stay with their threads for a
	                             moment */
	uint8_t reserved1[52];

	/* Written by the agent under its engine lock. */
	uint64_t buffer_address;  /* where the trace buffer is mapped in the agent; the base of slot.committed
	                           */
	uint64_t control_address; /* where this memory is mapped in the agent; the base of slot.top */
	uint64_t durable_committed; /* agent address of the end of the open durable chunk's records; 0 = none
	                             */
	uint32_t slots_used;        /* slots 0 .. slots_used-1 were ever used */
	uint32_t exiting;           /* 1 once the process is in exit() or _exit(): its death is no crash */
	uint64_t lost_without_slot; /* calls of threads that got no slot (add_relaxed, any thread) */
	uint64_t lost_recycled;     /* records lost by threads whose slot was reused since */
	uint64_t overwritten_recycled;
	uint64_t unshown_recycled; /* of lost_recycled: in no slice */
	uint64_t threads;          /* that ever recorded */
	uint32_t chunk_sequence;   /* of which thread has which chunk; odd during one */
	uint32_t started_by; /* the latest start command that was carried out, stored before STARTED tells it
	                      */
	uint32_t commands_ignored;  /* 1: no command can be carried out any more */
	uint32_t modules_unwritten; /* records of modules that the durable buffer had no room for */

	struct fxt_ring to_manager;  /* producer: the agent, under its engine lock */
	struct fxt_ring to_provider; /* producer: the manager */

	char categories[FXT_CATEGORIES_BYTES]; /* names, each ended by a zero byte */
};
_Static_assert(sizeof(struct fxt_control) <= FXT_CONTROL_PAGE_BYTES, "the control block is one page");

static inline struct fxt_thread_slot *fxt_control_slot(const struct fxt_control *control, uint32_t number)
{
	return (struct fxt_thread_slot *)((uintptr_t)control + FXT_SLOTS_OFFSET) + number;
}

/*
 * How many threads with this number the provider has had: the koid of the latest is that of
 * fxt_thread_koid(). 0 = none yet, or the manager saw it end. Written by the thread that begins, under the
 * engine lock, and by the manager.
 */
static inline uint16_t *fxt_tid_uses(const struct fxt_control *control, uint32_t tid)
{
	return (uint16_t *)((uintptr_t)control + FXT_TID_USES_OFFSET) + (tid & ((1u << FXT_TID_BITS) - 1));
}

/* Of its uses-th thread, from 1 on. */
static inline uint64_t fxt_thread_koid(uint32_t tid, uint16_t uses)
{
	return tid + ((uint64_t)(uint16_t)(uses - 1) << FXT_TID_BITS);
}

#endif
