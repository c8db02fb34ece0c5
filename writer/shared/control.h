/*
 * The control memory (memfd 2). It says how a provider is to record, which command it has
 * to follow and what state it is in, and holds a slot and a shadow stack for each of its
 * threads.
 */
#ifndef FXT_WRITER_CONTROL_H
#define FXT_WRITER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "packets.h"
#include "slot.h"

#define FXT_CONTROL_MAGIC UINT64_C(0x6c6f72746e6f6366) /* "fcontrol" */

#define FXT_SMALL_STACK_BYTES  UINT64_C(32768)
#define FXT_LARGE_STACKS       UINT64_C(64)
#define FXT_LARGE_STACK_BYTES  (UINT64_C(8) << 20)
#define FXT_CONTROL_PAGE_BYTES UINT64_C(4096)
/* alignment of separately mapped areas: the largest page size there is */
#define FXT_CONTROL_ALIGNMENT UINT64_C(65536)
#define FXT_SLOTS_OFFSET      FXT_CONTROL_PAGE_BYTES
#define FXT_HEAP_SUMS_OFFSET  (FXT_SLOTS_OFFSET + FXT_SLOTS * FXT_SLOT_BYTES)
#define FXT_HEAP_SUM_BYTES    UINT64_C(64)
#define FXT_TID_USES_OFFSET   (FXT_HEAP_SUMS_OFFSET + FXT_SLOTS * FXT_HEAP_SUM_BYTES)
/* the kernel's thread ids have no more bits; the bits above count reuses in a koid */
#define FXT_TID_BITS         22
#define FXT_DECISIONS_OFFSET (FXT_TID_USES_OFFSET + (sizeof(uint16_t) << FXT_TID_BITS))
#define FXT_DECISIONS        UINT64_C(32768) /* one for each string index */
#define FXT_LIMITS_OFFSET    (FXT_DECISIONS_OFFSET + FXT_DECISIONS * sizeof(uint64_t))
#define FXT_LIMIT_BYTES      UINT64_C(32)
#define FXT_LIMITS_END       (FXT_LIMITS_OFFSET + FXT_DECISIONS * FXT_LIMIT_BYTES)
/* categories of the program's own events (struct fxt_program_category) */
#define FXT_PROGRAM_CATEGORIES_OFFSET FXT_LIMITS_END
#define FXT_PROGRAM_CATEGORIES        UINT64_C(256)
#define FXT_PROGRAM_CATEGORY_BYTES    UINT64_C(204)
#define FXT_PROGRAM_CATEGORIES_END \
	(FXT_PROGRAM_CATEGORIES_OFFSET + FXT_PROGRAM_CATEGORIES * FXT_PROGRAM_CATEGORY_BYTES)
/* From here on the memory is mapped as it is needed (control_map.h). */
#define FXT_STACKS_OFFSET \
	((FXT_PROGRAM_CATEGORIES_END + FXT_CONTROL_ALIGNMENT - 1) & ~(FXT_CONTROL_ALIGNMENT - 1))
#define FXT_LARGE_STACKS_OFFSET (FXT_STACKS_OFFSET + FXT_SLOTS * FXT_SMALL_STACK_BYTES)
#define FXT_CONTROL_BYTES       (FXT_LARGE_STACKS_OFFSET + FXT_LARGE_STACKS * FXT_LARGE_STACK_BYTES)
/* Follows in sessions that elide calls by their duration (elided.h). */
#define FXT_ELIDED_OFFSET  FXT_CONTROL_BYTES
#define FXT_ELIDED_THREADS UINT64_C(512) /* how many threads at a time can elide calls */
#define FXT_ELIDED_BYTES   (UINT64_C(2) << 20)
#define FXT_ELIDED_END     (FXT_ELIDED_OFFSET + (FXT_ELIDED_THREADS + 1) * FXT_ELIDED_BYTES)

enum fxt_clock_kind {
	FXT_CLOCK_COUNTER = 1,   /* arch_counter() */
	FXT_CLOCK_MONOTONIC = 2, /* clock_gettime, nanoseconds */
};
/* The modules that an agent asks plans for (plan.h). */
enum fxt_patch { FXT_PATCH_NOTHING = 0, FXT_PATCH_PROGRAM = 1, FXT_PATCH_ANY = 2 };
/* Logs of the program. The first two are descriptors. */
enum fxt_log { FXT_LOG_STDOUT = 1, FXT_LOG_STDERR = 2, FXT_LOG_SYSLOG = 4 };
enum fxt_on_full { FXT_ON_FULL_BLOCK = 1, FXT_ON_FULL_DROP = 2 };

/* The treatment of earlier recordings' data by a start (Fuchsia's buffer dispositions). */
enum fxt_start_mode {
	FXT_START_CLEAR_ENTIRE = 1, /* drops all of it */
	/* drops the records and keeps the names with their indices; drops all of it in
	 * oneshot mode, which has no durable buffer */
	FXT_START_CLEAR_NONDURABLE = 2,
	FXT_START_RETAIN = 3, /* drops nothing */
};

/*
 * The manager's command to a provider. It lies in one word of the control memory with the
 * start mode and a count, so that no word equals the one before it. A command that is
 * overtaken by another before the agent sees it is not carried out. A provider that is to
 * record from its first call on finds a start in the memory it is handed.
 */
enum fxt_session_command {
	FXT_COMMAND_STOP = 0, /* record nothing, keep what is in the buffers */
	FXT_COMMAND_START = 1,
	/* the session is over for this provider: its hooks fall quiet */
	FXT_COMMAND_QUIT = 2,
};
/* The parts of a command word, and the word that gives a command after the word `last`. */
#define FXT_SESSION_COMMAND(word)    ((word)&3u)
#define FXT_SESSION_START_MODE(word) ((word) >> 2 & 3u)

static inline uint32_t fxt_session_command_next(
        uint32_t last, enum fxt_session_command command, uint32_t start_mode)
{
	return ((last >> 4) + 1) << 4 | start_mode << 2 | command;
}

/* The objects of the heap that are recorded: none; all; those that a sampling by bytes
 * picks; none but the sums; all of a process that has instrumented code, from the moment it
 * has. */
enum fxt_heap_mode {
	FXT_HEAP_OFF = 0,
	FXT_HEAP_OBJECTS = 1,
	FXT_HEAP_SAMPLED = 2,
	FXT_HEAP_COUNTERS = 3,
	FXT_HEAP_AUTO = 4,
};
/* The source of call paths: the shadow stack if there is one, else a walk of the stack; the
 * shadow stack alone; a walk alone; none. */
enum fxt_heap_stacks {
	FXT_HEAP_STACKS_AUTO = 0,
	FXT_HEAP_STACKS_SHADOW = 1,
	FXT_HEAP_STACKS_UNWIND = 2,
	FXT_HEAP_STACKS_NONE = 3,
};

/* A thread that sees `snapshot_hold` waits this long before it takes a chunk. If the
 * manager dies while it is set, each thread is delayed once by this time. */
#define FXT_SNAPSHOT_HOLD_NS UINT64_C(50000000)

#define FXT_TRIGGERS 15

#define FXT_LIBRARY_CALLS_BYTES 512

#define FXT_TRIGGERS_END   1u /* calls of some functions raise a trigger when they end */
#define FXT_TRIGGERS_BEGIN 2u /* and when they begin */

/* The process does this itself when a call raises a trigger. */
enum fxt_call_trigger_action {
	FXT_CALL_TELLS = 0, /* nothing: the manager is notified and does the rest */
	FXT_CALL_STARTS,    /* records the calls that begin from then on */
	FXT_CALL_STOPS,     /* stops recording calls that begin from then on */
};

/* A trigger that calls raise. */
struct fxt_call_trigger {
	uint64_t ticks; /* the duration that a call must have */
	/* the action is taken only when it is raised for this time, counted from 1; 0: each
	 * time */
	uint64_t once_after;
	uint32_t action; /* enum fxt_call_trigger_action */
	uint32_t reserved;
	/* how often it was raised; counted by any thread without the lock */
	uint64_t raised;
};

#define FXT_UNDER_ONLY 1u /* only calls inside some functions are recorded */
#define FXT_UNDER_NOT  2u /* calls inside some functions are not recorded */

/* The signal that ends the process, as reported by the thread that received it. A
 * thread that can report it changes `tid` from 0 to its own, then writes the rest, and the
 * signal last (release). */
struct fxt_fatal_signal {
	uint32_t tid;
	uint32_t signal;
	uint64_t koid; /* of the thread */
	uint64_t ticks;
	uint64_t address; /* si_addr; 0 for a signal that was sent */
	int32_t code;     /* si_code */
	uint32_t sender;  /* si_pid; 0 for a fault */
};

/* The latest signal that a thread of the process sent to one process by kill() or raise().
 * A signal to its own process stands here only while it is being sent: after that the
 * process has evidently not died of it. */
struct fxt_sent_signal {
	uint64_t word; /* fxt_sent_word(); 0 = none (release) */
	uint64_t koid; /* of the thread */
};

static inline uint64_t fxt_sent_word(int32_t process, int signal)
{
	return (uint64_t)(uint32_t)process << 32 | (uint32_t)signal;
}

#define FXT_CATEGORY_NAMES_BYTES 2048

/* A category that the program's own events have, for lists of categories. Both texts end in
 * a zero byte. */
#define FXT_CATEGORY_TEXT_BYTES 100
struct fxt_program_category {
	uint32_t is_there; /* stored last (release) */
	char name[FXT_CATEGORY_TEXT_BYTES];
	char description[FXT_CATEGORY_TEXT_BYTES];
};

struct fxt_control {
	/* Written by the manager before it hands the memory over. */
	uint64_t magic;
	uint32_t version;
	uint32_t buffering_mode;   /* enum fxt_buffering_mode */
	uint32_t on_full;          /* enum fxt_on_full */
	uint32_t clock_kind;       /* enum fxt_clock_kind */
	uint64_t ticks_per_second; /* one rate holds for all providers of a session */
	uint64_t process_koid;
	uint32_t provider_id;
	uint32_t reserved1;
	uint32_t heap_mode;         /* enum fxt_heap_mode */
	uint32_t heap_stacks;       /* enum fxt_heap_stacks */
	uint64_t heap_sample_bytes; /* sampled: mean distance of two samples in bytes */
	/* 1: every page of the buffer must be present before the program begins */
	uint32_t populate;
	/* functions select the calls inside them: a sum of FXT_UNDER_ */
	uint32_t has_under;
	/* how many calls deep is recorded, at most FXT_FRAME_DEPTH_MAX - 1; 0 = any
	 * depth */
	uint32_t depth_limit;
	/* 1: the manager excludes functions, by its decisions (decisions.h). This field,
	 * the next, and the two before are also written later, when the filter is
	 * changed */
	uint32_t has_filter;
	/* 1: a function's first call waits for the decision on it */
	uint32_t awaits_decisions;
	/* 1: some functions have limits of their own (elided.h) */
	uint32_t has_limits;
	/* 1: the sums of elided.h are there, and calls may be elided */
	uint32_t elides_calls;
	/* calls raise triggers: a sum of FXT_TRIGGERS_; also written later, when they are
	 * changed */
	uint32_t has_triggers;
	/* the session's recording that all of this is for. A recording that is not the
	 * first is for a provider that is stopped: the manager writes everything anew, then
	 * this (release), and the next start goes by it */
	uint32_t recording;
	/* 1: the agent may patch hook calls out of the program's code
	 * (agent/patch/patch.h) */
	uint32_t erases;
	/* 1: calls of imported functions are recorded (agent/patch/imports.h), those that
	 * `library_calls` chooses */
	uint32_t records_library_calls;
	/* which modules' functions are recorded by plans: enum fxt_patch */
	uint32_t patches;
	/* 1: there are argument plans to ask for (writer/shared/argument_plan.h) */
	uint32_t records_arguments;
	/* 1: there are plans of probes to ask for */
	uint32_t records_probes;
	/* the logs whose lines become records: a sum of enum fxt_log */
	uint32_t logs;
	/* 1: positions of TCP connections are noted (agent/interpose/connections.h) */
	uint32_t notes_connections;

	/* Written by the manager while the provider runs, read by the agent's threads. */

	/* the manager adds 1 at least every 250 ms; a thread that waits for the manager
	 * gives up after a second without a change (chunk.c) */
	uint32_t heartbeat;
	/* the command word (release); the agent's helper thread waits on it as a futex */
	uint32_t session_command;
	/* 1: the manager is copying the memory, and no thread may take another chunk
	 * (snapshot.h); threads wait on it as a futex */
	uint32_t snapshot_hold;
	/* the number of the helper thread that is the last of its process
	 * (last_thread.h) */
	uint32_t last_thread;
	/* the exit code of the main thread; written before last_thread */
	uint32_t last_status;
	uint32_t alerts_are_taken; /* 1: packets are taken, recording or not */
	/* for functions without limits of their own: a call that takes less is elided
	 * (elided.h); 0 = none is */
	uint64_t min_duration_ticks;
	/* for functions without limits of their own: the n-th and later calls are elided; 0
	 * = none are */
	uint64_t first_counted;
	/* time of the first filter change: calls that begin from then on are recorded as
	 * the agent decides, and not taken out of the buffer (collect/copy.h); 0 = there
	 * was none */
	uint64_t kept_from;
	/* how often the filter was changed, and all decisions with it (release) */
	uint32_t filter_changes;
	/* categories that are not recorded, by bits (categories.h). The helper applies the
	 * bits of calls and of the heap at a start and at a change of the filter */
	uint32_t categories_off;
	/* the manager has allocated the buffer's pages up to this offset (release); agents
	 * touch none beyond it ahead of their writers */
	uint64_t pages_end;

	/* Written by the agent with its engine's lock held, unless a field says otherwise;
	 * read by the manager. */

	/* where the agent has mapped the trace buffer: slot.committed counts from it */
	uint64_t buffer_address;
	/* where the agent has mapped this memory: slot.top counts from it */
	uint64_t control_address;
	/* agent address of the end of the records in the open durable chunk (release); 0 =
	 * no durable chunk is open */
	uint64_t durable_committed;
	/* only slots 0 to slots_used - 1 were ever taken (release) */
	uint32_t slots_used;
	/* 1 while the process is about to end by itself. The thread that calls exit(),
	 * _exit() or an exec stores it, and takes it back if the exec fails. A death that
	 * follows is no crash */
	uint32_t exiting;
	/* calls of threads that got no slot; any thread adds to it, without the lock */
	uint64_t lost_without_slot;
	/* records lost by threads that have lost their slots to others */
	uint64_t lost_recycled;
	/* calls of such threads that circular buffering overwrote */
	uint64_t overwritten_recycled;
	/* the part of lost_recycled that no slice in the trace shows */
	uint64_t unshown_recycled;
	/* ticks that threads waited for the manager, summed over all threads: the lengths
	 * of the slices "fxt: waited". A wait that ended without room is part of a loss
	 * instead */
	uint64_t waited_ticks;
	uint64_t threads; /* how many threads have recorded so far */
	/* a sequence lock around each change of which thread has which chunk: odd while one
	 * is under way (fxt_engine_change_begin) */
	uint32_t chunk_sequence;
	/* the word of the start command carried out last; stored by the helper thread
	 * before the STARTED packet that reports it */
	uint32_t started_by;
	/* the latest filter change that was carried out (filter_changes; release) */
	uint32_t filter_carried_out;
	/* 1: the agent carries out no further command, as the program confined itself
	 * (seccomp), and the manager does not wait for it. Stored by the confining
	 * thread */
	uint32_t commands_ignored;
	/* module records that found no room in the durable buffer */
	uint32_t modules_unwritten;
	/* the number of the helper thread that runs, or ran last, stored by it (release).
	 * Each has a number of its own, from 1 */
	uint32_t helper;
	/* the session command that was carried out last; its packet, if it has one, was
	 * sent before (release). Stored by the thread that carries it out */
	uint32_t carried_out;
	/* one bit for each trigger that a call has raised, the first in bit 0. Set after
	 * the call's record by any thread without the lock; the manager takes them
	 * (fxt_engine_send_triggered) */
	uint32_t triggered;
	/* 1: there are blocks from before the heap was recorded, and the sums of live
	 * memory do not include them */
	uint32_t heap_is_late;
	/* 1: calls that begin are not recorded until one of them starts recording. Stored
	 * by the manager before the hand-over, and by any thread without the lock */
	uint32_t mutes_calls;
	uint32_t exit_status; /* the exit status of the process, if `exiting` is 1 */
	/* patched hook calls that could not be restored when they had to be
	 * (agent/patch/patch.h) */
	uint32_t sites_stuck;
	struct fxt_fatal_signal fatal; /* stored by the dying thread, without the lock */
	struct fxt_sent_signal sent;   /* stored by the sending thread, without the lock */

	/* the agent produces, with its engine's lock held; the manager consumes */
	struct fxt_ring to_manager;
	/* the manager produces; the agent consumes, with its engine's lock held */
	struct fxt_ring to_provider;

	/* Indexed by number less one. The manager writes all fields except `raised` before
	 * the hand-over, and later those of triggers that no function has. */
	struct fxt_call_trigger triggers[FXT_TRIGGERS];

	/* The names of the categories that are recorded, each ended by a zero byte; no
	 * bytes = all are. Written by the manager before each start and before each change
	 * of the filter; the helper follows them with categories_off. For the program's own
	 * categories, any number of them. */
	uint32_t category_bytes;
	char category_names[FXT_CATEGORY_NAMES_BYTES];

	/* Written by the manager before the hand-over: patterns (fxtrun --library-calls),
	 * each ended by a zero, the last one by two. */
	char library_calls[FXT_LIBRARY_CALLS_BYTES];
	/* those that match an imported function, a bit each; the last bit is of all behind
	 * the 63rd. The agent adds to them as modules are loaded */
	uint64_t library_calls_matched;
	/* how many thunks the agent has made that record arguments or results */
	uint64_t thunks_with_arguments;
};
_Static_assert(sizeof(struct fxt_control) <= FXT_CONTROL_PAGE_BYTES, "the control block is one page");
_Static_assert(sizeof(struct fxt_program_category) == FXT_PROGRAM_CATEGORY_BYTES, "");

/* The size of the control memory, with or without the tables of elided calls. */
static inline uint64_t fxt_control_bytes(bool elides_calls)
{
	return elides_calls ? FXT_ELIDED_END : FXT_CONTROL_BYTES;
}

static inline struct fxt_thread_slot *fxt_control_slot(const struct fxt_control *control, uint32_t number)
{
	return (struct fxt_thread_slot *)((uintptr_t)control + FXT_SLOTS_OFFSET) + number;
}

/* The category of that number, less than FXT_PROGRAM_CATEGORIES. Any thread of the program
 * writes it once, without the lock. */
static inline struct fxt_program_category *fxt_program_category(
        const struct fxt_control *control, uint32_t number)
{
	return (struct fxt_program_category *)((uintptr_t)control + FXT_PROGRAM_CATEGORIES_OFFSET) + number;
}

/*
 * How many threads have had the id `tid` in this provider, modulo 2^16; fxt_thread_koid()
 * makes the koid of the latest of them. 0 = none had it, or the manager saw the thread end.
 * Written by a thread that attaches, with the engine's lock held, and by the manager.
 */
static inline uint16_t *fxt_tid_uses(const struct fxt_control *control, uint32_t tid)
{
	return (uint16_t *)((uintptr_t)control + FXT_TID_USES_OFFSET) + (tid & ((1u << FXT_TID_BITS) - 1));
}

/* The koid of the uses-th thread that has the id `tid`; uses counts from 1. */
static inline uint64_t fxt_thread_koid(uint32_t tid, uint16_t uses)
{
	return tid + ((uint64_t)(uint16_t)(uses - 1) << FXT_TID_BITS);
}

#endif
