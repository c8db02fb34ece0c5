/*
 * writer/ is the trace engine: the format (format.h, encode.h), the memory that an agent shares with its
 * manager (shared.h), and what fills it, which is put together here; all contact with the kernel is in sys.h.
 * Its other end, which takes records out of that memory, is in writer/collect/.
 *
 * An engine brings the records of many threads into one trace buffer, in Fuchsia's three buffering modes.
 *
 * A thread that records has a slot in the control memory, which the manager can read after any death, and a
 * private block, which only this process sees. Blocks, function table and string tables lie in memory that
 * the kernel wipes in a forked child (MADV_WIPEONFORK): the child finds limits of 0, takes the slow path at
 * its first call, and notices there that it is a process of its own.
 *
 * The engine calls nothing of libc but memcpy and the clock, allocates by mmap, and takes its one lock with
 * all signals blocked.
 *
 * Errors, in all of writer/:
 *   bool               where there is one way to fail: true is success
 *   int                0 or a positive errno value, where there are several
 *   pointer, number    NULL or 0: there is none; so does an encoder say that its record does not fit
 *   const char *       NULL, or a sentence that says what is wrong with memory that somebody else wrote
 *   -errno             in sys.h alone, as the kernel returns it
 * Nothing is printed, and errno is left as it was. A record that finds no room is no error of its caller: it
 * is counted (fxt_chunk_count_lost) and shown in the trace.
 */
#ifndef FXT_WRITER_ENGINE_H
#define FXT_WRITER_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include "block.h"
#include "buffer.h"
#include "clock.h"
#include "control_map.h"
#include "function_table.h"
#include "shared.h"
#include "sys.h"
#include "valid.h"

/* The threads that have had a thread id: the kernel gives an id to one thread after another. */
struct fxt_tid {
	uint32_t slot; /* 1 + the number of the newest slot, chained by fxt_block.next; it may be another's by
	                  now */
	uint32_t uses; /* how many threads of this process have had the id (fxt_thread_koid) */
};

/*
 *           fxt_engine_initialize          fxt_engine_start
 *   NONE -------------------------> STOPPED ---------------> STARTED
 *     ^                               | ^                     | |
 *     |      fxt_engine_terminate     | |   fxt_engine_stop   | |
 *     +-------------------------------+ +---------------------+ |
 *     +---------------------------------------------------------+
 *
 * Beside that the engine is `broken` for good once the manager breaks the protocol or says QUIT: then no
 * thread gets another chunk, and no start succeeds.
 */
enum fxt_engine_state {
	FXT_ENGINE_NONE = 0, /* all fields are 0, but where it was forgotten with slots to reserve */
	FXT_ENGINE_STOPPED,  /* set up; threads are sent away on the slow path */
	FXT_ENGINE_STARTED,  /* threads record */
};

/*
 * All fields are written with the lock held. Threads read without it: what stays as fxt_engine_initialize()
 * made it, or the first start of a recording, before which all threads are sent away, and with load_relaxed()
 * or load_acquire() `run`, `drops`, `functions`, `wrapped`, `rolling_used`, `full`, `replies_when_full`
 * and `broken`.
 */
struct fxt_engine {
	struct fxt_lock lock;
	enum fxt_engine_state state;

	/* What fxt_engine_initialize() was given, or made of it. */
	uint8_t *buffer;
	uint64_t buffer_bytes;
	struct fxt_buffer_header *header; /* at the begin of the buffer */
	struct fxt_control *control;
	struct fxt_control_map *map; /* of the control memory; NULL: it is mapped as a whole. Set before the
	                                first thread attaches */
	struct fxt_buffer_layout layout;
	enum fxt_buffering_mode mode;
	enum fxt_clock_kind clock;
	uint64_t step; /* ticks that are surely a nanosecond */
	uint64_t process_koid;
	char name[FXT_NAME_BYTES]; /* of the process */
	int pid;

	/* Runs, and what outlives them. */
	uint32_t recording;     /* of the session's, by whose terms all is set up (fxt_control.recording) */
	uint32_t generation;    /* of names and thread state: grows whenever they are forgotten */
	uint32_t run;           /* grows with each start and each stop: odd while started */
	uint32_t recording_run; /* the first of the recording */
	uint32_t cleared_run;   /* the latest that began with a clearing */
	uint64_t stopped_ticks; /* ticks of the latest stop */
	uint32_t drops;         /* grows whenever records that were written are dropped */

	/* Threads and names. Blocks, tids and `alive` lie in memory that is zeros in a forked child. */
	struct fxt_block *blocks; /* by slot number, FXT_SLOTS of them */
	uint32_t first_slot;      /* no thread gets a slot below it (fxt_engine_forget) */
	struct fxt_tid *tids;     /* by thread id */
	uint32_t *alive;          /* 1; 0 in a forked child */
	struct fxt_function_table functions;
	uint64_t functions_used; /* entries of it that are not 0 */
	struct fxt_function_table
	        outgrown[FXT_FUNCTION_TABLE_GROWTHS]; /* smaller ones that it took the place of; still mapped,
	                                                 since a hook may be probing one */
	uint32_t outgrown_count;
	uint32_t next_string;   /* the index that the next durable string gets */
	uint32_t decided;       /* the decisions on strings below it were carried out (decisions.h) */
	uint32_t without_calls; /* 1: all functions are marked, as calls are recorded no more (decisions.h) */
	uint32_t filter_changes; /* so many changes of the filter were seen. Stored before the first
	                            decision of a change is carried out; read by hooks */
	/* What of the filter is about calls inside of others, as of the latest change and of the one before:
	 * by the number of the change, modulo 2. A thread goes over to the later one before its next call. */
	struct fxt_callers_filter {
		uint32_t has_under, depth_limit; /* as in fxt_control */
		uint32_t has_states;             /* frames have states: some filter was of that kind. To stay,
		                                    since calls may be open that are not recorded */
	} callers_filter[2];
	uint32_t
	        filter_in_force; /* the latest change that hooks go by; stored after that and the decisions */
	uint32_t next_thread;    /* the index that the next durable thread record gets */
	uint32_t free_slot;      /* 1 + number of a free slot, chained by fxt_block.next; 0 = none */
	uint32_t live_slots;     /* slots that are taken, those of threads not yet found dead among them */
	uint32_t reclaim_at;     /* live slots at which to look for dead threads */
	uint64_t reclaimed_ns;   /* when that was done last, by CLOCK_MONOTONIC */
	uint32_t large_stacks_used; /* large shadow stacks given out; a slot that has one keeps it for later
	                               threads */

	/* The buffer. */
	uint64_t durable_end;       /* bytes used of the durable buffer */
	uint64_t durable_chunk;     /* oneshot: address of the open durable chunk's header; 0 = none */
	uint64_t recycled_calls[2]; /* fxt_thread_slot.calls of threads whose slot was reused */
	uint64_t rolling_used;      /* bytes given out of the current rolling buffer */
	uint32_t wrapped;           /* switches so far: the current rolling buffer is wrapped & 1 */
	uint32_t stalled;           /* blocks that are FXT_BLOCK_STALLED */
	bool full;                  /* no buffer has room: records are being dropped */

	/* The manager. */
	bool save_outstanding;         /* streaming: it has not saved the other buffer yet */
	struct fxt_packet save;        /* the packet that asked it to */
	uint32_t replies_when_full;    /* packets it had sent when `full` was noted: more may mean room */
	bool broken;                   /* it broke the protocol, or told us to quit */
	uint32_t heartbeat;            /* its latest that was seen */
	uint64_t heartbeat_checked_ns; /* when that was, by CLOCK_MONOTONIC */
	uint64_t heartbeat_still_ns;   /* for how long the heartbeat was seen to stand still */
};

/*
 * The life of an engine: initialize, then start and stop by turns, then terminate. A step that its state does
 * not allow changes nothing. Fuchsia's "bad state" is EBUSY here, its "not initialized" EINVAL.
 *
 * Sets the engine up on memory that the manager prepared and nobody else uses: checks the control memory,
 * writes buffer header, initialization record, the known strings and the process's kernel object. `name`
 * names the process. 0; EINVAL: sizes or control memory are not as they must be; EBUSY: it is set up already;
 * ENOMEM. On failure nothing stays mapped.
 */
int fxt_engine_initialize(struct fxt_engine *e, void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, const char *name);

/*
 * In a forked child whose forking thread was inside of a hook, which goes on in the child, or may be. Before
 * this the control memory and the buffer that the engine is on have become the child's own, a copy of the
 * block of control memory and zeros else. Whatever that hook still does with the engine comes to its end
 * there, and nothing of it is recorded. fxt_engine_was_forked() stays true.
 */
void fxt_engine_detach(struct fxt_engine *e);

/*
 * In a forked child: the engine is as if it had never been set up. The next one takes the private memory that
 * its parent's had, in its place: a family of any number of generations takes as much address space as the
 * first, and a hook that went on in the child finds memory there. It reserves the slots below `first_slot`:
 * for such a hook knows a slot and a block of its parent's.
 */
void fxt_engine_forget(struct fxt_engine *e, uint32_t first_slot);

/*
 * Begins recording. Clearing the entire buffer begins a new generation: strings, functions and threads are
 * registered anew, the initialization record among them. After any start threads take the slow path first
 * (fxt_thread_check): calls that were open when recording ended are over then, and after a clearing they are
 * forgotten. What is cleared is not counted as lost; the manager restarts its collector. The first start of
 * another recording of the session (fxt_control.recording) sets up everything anew by the terms of that one,
 * whatever the mode. 0; EINVAL: not initialized, or no such mode; EBUSY: already started, or what is to be
 * cleared was handed over and is not saved yet, or a thread is held in the midst of a write to the buffer of
 * an earlier recording; EPROTO: the manager broke the protocol before.
 */
int fxt_engine_start(struct fxt_engine *e, enum fxt_start_mode mode);

/* Tells the manager of a start, once whatever is to be recorded will be. */
void fxt_engine_send_started(struct fxt_engine *e);

/* Wakes the manager for triggers that calls have raised, unless packets wait that it will be awake for. */
void fxt_engine_send_triggered(struct fxt_engine *e);

/* Sends the manager an alert, of which 14 bytes count. False: it is yet to take others, and room is kept for
 * what cannot wait. */
bool fxt_engine_send_alert(struct fxt_engine *e, const char *name);

/*
 * Ends recording: closes every chunk and publishes the buffer's ends. Idempotent. 0; ENOMEM: records were
 * dropped since the generation began (num_records_dropped); EINVAL: not initialized.
 */
int fxt_engine_stop(struct fxt_engine *e);

/* Stops, and gives back what initialize mapped. No thread may be inside a hook or enter one. 0; EINVAL: not
 * initialized. */
int fxt_engine_terminate(struct fxt_engine *e);

/*
 * Takes and gives back the engine's lock, with all signals of the thread blocked meanwhile: `mask` is what to
 * hand back. A DEBUG=1 build checks the engine's state each time (valid.h).
 */
static inline uint64_t fxt_engine_lock(struct fxt_engine *e)
{
	return fxt_lock(&e->lock);
}

static inline void fxt_engine_unlock(struct fxt_engine *e, uint64_t mask)
{
	FXT_ASSERT(fxt_engine_is_valid(e));
	fxt_unlock(&e->lock, mask);
}

/* True in a child whose parent set the engine up: it must forget everything and begin anew. */
static inline bool fxt_engine_was_forked(const struct fxt_engine *e)
{
	return e->alive && load_relaxed(e->alive) == 0;
}

/*
 * A writer of the sequence lock control.chunk_sequence. Whoever changes which thread has which chunk, with
 * the engine's lock held, does it between begin and end; a snapshot that finds the count odd, or changed, is
 * copied again (snapshot.h). The fence orders the count before the change: who sees any of the change also
 * sees the count. It pairs with the fences of snapshot.c.
 */
static inline void fxt_engine_change_begin(struct fxt_engine *e)
{
	store_relaxed(&e->control->chunk_sequence, e->control->chunk_sequence + 1);
	full_fence();
}

/* Takes back fxt_engine_change_begin() where nothing was changed: the count is as before, and a snapshot that
 * was taken meanwhile counts as of one piece. */
static inline void fxt_engine_change_cancel(struct fxt_engine *e)
{
	store_release(&e->control->chunk_sequence, e->control->chunk_sequence - 1);
}

/* Release: the whole change comes before the even count. Pairs with the acquire in snapshot.c. */
static inline void fxt_engine_change_end(struct fxt_engine *e)
{
	store_release(&e->control->chunk_sequence, e->control->chunk_sequence + 1);
}

#endif
