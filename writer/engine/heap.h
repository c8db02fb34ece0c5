/*
 * The live heap of a process, as counters in its trace. Threads keep sums in the control
 * memory, and the reader of that memory adds them up. A thread that allocates at that
 * moment is counted or not.
 */
#ifndef FXT_WRITER_HEAP_H
#define FXT_WRITER_HEAP_H

#include <stdbool.h>
#include "writer/shared/control.h"

/*
 * Live heap: allocations less frees made by the threads of one slot, in bytes as the
 * allocator counts. A block may be freed by another thread than the one that allocated it.
 * Only the sum over all slots therefore has a meaning, and a new thread in a slot continues
 * its sums. Written by the thread; the nested ones by its signal handlers (add_relaxed).
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

/* The first 16 sums count even if no thread has their slots: threads without a slot use
 * their nested counters. */
#define FXT_HEAP_SHARED_SUMS 16u

struct fxt_heap_live {
	int64_t bytes;
	int64_t objects;
};

/* Marks the node of a call path (agent/heap/callpath.h) among userspace objects: no address
 * has this bit. */
#define FXT_PATH_BIT (UINT64_C(1) << 63)

/* The pointer in the object of the path with this number; 0 for 0, the unknown path. */
static inline uint64_t fxt_heap_path_of_number(uint64_t number)
{
	return number ? FXT_PATH_BIT | number : 0;
}

/* The name in a call path that stands for functions left out because the path is too
 * deep. */
#define FXT_HEAP_LEFT_OUT "(functions left out)"

/* Returns all sums added up. */
struct fxt_heap_live fxt_heap_live(const struct fxt_control *control);

#define FXT_HEAP_COUNTERS_NAME    "heap" /* category and name of the record */
#define FXT_HEAP_COUNTERS_BYTES   "live bytes"
#define FXT_HEAP_COUNTERS_OBJECTS "live objects"
#define FXT_HEAP_COUNTERS_NS      UINT64_C(10000000) /* time from one record to the next */
#define FXT_HEAP_COUNTERS_WORDS   24

/* The counters as they were recorded last. They are recorded again only after a change. All
 * zeros at first. */
struct fxt_heap_counters {
	bool begun;
	struct fxt_heap_live live;
	uint64_t next_ns; /* when the next record is due */
};

/*
 * Writes the record of the live heap at `ticks`, with inline names: bytes as the allocator
 * counts them, and objects. It is a large blob of no bytes with the metadata of an event.
 * The Perfetto UI would draw a counter event as "heap:live bytes:0", beside the tracks that
 * it gets at the end (perfetto/live_tracks.h); it ignores the blob. The first time an
 * initialization record stands before it. Without that a reader could not convert its time,
 * since the provider's own may come later in the archive. Returns their size in words; 0:
 * nothing has changed since the last record, or the live heap is not known, because the
 * heap is not recorded, or not from the beginning.
 */
uint64_t fxt_heap_counters_put(struct fxt_heap_counters *last, const struct fxt_control *control,
        uint64_t process_koid, uint64_t ticks, uint64_t record[FXT_HEAP_COUNTERS_WORDS]);

/* The same if a record is due, by CLOCK_MONOTONIC. */
uint64_t fxt_heap_counters_due(struct fxt_heap_counters *last, const struct fxt_control *control,
        uint64_t process_koid, uint64_t record[FXT_HEAP_COUNTERS_WORDS]);

/* Reads what is to be recorded: auto, objects, sampled:BYTES, counters or off. Returns
 * NULL, or what is wrong with the text as half a sentence; nothing is stored then. */
const char *fxt_heap_mode_read(const char *text, enum fxt_heap_mode *mode, uint64_t *sample_bytes);

/* Reads the source of call paths: auto, shadow, unwind or none. Returns as above. */
const char *fxt_heap_stacks_read(const char *text, enum fxt_heap_stacks *stacks);

#endif
