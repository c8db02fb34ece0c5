/*
 * What the two halves of a collector share: collect.c takes the records in the buffers, collect_slots.c what
 * lies in the thread slots beside them.
 */
#ifndef FXT_WRITER_COLLECT_PARTS_H
#define FXT_WRITER_COLLECT_PARTS_H

#include "atomics.h"
#include "collect.h"

/* What a collection knows of a slot before it comes to the slot itself. */
struct fxt_slot_note {
	uint64_t committed; /* sampled before any record was taken */
	/* Of the slices seen so far (fxt_collect_see_slices): the earliest start, 0 = there is none; and the
	 * longest time from one such start to the one it took over from. */
	uint64_t oldest;
	uint64_t gap_start, gap_end;
	uint64_t told; /* records that these slices tell to be lost */
};

static inline const struct fxt_thread_slot *fxt_collect_slot(const struct fxt_collector *c, uint32_t number)
{
	return (const struct fxt_thread_slot *)((const uint8_t *)c->control + FXT_SLOTS_OFFSET) + number;
}

/* An agent address inside the trace buffer, or at its very end, as an offset; 0 if it is none. */
static inline uint64_t fxt_collect_offset(const struct fxt_collector *c, uint64_t address)
{
	uint64_t offset = address - c->buffer_address;

	return address && offset <= c->buffer_bytes && offset % 8 == 0 ? offset : 0;
}

/*
 * Hands out the records in [data, data + bytes), but for metadata records, which only a manager may write.
 * Stops at the first that is not well framed.
 */
void fxt_collect_emit(struct fxt_collector *c, const uint8_t *data, uint64_t bytes);

/*
 * Circular: takes note of the slices among a thread's records, so that what was overwritten before them can
 * be shown where they left room for it.
 */
void fxt_collect_see_slices(struct fxt_collector *c, uint32_t slot, const uint8_t *data, uint64_t bytes);

/* Sums up and hands out what is in a slot, while fxt_collector.notes is there. */
void fxt_collect_take_slot(struct fxt_collector *c, uint32_t number, uint64_t *large_stacks_seen,
        enum fxt_ending ending, uint64_t now);

/* Sums up the losses of threads that had no slot, or whose slot went to another; what no slice of theirs
 * tells becomes an instant of the process. */
void fxt_collect_recycled(struct fxt_collector *c, uint64_t now);

#endif
