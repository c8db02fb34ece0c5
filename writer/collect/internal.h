/*
 * Declarations shared by the parts of a collector: chunks.c takes the records in the
 * buffers, unfinished.c the data in the thread slots beside them, and collect.c calls both.
 * It also has the functions by which a collector, or a snapshot of a thread that goes on in
 * the meantime, finds the open calls of a slot and its last record.
 */
#ifndef FXT_WRITER_COLLECT_INTERNAL_H
#define FXT_WRITER_COLLECT_INTERNAL_H

#include "writer/shared/atomics.h"
#include "collect.h"
#include "writer/format/format.h"
#include "writer/engine/waits.h"

/* Facts about a slot that a collection knows before it comes to the slot itself. */
struct fxt_slot_note {
	uint64_t committed; /* sampled before any record was taken */
	/* From the slices seen so far (fxt_collect_on_slices): the earliest start, 0 =
	 * there is none; and the longest time between such a start and the one it
	 * replaced. */
	uint64_t oldest;
	uint64_t gap_start, gap_end;
	uint64_t shown; /* lost records: the sum over these slices that show a loss */
};

/*
 * For a function that reads memory while others may write to it. Its caller detects the
 * race by values that it reads before and after, and then throws the result away, so a
 * thread sanitizer should not report it.
 */
#define RACING __attribute__((no_sanitize("thread")))

/*
 * Whether the record that ends at `end` in the trace buffer is the one that began at
 * `start`, which would then be shown twice. A thread commits a record first; then it takes
 * the call's frame off its shadow stack, or clears the loss that the record shows. If it
 * dies in between, both are there. Starts are unique on a thread, so the start identifies
 * the record. With its arguments, the record of a call or a span may have any length; records
 * of more than `most` words are not looked for.
 */
static RACING inline bool fxt_is_last_record(
        const uint8_t *buffer, uint64_t end, uint64_t start, uint64_t most)
{
	for (uint64_t words = FXT_CALL_WORDS; words <= most; words++) {
		if (end < sizeof(struct fxt_buffer_header) + words * 8)
			return false;
		const uint64_t *record = (const uint64_t *)(buffer + end) - words;

		if (fxt_record_type(record[0]) == FXT_RECORD_EVENT && fxt_record_words(record[0]) == words &&
		        record[1] == start)
			return true;
	}
	return false;
}

/* The open calls of a slot, in the control memory. */
struct fxt_shadow_stack_view {
	uint64_t offset; /* offset of the first frame, which is the oldest */
	uint64_t frames;
	/* the number of the large stack that they lie in; FXT_LARGE_STACKS: the slot's own
	 * small one */
	uint64_t large;
};

/*
 * Finds the calls below `top`; `frames` is 0 for a top that points into no shadow stack.
 * The top decides which stack it is, not the slot's stack_offset: a thread that died while
 * it moved to a large stack has its calls where its top is.
 */
static inline struct fxt_shadow_stack_view fxt_shadow_stack_find(
        const struct fxt_control *control, uint32_t number, uint64_t top)
{
	uint64_t end = top - load_relaxed(&control->control_address);
	uint64_t begin = FXT_STACKS_OFFSET + number * FXT_SMALL_STACK_BYTES, bytes = FXT_SMALL_STACK_BYTES;
	struct fxt_shadow_stack_view found = {.large = FXT_LARGE_STACKS};

	if (end > FXT_LARGE_STACKS_OFFSET && end <= FXT_CONTROL_BYTES) {
		found.large = (end - 1 - FXT_LARGE_STACKS_OFFSET) / FXT_LARGE_STACK_BYTES;
		begin = FXT_LARGE_STACKS_OFFSET + found.large * FXT_LARGE_STACK_BYTES;
		bytes = FXT_LARGE_STACK_BYTES;
	}
	/* behind the sentinel */
	found.offset = begin + fxt_stack_color(number) + sizeof(struct fxt_frame);
	if (end >= found.offset && end <= begin + bytes &&
	        (end - found.offset) % sizeof(struct fxt_frame) == 0)
		found.frames = (end - found.offset) / sizeof(struct fxt_frame);
	return found;
}

/* Returns an agent address inside the trace buffer, or at its very end, as an offset; 0 for
 * any other address. */
static inline uint64_t fxt_collect_offset(const struct fxt_collector *c, uint64_t address)
{
	uint64_t offset = address - c->buffer_address;

	return address && offset <= c->buffer_bytes && offset % 8 == 0 ? offset : 0;
}

static inline const struct fxt_buffer_header *fxt_collect_header(const struct fxt_collector *c)
{
	return (const struct fxt_buffer_header *)c->buffer;
}

/* Notes why something is left out. The first reason is kept, since others often follow from
 * it. */
static inline void fxt_collect_leave_out(struct fxt_collector *c, const char *reason)
{
	if (!c->reason)
		c->reason = reason;
}

/* The same for a broken rule after which the rest of a buffer cannot be read: the call
 * returns EPROTO. */
static inline void fxt_collect_violated(struct fxt_collector *c, const char *reason)
{
	fxt_collect_leave_out(c, reason);
	c->violated = true;
}

/* Hands out the durable data up to `end` that were not handed out before. */
void fxt_collect_durable(struct fxt_collector *c, uint64_t end);

enum fxt_chunk_kind { FXT_DURABLE_CHUNKS, FXT_THREAD_CHUNKS };

/* Hands out the chunks of one kind of a rolling buffer; `is_ahead`: without the records
 * handed out ahead. Chunks may be open while fxt_collector.takes_rest. */
void fxt_collect_chunks(struct fxt_collector *c, uint32_t wrapped, enum fxt_chunk_kind kind, bool is_ahead);

/* Makes room for notes of records handed out ahead. Returns 0 or ENOMEM. */
int fxt_collect_begin_ahead(struct fxt_collector *c);

/* Hands out ahead the records of the next buffer to be saved, and the durable data they
 * need. */
void fxt_collect_chunks_ahead(struct fxt_collector *c);

/* Forgets what was handed out ahead: nothing of the next buffer to be saved was handed
 * out. */
void fxt_collect_forget_ahead(struct fxt_collector *c);

void fxt_collect_end_ahead(struct fxt_collector *c);

/*
 * Circular: takes note of the slices among a thread's records, so that the records
 * overwritten before them can be shown in the time that the slices leave free.
 */
void fxt_collect_on_slices(struct fxt_collector *c, uint32_t slot, const uint8_t *data, uint64_t bytes);

/* Sums up and hands out the contents of a slot, while fxt_collector.notes is there. */
void fxt_collect_take_slot(struct fxt_collector *c, uint32_t number, uint64_t *large_stacks_seen,
        enum fxt_ending ending, uint64_t now);

/* Sums up the losses of threads that had no slot, or lost it to another thread. Losses that
 * no slice of theirs shows become an instant of the process. */
void fxt_collect_recycled(struct fxt_collector *c, uint64_t now);

/* Sums up and hands out the elided calls, while the slots are as fxt_collect_take_slot()
 * saw them. */
void fxt_collect_elided(struct fxt_collector *c, uint64_t now);

/* Whether the call that began at `start` is among the elided ones: its thread died before
 * it took the call off its stack. */
bool fxt_collect_was_eliding(const struct fxt_collector *c, uint32_t slot, uint64_t start);

#define FXT_CALLS_A_TICK 64 /* for ticks of some 40 ns */
/* tolerance: clocks and ends are not known more exactly */
#define FXT_SLACK_TICKS (UINT64_C(1) << 20)

/* Returns the ticks that this many threads at a time had; UINT64_MAX: that is not known. */
static inline uint64_t fxt_collect_most(const struct fxt_collector *c, uint64_t threads, uint64_t now)
{
	uint64_t most;

	return !c->earliest_ticks || now < c->earliest_ticks ||
	                       __builtin_mul_overflow(
	                               now - c->earliest_ticks + FXT_SLACK_TICKS, threads, &most)
	               ? UINT64_MAX
	               : most;
}

/* Returns what the provider has counted by `now`, of ticks or of calls, in this many
 * threads at a time. A count that there was no time for is cut, and noted as the reason. */
static inline uint64_t fxt_collect_believe_ticks(
        struct fxt_collector *c, uint64_t ticks, uint64_t threads, uint64_t now)
{
	uint64_t most = fxt_collect_most(c, threads, now);

	if (ticks <= most)
		return ticks;
	fxt_collect_leave_out(c, "it counts more calls than it had time for; the count was cut");
	return most;
}

static inline uint64_t fxt_collect_believe_calls(
        struct fxt_collector *c, uint64_t calls, uint64_t threads, uint64_t now)
{
	return fxt_collect_believe_ticks(c, calls, threads * FXT_CALLS_A_TICK, now);
}

#endif
