/*
 * The live heap of a process, as counters in its trace: the sums its threads keep in the control memory,
 * added up by whoever reads that memory. A thread that allocates meanwhile is counted or not.
 */
#ifndef FXT_WRITER_HEAP_H
#define FXT_WRITER_HEAP_H

#include <stdbool.h>
#include "control.h"

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

static inline struct fxt_heap_sum *fxt_heap_sum(const struct fxt_control *control, uint32_t slot)
{
	return (struct fxt_heap_sum *)((uint8_t *)control + FXT_HEAP_SUMS_OFFSET) + slot;
}

/* The first so many sums count too where no thread has their slots: their nested ones are for whoever has no
 * slot. */
#define FXT_HEAP_SHARED_SUMS 16u

struct fxt_heap_live {
	int64_t bytes;
	int64_t objects;
};

/* Tells the node of a call path (agent/heap/callpath.h) from other userspace objects: no address has this
 * bit. */
#define FXT_PATH_BIT (UINT64_C(1) << 63)

/* The pointer in that object of the path of this number; 0 for 0, the path of which nothing is known. */
static inline uint64_t fxt_heap_path_of_number(uint64_t number)
{
	return number ? FXT_PATH_BIT | number : 0;
}

/* The name that a call path has in place of excluded functions, for it is too deep. */
#define FXT_HEAP_LEFT_OUT "(functions left out)"

/* All sums together. */
struct fxt_heap_live fxt_heap_live(const struct fxt_control *control);

#define FXT_HEAP_COUNTERS_NAME    "heap" /* category and name of the record */
#define FXT_HEAP_COUNTERS_BYTES   "live bytes"
#define FXT_HEAP_COUNTERS_OBJECTS "live objects"
#define FXT_HEAP_COUNTERS_NS      UINT64_C(10000000) /* from one record to the next */
#define FXT_HEAP_COUNTERS_WORDS   24

/* The counters as they were recorded last: they are recorded again only when they have changed. All zeros at
 * first. */
struct fxt_heap_counters {
	bool begun;
	struct fxt_heap_live live;
	uint64_t next_ns; /* when it is time again */
};

/*
 * The record of the live heap at `ticks`, its names inline: bytes as the allocator counts them, and objects.
 * It is a large blob of no bytes, whose metadata are those of an event: a counter event would be drawn by the
 * Perfetto UI as "heap:live bytes:0", beside the rows that it gets at the end (symbolizer/live_rows.h); this
 * it passes over. The first time an initialization record stands before it, without which a reader could not
 * convert its time: the provider's own may come later in the archive.
 * Returns their size in words; 0: nothing has changed since the last record, or what lives is not known: the
 * heap is not recorded, or not from the beginning.
 */
uint64_t fxt_heap_counters_put(struct fxt_heap_counters *last, const struct fxt_control *control,
        uint64_t process_koid, uint64_t ticks, uint64_t record[FXT_HEAP_COUNTERS_WORDS]);

/* The same when it is time to, by CLOCK_MONOTONIC. */
uint64_t fxt_heap_counters_due(struct fxt_heap_counters *last, const struct fxt_control *control,
        uint64_t process_koid, uint64_t record[FXT_HEAP_COUNTERS_WORDS]);

/* What is to be recorded: auto, objects, sampled:BYTES, counters or off. Returns NULL, or what is wrong with
 * the text as half a sentence; nothing is stored then. */
const char *fxt_heap_mode_read(const char *text, enum fxt_heap_mode *mode, uint64_t *sample_bytes);

/* Where call paths come from: auto, shadow, unwind or none. The same. */
const char *fxt_heap_stacks_read(const char *text, enum fxt_heap_stacks *stacks);

#endif
