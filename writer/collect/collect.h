/*
 * writer/collect/ is the reading side of a trace buffer: it takes records out of memory that an agent shares,
 * trusting none of it. Used by the manager for its providers and by a standalone agent for itself, hence no
 * malloc and no stdio here.
 *
 * Every call checks the buffer header (the rules a Fuchsia trace manager applies), each chunk field and, in a
 * copy of its own (copy.h), the framing of each record before it hands out a byte. What is handed out is well
 * framed; whatever is not, is left out and named in `reason`.
 */
#ifndef FXT_WRITER_COLLECT_COLLECT_H
#define FXT_WRITER_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include "copy.h"
#include "writer/buffer.h"
#include "writer/control_map.h"
#include "writer/loss.h"
#include "writer/shared.h"

/* How the process of a provider ended, which decides what becomes of calls still open. */
enum fxt_ending {
	FXT_ENDED_NORMALLY,  /* exit, _exit: they are complete, end there, and are marked abandoned */
	FXT_ENDED_BY_SIGNAL, /* they appear as begun and not ended */
	FXT_STILL_RUNNING,   /* as ENDED_BY_SIGNAL, and by committed lengths only */
};

/* How far a slot's chunks were handed out ahead of their buffer (fxt_collect_ahead). */
struct fxt_slot_ahead {
	uint32_t round;     /* of the collector: the rest holds in that round alone */
	uint32_t at;        /* its latest chunk, in the rolling buffer; those before were handed out whole */
	uint32_t bytes;     /* of that chunk */
	uint32_t has_names; /* 1: among them are names that hold in the chunk alone */
	uint32_t pass;      /* of fxt_collect_ahead(), the latest that left a chunk of the slot unfinished */
	uint32_t reserved[3];
};

/* Calls that were left out (elided.h). */
struct fxt_elided_sum {
	uint64_t calls;
	uint64_t ns; /* spent in them */
};

struct fxt_collector {
	const uint8_t *buffer; /* mapped trace buffer, buffer_bytes long */
	uint64_t buffer_bytes;
	struct fxt_control *control; /* mapped control memory (fxt_control_bytes()) */
	struct fxt_control_map *map; /* of it; NULL: it is mapped as a whole */
	struct fxt_copy copy;        /* through which everything goes that is handed out */

	enum fxt_buffering_mode mode; /* as the manager set it, whatever the memory says now */
	bool elides_calls;            /* the same: whether the memory has sums of such calls (elided.h) */
	uint64_t process_koid;
	/* What the provider counts is bounded by the time it had: since `earliest_ticks` (0: it is believed),
	 * on so many CPUs. */
	uint64_t earliest_ticks, cpus;
	uint64_t ticks_per_second; /* as the manager set it */
	struct fxt_buffer_layout layout;
	uint64_t buffer_address; /* where the agent has the buffer mapped */
	struct fxt_slot_note
	        *notes;  /* one a slot; NULL until the rest is taken, or fxt_collector_reserve() */
	bool takes_rest; /* fxt_collect_rest() is under way: chunks may be open */
	uint64_t durable_committed;
	uint64_t durable_saved;       /* bytes of the durable buffer that were handed out */
	uint32_t saves;               /* rolling buffers handed out */
	uint32_t next_wrapped;        /* wrapped count of the next buffer to be saved */
	struct fxt_slot_ahead *ahead; /* one a slot: of that buffer, what was handed out; NULL: nothing was */
	uint32_t ahead_round;         /* grows whenever `ahead` holds no more */
	uint32_t ahead_passes;        /* of fxt_collect_ahead() */
	bool violated;                /* the call under way found a rule broken */
	/* Sums over what was handed out; copy.events is the number of event records. */
	uint64_t threads;                 /* thread slots seen, reuses counted */
	uint64_t waited_ticks;            /* that these waited for the manager, all together */
	struct fxt_losses losses;         /* complete after fxt_collect_rest() */
	struct fxt_elided_sum elided;     /* the same */
	struct fxt_losses earlier_losses; /* of these: from before the buffer was cleared */
	const char *reason; /* why the last call failed or left something out; NULL = nothing was wrong */

	/* Is told of each thread how many of its calls a signal left open; or NULL. */
	void (*left_open)(void *context, uint64_t thread_koid, uint64_t calls);
	void *left_open_context;
};

/* Fills in a collector for a provider whose memory was just handed over. copy.emit_record may be set then. */
void fxt_collector_init(struct fxt_collector *c, const void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, fxt_emit *emit, void *context);

/* Maps now what the collector needs in later calls, which may come when nothing can be mapped any more.
 * Returns 0 or ENOMEM. */
int fxt_collector_reserve(struct fxt_collector *c);

/*
 * The provider has begun anew on a cleared buffer (enum fxt_start_mode): what comes is handed out from its
 * beginning. The sums go on.
 */
void fxt_collector_restart(struct fxt_collector *c, enum fxt_start_mode mode);

/*
 * Streaming: hands out new durable data, then the rolling buffer a SAVE_BUFFER packet names.
 * 0, EPROTO (the packet or the memory broke a rule: `reason`; the provider is to be aborted), or emit's
 * error.
 */
int fxt_collect_saved_buffer(struct fxt_collector *c, const struct fxt_packet *packet);

/*
 * Streaming: hands out new durable data, then what each thread has committed to the current rolling buffer by
 * now and what was not handed out before. The other calls leave out what this one handed out. The provider
 * goes on meanwhile and notices nothing.
 *
 * What the agent clears meanwhile (enum fxt_start_mode) is not handed out, if copy.guard is the word by which
 * it is told to. Returns as above. 0 does not say that everything was handed out: a thread that changes its
 * chunk just then is left for a later call.
 */
int fxt_collect_ahead(struct fxt_collector *c);

/*
 * The last call for a provider: new durable data, the older rolling buffer if it was not handed out, the
 * current one up to what each thread committed, then a slice for every loss not shown yet and, by `ending`,
 * the calls still open. `now` is the time of the end in ticks of the session's clock. 0, EPROTO as above, or
 * emit's error.
 */
int fxt_collect_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now);

/* The latest moment before `until` at which a thread was recording for certain: it began a call, or one of
 * its slices ended. 0: there is none. For a process that has ended, before its rest is taken. */
uint64_t fxt_collect_latest(const struct fxt_collector *c, uint64_t until);

/* Gives back what a collector holds. The sums stay. */
void fxt_collector_free(struct fxt_collector *c);

#endif
