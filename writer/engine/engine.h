/*
 * writer/ is the trace engine. writer/format/ has the format, writer/shared/ the memory
 * that an agent shares with its manager and all contact with the kernel (sys.h).
 * writer/engine/ is the code that fills the memory, which this header puts together.
 * writer/collect/ takes the records out again.
 *
 * An engine brings the records of many threads into one trace buffer, in Fuchsia's three
 * buffering modes.
 *
 * A thread that records has a slot in the control memory, which the manager can read after
 * any death, and a private writer, which only this process sees. Thread writers, function
 * table and string tables lie in memory that the kernel wipes in a forked child
 * (MADV_WIPEONFORK). The child finds limits of 0, takes the slow path at its first call,
 * and notices there that it is a process of its own.
 *
 * The engine calls nothing of libc but memcpy and the clock, allocates by mmap, and takes
 * its one lock with all signals blocked.
 *
 * Errors, in all of writer/:
 *   bool               for functions with one way to fail: true is success
 *   int                0 or a positive errno value, for functions with several
 *   pointer, number    NULL or 0: there is none; an encoder's record does not fit
 *   const char *       NULL, or a sentence: what is wrong with memory that another
 *                      process wrote
 *   -errno             in sys.h alone, as the kernel returns it
 * Nothing is printed, and errno is left as it was. A record that finds no room is no error
 * of its caller: it is counted (fxt_chunk_count_lost) and shown in the trace.
 */
#ifndef FXT_WRITER_ENGINE_H
#define FXT_WRITER_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include "thread_writer.h"
#include "writer/shared/buffer.h"
#include "writer/shared/clock.h"
#include "writer/shared/control_map.h"
#include "function_table.h"
#include "writer/shared/job.h"
#include "reserve.h"
#include "writer/shared/shared.h"
#include "writer/shared/sys.h"
#include "valid.h"

/* The threads that have had a thread id: the kernel gives an id to one thread after
 * another. */
struct fxt_tid {
	/* 1 + the number of the newest slot, chained by fxt_block.next; another thread may
	 * have that slot by now */
	uint32_t slot;
	/* how many threads of this process have had the id (fxt_thread_koid) */
	uint32_t uses;
};

/* One entry for each possible thread id. */
#define FXT_TIDS (UINT64_C(1) << 22)

enum fxt_by_slot {
	FXT_BY_SLOT_BLOCKS,
	FXT_BY_SLOT_AGENT, /* the agent's own, or none (fxt_slots_add_table) */
	FXT_BY_SLOT
};

/*
 *           fxt_engine_initialize          fxt_engine_start
 *   NONE -------------------------> STOPPED ---------------> STARTED
 *     ^                               | ^                     | |
 *     |      fxt_engine_terminate     | |   fxt_engine_stop   | |
 *     +-------------------------------+ +---------------------+ |
 *     +---------------------------------------------------------+
 *
 * Independently of its state, an engine is `broken` for good once the manager breaks the
 * protocol or says QUIT: then no thread gets another chunk, and no start succeeds.
 */
enum fxt_engine_state {
	/* all fields are 0, except after fxt_engine_forget() with slots to reserve */
	FXT_ENGINE_NONE = 0,
	FXT_ENGINE_STOPPED, /* set up; threads are sent away on the slow path */
	FXT_ENGINE_STARTED, /* threads record */
};

/*
 * All fields are written with the lock held. Threads read some of them without it. Fields
 * that fxt_engine_initialize() or the first start of a recording sets stay as they are
 * while threads record; all threads are sent away before that start. `run`, `drops`,
 * `functions`, `wrapped`, `rolling_used`, `full`, `replies_when_full` and `broken` are read
 * with load_relaxed() or load_acquire().
 */
struct fxt_engine {
	struct fxt_lock lock;
	enum fxt_engine_state state;

	/* Arguments of fxt_engine_initialize(), or derived from them. */
	uint8_t *buffer;
	uint64_t buffer_bytes;
	struct fxt_buffer_header *header; /* at the beginning of the buffer */
	struct fxt_control *control;
	/* map of the control memory; NULL: it is mapped as a whole. Set before the first
	 * thread attaches */
	struct fxt_control_map *map;
	struct fxt_buffer_layout layout;
	enum fxt_buffering_mode mode;
	enum fxt_clock_kind clock;
	uint64_t step; /* ticks that are at least a nanosecond */
	uint64_t process_koid;
	char name[FXT_NAME_BYTES]; /* of the process */
	int pid;

	/* Runs, and state that outlives them. */

	/* the session's recording that all is set up for (fxt_control.recording) */
	uint32_t recording;
	/* generation of names and thread state: grows whenever they are forgotten */
	uint32_t generation;
	uint32_t run;           /* grows with each start and each stop: odd while started */
	uint32_t recording_run; /* the first run of the recording */
	uint32_t cleared_run;   /* the latest run that began with a clearing */
	uint64_t stopped_ticks; /* time of the latest stop */
	uint32_t drops;         /* grows whenever records that were written are dropped */

	/* Threads and names. Writers, tids and `alive` lie in memory that is zeros in a
	 * forked child. */
	struct fxt_thread_writer *writers; /* indexed by slot number, FXT_SLOTS entries */
	uint32_t first_slot;               /* no thread gets a slot below it (fxt_engine_forget) */
	struct fxt_tid *tids;              /* indexed by thread id */
	uint32_t *alive;                   /* 1; 0 in a forked child */
	/* tables indexed by slot number: a slot is taken once each has its entry */
	struct fxt_reserve by_slot[FXT_BY_SLOT];
	/* the steps of `tids` that are writable, a bit each */
	uint64_t tids_writable[FXT_TIDS * sizeof(struct fxt_tid) / FXT_RESERVE_STEP / 64];
	struct fxt_function_table functions;
	uint64_t functions_used; /* entries of the table that are not 0 */
	/* smaller tables that it replaced; they stay mapped, since a hook may be probing
	 * one */
	struct fxt_function_table outgrown[FXT_FUNCTION_TABLE_GROWTHS];
	uint32_t outgrown_count;
	uint32_t next_string; /* the index that the next durable string gets */
	/* the decisions on strings with a lower index were carried out (decisions.h) */
	uint32_t decided;
	/* 1: all functions are marked, as calls are not recorded any more (decisions.h) */
	uint32_t without_calls;
	/* number of filter changes seen. Stored before the first decision of a change is
	 * carried out; read by hooks */
	uint32_t filter_changes;
	/* The part of the filter that is about calls inside other calls, for the latest
	 * change and the one before, indexed by the change's number modulo 2. A thread
	 * switches to the later one before its next call. */
	struct fxt_callers_filter {
		uint32_t has_under, depth_limit; /* as in fxt_control */
		/* 1: frames have states, because some filter needed them. It stays 1, since
		 * calls may be open that are not recorded */
		uint32_t has_states;
	} callers_filter[2];
	/* the latest change that hooks go by; stored after callers_filter and the
	 * decisions */
	uint32_t filter_in_force;
	uint32_t next_thread; /* the index that the next durable thread record gets */
	/* 1 + number of a free slot, chained by fxt_block.next; 0 = none */
	uint32_t free_slot;
	/* slots that are taken, including those of threads not yet found dead */
	uint32_t live_slots;
	/* the number of live slots at which to look for dead threads */
	uint32_t reclaim_at;
	/* when dead threads were last looked for, by CLOCK_MONOTONIC */
	uint64_t reclaimed_ns;
	/* large shadow stacks given out; a slot that has one keeps it for later threads */
	uint32_t large_stacks_used;

	/* The buffer. */
	uint64_t durable_end; /* bytes used of the durable buffer */
	/* oneshot: address of the open durable chunk's header; 0 = none */
	uint64_t durable_chunk;
	/* sum of fxt_thread_slot.calls over threads that have lost their slots to others */
	uint64_t recycled_calls[2];
	uint64_t rolling_used; /* bytes given out of the current rolling buffer */
	/* switches so far: the current rolling buffer is wrapped & 1 */
	uint32_t wrapped;
	uint32_t stalled; /* number of writers that are FXT_WRITER_STALLED */
	bool full;        /* no buffer has room: records are being dropped */

	/* The manager. */

	/* streaming: the manager has not saved the other buffer yet */
	bool save_outstanding;
	struct fxt_packet save; /* the packet that asked for it */
	/* packets the manager had sent when `full` was noted: more may mean room */
	uint32_t replies_when_full;
	bool broken;                   /* the manager broke the protocol or sent QUIT */
	uint32_t heartbeat;            /* the latest heartbeat seen */
	uint64_t heartbeat_checked_ns; /* when it was seen, by CLOCK_MONOTONIC */
	/* how long the heartbeat has been seen to stand still */
	uint64_t heartbeat_still_ns;
};

/*
 * The life of an engine: initialize, then start and stop by turns, then terminate. A step
 * that its state does not allow changes nothing. Fuchsia's "bad state" is EBUSY here, its
 * "not initialized" EINVAL.
 *
 * fxt_engine_set_job() sets the place in a parallel job of this process and of the children
 * that it forks. Names and kernel objects of engines that are set up later have it.
 *
 * fxt_engine_initialize() sets the engine up on memory that the manager prepared and that
 * no other provider uses. It checks the control memory and writes the buffer header, the
 * initialization record, the known strings and the process's kernel object. `name` names
 * the process. Returns 0; EINVAL: sizes or control memory are not as they must be; EBUSY:
 * it is set up already; ENOMEM. On failure nothing stays mapped.
 */
void fxt_engine_set_job(const struct fxt_job *job);
int fxt_engine_initialize(struct fxt_engine *e, void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, const char *name);

/*
 * For a forked child whose forking thread was inside a hook that continues, or may
 * continue, in the child. Before this call the control memory and the buffer of the engine
 * have become the child's own: a copy of struct fxt_control, and zeros elsewhere. The hook
 * finishes its work with the engine on that memory, and nothing of it is recorded.
 * fxt_engine_was_forked() stays true.
 */
void fxt_engine_detach(struct fxt_engine *e);

/* Makes the engine's private memory zeros, as the kernel does in a forked child.
 * fxt_engine_was_forked() is true from then on. The engine is stopped. */
void fxt_engine_wipe(struct fxt_engine *e);

/*
 * In a forked child: resets the engine as if it had never been set up. The next engine
 * takes the place of its parent's private memory. A family of any number of generations
 * therefore takes as much address space as the first, and a hook that continued in the
 * child finds memory there. The slots below `first_slot` are reserved, because such a hook
 * knows a slot and a writer of its parent's.
 */
void fxt_engine_forget(struct fxt_engine *e, uint32_t first_slot);

/*
 * Begins recording. Clearing the entire buffer begins a new generation: strings, functions
 * and threads are registered anew, the initialization record among them. After any start
 * threads take the slow path first (fxt_thread_check): calls that were open when recording
 * ended are over then, and after a clearing they are forgotten. Cleared records are not
 * counted as lost; the manager restarts its collector. The first start of another recording
 * of the session (fxt_control.recording) sets up everything anew by the config of that
 * recording, whatever the mode.
 *
 * Returns 0; EINVAL: not initialized, or no such mode; EBUSY: already started, or data to
 * be cleared were handed over and are not saved yet, or a thread is held in the middle of a
 * write to the buffer of an earlier recording; EPROTO: the manager broke the protocol
 * before.
 */
int fxt_engine_start(struct fxt_engine *e, enum fxt_start_mode mode);

/* Reports a start to the manager. To be called once everything that is to be recorded will
 * be. */
void fxt_engine_send_started(struct fxt_engine *e);

/* Wakes the manager for triggers that calls have raised, unless packets are waiting that
 * will wake it anyway. */
void fxt_engine_send_triggered(struct fxt_engine *e);

/* Sends the manager an alert; its first 14 bytes count. False: the manager has not taken
 * other packets yet, and the remaining room is kept for packets that cannot wait. */
bool fxt_engine_send_alert(struct fxt_engine *e, const char *name);

/*
 * Ends recording: closes every chunk and publishes the buffer's ends. Idempotent. 0;
 * ENOMEM: records were dropped since the generation began (num_records_dropped); EINVAL:
 * not initialized.
 */
int fxt_engine_stop(struct fxt_engine *e);

/* Stops, and unmaps the memory that initialize mapped. No thread may be inside a hook or
 * enter one. Returns 0; EINVAL: not initialized. */
int fxt_engine_terminate(struct fxt_engine *e);

/* Makes the tables of `by_slot` writable for the first `count` slots. With the lock held.
 * False: there is no room. */
bool fxt_engine_reach_slots(struct fxt_engine *e, uint32_t count);

/*
 * Takes and releases the engine's lock. All signals of the thread are blocked while it is
 * held; `mask` is the value to restore. A DEBUG=1 build checks the engine's state at each
 * release (valid.h).
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

/* True in a child if its parent set the engine up: the child must forget everything and
 * begin anew. */
static inline bool fxt_engine_was_forked(const struct fxt_engine *e)
{
	return e->alive && load_relaxed(e->alive) == 0;
}

/*
 * The writer's side of the sequence lock control.chunk_sequence. Each change of which
 * thread has which chunk is made with the engine's lock held, between begin and end. A
 * snapshot that finds the count odd, or changed, is copied again (snapshot.h). The fence
 * orders the count before the change: a reader that sees any part of the change also sees
 * the count. It pairs with the fences of snapshot.c.
 */
static inline void fxt_engine_change_begin(struct fxt_engine *e)
{
	store_relaxed(&e->control->chunk_sequence, e->control->chunk_sequence + 1);
	full_fence();
}

/* Takes back fxt_engine_change_begin() if nothing was changed. The count is as before, and
 * a snapshot that was taken in between counts as consistent. */
static inline void fxt_engine_change_cancel(struct fxt_engine *e)
{
	store_release(&e->control->chunk_sequence, e->control->chunk_sequence - 1);
}

/* Release: the whole change comes before the even count. Pairs with the acquire in
 * snapshot.c. */
static inline void fxt_engine_change_end(struct fxt_engine *e)
{
	store_release(&e->control->chunk_sequence, e->control->chunk_sequence + 1);
}

#endif
