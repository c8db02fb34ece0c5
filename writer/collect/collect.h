/*
 * writer/collect/ is the reading side of a trace buffer: it takes records out of memory
 * that an agent shares, and trusts none of it. The manager uses it for its providers and a
 * standalone agent for itself, hence no malloc and no stdio here.
 *
 * Every call checks the buffer header (the rules a Fuchsia trace manager applies), each
 * chunk field and, in a copy of its own (copy.h), the framing of each record before it
 * hands out a byte. Everything handed out is well framed. Anything else is left out and
 * named in `reason`.
 */
#ifndef FXT_WRITER_COLLECT_COLLECT_H
#define FXT_WRITER_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include "copy.h"
#include "writer/shared/buffer.h"
#include "writer/shared/control_map.h"
#include "writer/engine/loss.h"
#include "writer/shared/shared.h"

/* The end of a provider's process. It decides how open calls are recorded. */
enum fxt_ending {
	/* exit, _exit: they are complete, end there, and are marked abandoned */
	FXT_ENDED_NORMALLY,
	FXT_ENDED_BY_SIGNAL, /* they appear as begun and not ended */
	FXT_STILL_RUNNING,   /* as ENDED_BY_SIGNAL, and by committed lengths only */
	/* the recording was stopped: ENDED_BY_SIGNAL for a thread in a wait, which goes on,
	 * and ENDED_NORMALLY for the others */
	FXT_WAS_STOPPED,
};

/* The part of a slot's chunks that was handed out ahead of their buffer
 * (fxt_collect_ahead). */
struct fxt_slot_ahead {
	/* the collector's ahead_round; the other fields hold in that round alone */
	uint32_t round;
	/* offset of its latest chunk in the rolling buffer; earlier chunks were handed out
	 * whole */
	uint32_t at;
	uint32_t bytes;     /* bytes handed out of that chunk */
	uint32_t has_names; /* 1: these bytes contain names that hold in the chunk alone */
	/* the latest pass of fxt_collect_ahead() that left a chunk of the slot
	 * unfinished */
	uint32_t pass;
	uint32_t reserved[3];
};

/* Elided calls (elided.h). */
struct fxt_elided_sum {
	uint64_t calls;
	uint64_t ns; /* spent in them */
};

struct fxt_collector {
	const uint8_t *buffer; /* mapped trace buffer, buffer_bytes long */
	uint64_t buffer_bytes;
	struct fxt_control *control; /* mapped control memory (fxt_control_bytes()) */
	/* map of the control memory; NULL: it is mapped as a whole */
	struct fxt_control_map *map;
	struct fxt_copy copy; /* everything that is handed out passes through it */

	/* as the manager set it, whatever the memory says now */
	enum fxt_buffering_mode mode;
	/* as the manager set it: whether the memory has sums of elided calls (elided.h) */
	bool elides_calls;
	uint64_t process_koid;
	/* The provider's counts are bounded by the time it had: since `earliest_ticks` (0:
	 * its counts are believed), on this many CPUs. */
	uint64_t earliest_ticks, cpus;
	uint64_t ticks_per_second; /* as the manager set it */
	struct fxt_buffer_layout layout;
	uint64_t buffer_address; /* where the agent has the buffer mapped */
	/* one for each slot; NULL until the rest is taken, or fxt_collector_reserve() */
	struct fxt_slot_note *notes;
	bool takes_rest; /* fxt_collect_rest() is running: chunks may be open */
	uint64_t durable_committed;
	uint64_t durable_saved; /* bytes of the durable buffer that were handed out */
	uint32_t saves;         /* rolling buffers handed out */
	uint32_t next_wrapped;  /* wrapped count of the next buffer to be saved */
	/* one for each slot: the part of that buffer that was handed out; NULL: none was */
	struct fxt_slot_ahead *ahead;
	/* grows whenever the contents of `ahead` become invalid */
	uint32_t ahead_round;
	uint32_t ahead_passes; /* passes of fxt_collect_ahead() */
	bool violated;         /* the current call found a rule broken */
	/* Sums over the records handed out; copy.events is the number of event records. */
	uint64_t threads; /* thread slots seen, reuses counted */
	/* ticks these threads waited for the manager, summed */
	uint64_t waited_ticks;
	struct fxt_losses losses;     /* complete after fxt_collect_rest() */
	struct fxt_elided_sum elided; /* complete after fxt_collect_rest() */
	/* the part of `losses` from before the buffer was cleared */
	struct fxt_losses earlier_losses;
	/* why the last call failed or left something out; NULL = nothing was wrong */
	const char *reason;

	/* Called for each thread with the number of its calls that a signal or a stop left
	 * open; or NULL. */
	void (*left_open)(void *context, uint64_t thread_koid, uint64_t calls);
	void *left_open_context;
};

/* Fills in a collector for a provider whose memory was just handed over. copy.emit_record
 * may be set then. */
void fxt_collector_init(struct fxt_collector *c, const void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, fxt_emit *emit, void *context);

/* Maps now the memory that the collector needs in later calls, which may come when nothing
 * can be mapped any more. Returns 0 or ENOMEM. */
int fxt_collector_reserve(struct fxt_collector *c);

/*
 * To be called when the provider has begun anew on a cleared buffer (enum fxt_start_mode):
 * records are handed out from its beginning. The sums go on.
 */
void fxt_collector_restart(struct fxt_collector *c, enum fxt_start_mode mode);

/* Streaming: hands out all durable data once more, from the beginning, before the next
 * records: these go to another archive. */
void fxt_collector_repeat_names(struct fxt_collector *c);

/*
 * Streaming: hands out new durable data, then the rolling buffer that a SAVE_BUFFER packet
 * names. Returns 0; EPROTO: the packet or the memory broke a rule (`reason`), and the
 * provider is to be aborted; or emit's error.
 */
int fxt_collect_saved_buffer(struct fxt_collector *c, const struct fxt_packet *packet);

/*
 * Streaming: hands out new durable data, then the records that each thread has committed to
 * the current rolling buffer by now and that were not handed out before. The other calls
 * leave out what this one handed out. The provider goes on and notices nothing.
 *
 * Records that the agent clears during the call (enum fxt_start_mode) are not handed out,
 * if copy.guard is the word of the command that clears them. Returns as above. 0 does not
 * say that everything was handed out: a thread that changes its chunk at that moment is
 * left for a later call.
 */
int fxt_collect_ahead(struct fxt_collector *c);

/*
 * The last call for a provider: hands out new durable data, the older rolling buffer if it
 * was not handed out, the current one up to the committed length of each thread, then a
 * slice for every loss not shown yet and, by `ending`, the calls still open. `now` is the
 * time of the end in ticks of the session's clock. Open calls end then, or with the last
 * record of their thread if that is later. Returns 0, EPROTO as above, or emit's error.
 */
int fxt_collect_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now);

/* Returns the latest moment before `until` at which a thread was recording for certain: it
 * began a call, or one of its slices ended. 0: there is none. For a process that has ended,
 * before its rest is taken. */
uint64_t fxt_collect_latest(const struct fxt_collector *c, uint64_t until);

/* Frees the memory of a collector. The sums stay. */
void fxt_collector_free(struct fxt_collector *c);

#endif
