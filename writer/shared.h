/*
 * What an agent and its manager share, and nothing else: the trace buffer (memfd 1), the control memory
 * (memfd 2), and the messages of the handshake. Everything here is little-endian, versioned by
 * FXT_SHARED_VERSION, and distrusted by the manager: it believes a field only after checking it.
 *
 *   trace buffer                              control memory
 *   +--------------------+ 0                  +-------------------------+ 0
 *   | fxt_buffer_header  | 128 bytes          | fxt_control             | 4096 bytes
 *   +--------------------+                    +-------------------------+ FXT_SLOTS_OFFSET
 *   | durable buffer     | strings, threads   | fxt_thread_slot [16384] |
 *   +--------------------+                    +-------------------------+ FXT_STACKS_OFFSET
 *   | rolling buffer 0   | chunks             | small shadow stacks     | one a slot, 1023 calls deep
 *   +--------------------+                    +-------------------------+ FXT_LARGE_STACKS_OFFSET
 *   | rolling buffer 1   | chunks             | large shadow stacks     | 64, for deep recursion
 *   +--------------------+                    +-------------------------+ FXT_HEAP_SUMS_OFFSET
 *                                             | fxt_heap_sum [16384]    |
 *                                             +-------------------------+ FXT_TID_USES_OFFSET
 *                                             | uint16_t [4194304]      | the koid of each tid
 *                                             +-------------------------+ FXT_CONTROL_BYTES
 *
 * A rolling buffer is a row of chunks, each a fxt_chunk_header and the records of one thread behind it. Chunk
 * headers never reach the archive. Both memories are sparse: a page costs memory only once it was touched.
 */
#ifndef FXT_WRITER_SHARED_H
#define FXT_WRITER_SHARED_H

#include <stddef.h>
#include <stdint.h>

#define FXT_SHARED_VERSION 1u

/* ---- trace buffer ---- */

#define FXT_BUFFER_MAGIC      UINT64_C(0x627566ee68656164)
#define FXT_BUFFER_VERSION    0u
#define FXT_BUFFER_MIN_BYTES  UINT64_C(4096)
#define FXT_BUFFER_MAX_BYTES  (UINT64_C(1) << 32)
#define FXT_DURABLE_MIN_BYTES UINT64_C(16)
#define FXT_DURABLE_MAX_BYTES (UINT64_C(1) << 20)

enum fxt_buffering_mode { FXT_ONESHOT = 0, FXT_CIRCULAR = 1, FXT_STREAMING = 2 };

/* Written by the agent under its engine lock, read by the manager. Offsets count from the start of their
 * buffer. */
struct fxt_buffer_header {
	uint64_t magic;
	uint16_t version;
	uint8_t buffering_mode; /* enum fxt_buffering_mode */
	uint8_t chunked;        /* 1: the rolling buffers hold chunks (Fuchsia's reserved field) */
	uint32_t wrapped_count; /* switches so far; the current rolling buffer is wrapped_count & 1 */
	uint64_t total_size;
	uint64_t durable_buffer_size;
	uint64_t rolling_buffer_size;
	uint64_t durable_data_end;    /* published after the bytes it covers */
	uint64_t rolling_data_end[2]; /* covers whole chunks, whose headers are complete */
	uint64_t num_records_dropped;
	uint64_t reserved[7];
};
_Static_assert(sizeof(struct fxt_buffer_header) == 128, "Fuchsia's header is 128 bytes");
_Static_assert(offsetof(struct fxt_buffer_header, total_size) == 16, "Fuchsia's layout");
_Static_assert(offsetof(struct fxt_buffer_header, num_records_dropped) == 64, "Fuchsia's layout");

/* The slot number of a chunk that holds durable records: a oneshot buffer has no durable buffer of its own.
 */
#define FXT_SLOT_DURABLE UINT32_MAX

enum fxt_chunk_state { FXT_CHUNK_OPEN = 0, FXT_CHUNK_CLOSED = 1 };

/*
 * Open: its owner is writing, and the end of what is committed stands in the owner's slot
 * (fxt_thread_slot.committed points into this chunk), or in control.durable_committed for a durable chunk.
 * Closed: the first `committed` bytes behind the header are its records, for good.
 */
struct fxt_chunk_header {
	uint32_t size; /* of the whole chunk in bytes, header included; a multiple of 8 */
	uint32_t slot;
	uint32_t committed; /* bytes of records; valid once closed */
	uint32_t state;     /* enum fxt_chunk_state; stored last (release) */
};
_Static_assert(sizeof(struct fxt_chunk_header) == 16, "");

/* ---- packets: seeds' FIFO, 16 bytes, depth 4 each way ---- */

#define FXT_FIFO_PROTOCOL_VERSION 1u
#define FXT_FIFO_DEPTH            4u

enum fxt_packet_request {
	FXT_PROVIDER_STARTED = 1,     /* provider -> manager; data32 = protocol version */
	FXT_PROVIDER_SAVE_BUFFER = 2, /* provider -> manager; data32 = wrapped count, data64 = durable end */
	FXT_PROVIDER_STOPPED = 3,     /* provider -> manager */
	FXT_PROVIDER_ALERT = 4,       /* provider -> manager; 14 bytes of name from `reserved` on */
	FXT_PROVIDER_BUFFER_SAVED = 0x100, /* manager -> provider; echoes data32 and data64 */
};

#define FXT_ALERT_NAME_BYTES 15 /* 14 in a packet, and the zero byte */

struct fxt_packet {
	uint16_t request;
	uint16_t reserved;
	uint32_t data32;
	uint64_t data64;
};
_Static_assert(sizeof(struct fxt_packet) == 16, "");

/*
 * One producer, one consumer. `written` is the doorbell: the producer stores the packet, then `written`
 * (release), then wakes its futex (shared, not private); the consumer waits for it to move. `read` is stored
 * (release) once a packet was copied out. Both count without end; written - read > FXT_FIFO_DEPTH is an error
 * of the other side.
 */
struct fxt_ring {
	uint32_t written;
	uint32_t read;
	uint64_t pad;
	struct fxt_packet packet[FXT_FIFO_DEPTH];
};
_Static_assert(sizeof(struct fxt_ring) == 80, "");

/* ---- control memory ---- */

#define FXT_CONTROL_MAGIC UINT64_C(0x6c6f72746e6f6366) /* "fcontrol" */

#define FXT_SLOTS               UINT64_C(16384) /* threads recorded at the same time */
#define FXT_SMALL_STACK_BYTES   UINT64_C(32768)
#define FXT_LARGE_STACKS        UINT64_C(64)
#define FXT_LARGE_STACK_BYTES   (UINT64_C(8) << 20)
#define FXT_CONTROL_PAGE_BYTES  UINT64_C(4096)
#define FXT_SLOTS_OFFSET        FXT_CONTROL_PAGE_BYTES
#define FXT_SLOT_BYTES          UINT64_C(256)
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
#define FXT_NAME_BYTES       100 /* a provider's name, Fuchsia's limit */

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

static inline struct fxt_thread_slot *fxt_control_slot(const struct fxt_control *control, uint32_t number)
{
	return (struct fxt_thread_slot *)((uintptr_t)control + FXT_SLOTS_OFFSET) + number;
}

/*
 * Live heap: allocations less frees made by the threads of one slot, in bytes as the allocator counts. A
 * block may be freed by another thread than it was allocated by, so only the sum over all slots has a
 * meaning, and a new thread in a slot goes on counting. Written by the thread; the nested ones by its signal
 * handlers (add_relaxed).
 */
struct fxt_heap_sum {
	int64_t bytes;
	int64_t objects;
	int64_t nested_bytes;
	int64_t nested_objects;
	int64_t line[4];
};
_Static_assert(sizeof(struct fxt_heap_sum) == FXT_HEAP_SUM_BYTES, "");

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

/* What the agent writes in one piece without a lock, beside calls: the instant of a free; the object and the
 * instant of an allocation, 8 bytes more for a size of 4 GiB. */
#define FXT_FREE_BYTES       UINT64_C(32)
#define FXT_ALLOCATION_BYTES UINT64_C(72)

/* String indices from here on, and thread index 255, are registered in the chunk that uses them and hold for
 * that chunk only. */
#define FXT_STRING_LOCAL_FIRST 0x7c00u
#define FXT_STRING_LOCAL_COUNT 1024u
#define FXT_THREAD_LOCAL_INDEX 255u

/* ---- handshake: one message each way over a SOCK_SEQPACKET Unix socket ---- */

#define FXT_SOCKET_ENVIRONMENT      "FXT_SOCKET" /* the path of the manager's socket */
#define FXT_OUTPUT_ENVIRONMENT      "FXT_OUTPUT" /* the file of a standalone agent */
#define FXT_HEAP_ENVIRONMENT        "FXT_HEAP"   /* what it records of the heap, as fxtrun --heap */
#define FXT_HEAP_STACKS_ENVIRONMENT "FXT_HEAP_STACKS"
#define FXT_TRACE_MODE              0600 /* of new traces: what a program does is its user's affair */
#define FXT_HELLO_MAGIC             UINT64_C(0x6f6c6c6568747866)
#define FXT_WELCOME_MAGIC           UINT64_C(0x656d6f636c747866)

struct fxt_hello {
	uint64_t magic;
	uint32_t version; /* FXT_SHARED_VERSION */
	uint32_t pid;     /* must equal the socket's peer credentials */
	uint32_t tid;
	uint32_t name_bytes;
	char name[FXT_NAME_BYTES]; /* base name of the executable */
	uint32_t image;            /* 1: a new program; 0: a forked child */
};

enum fxt_welcome_status {
	FXT_WELCOME_OK = 0,      /* with SCM_RIGHTS: trace buffer, control memory */
	FXT_WELCOME_REFUSED = 1, /* the session does not want this process; it runs untraced, silently */
	FXT_WELCOME_VERSION = 2, /* the agent is of another version than the manager */
};

struct fxt_welcome {
	uint64_t magic;
	uint32_t version;
	uint32_t status; /* enum fxt_welcome_status */
	uint64_t buffer_bytes;
	uint64_t control_bytes;
};

#endif
