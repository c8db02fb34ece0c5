/*
 * The heap of a trace: every block from its allocation to its free, the tree of call paths that allocated
 * them, and what lived when. Built from what the agent writes (agent/heap.h): userspace objects for blocks
 * and for the nodes of paths, instants of category "heap" named "allocate" and "free" that carry a pointer.
 *
 * Each process has a heap of its own. Where blocks were sampled, every number here is an estimate: a block
 * stands for as many as its chance to be sampled says. Bytes are those the program asked for. Times are
 * nanoseconds.
 *
 * Order: clocks of two processors may be read a little out of order, so a block may seem to be allocated at
 * an address that is freed a moment later; such a free belongs to the earlier block. A free of an address
 * where nothing lives is of a block allocated before the recording began.
 */
#ifndef FXT_READER_HEAP_H
#define FXT_READER_HEAP_H

#include "tables.h"

#define FXT_HEAP_NO_BLOCK UINT32_MAX
#define FXT_HEAP_LIVES    UINT64_MAX

struct fxt_heap_sums {
	double blocks;
	double bytes;
};

struct fxt_heap_block {
	uint64_t pointer;
	uint64_t size;
	uint64_t start;
	uint64_t end; /* FXT_HEAP_LIVES: never freed */
	uint32_t node;
	uint32_t thread;
	double weight;  /* blocks it stands for */
	bool temporary; /* freed at once: no other event of its thread's heap came between */
};

/* A call path is a node and all its parents; nodes of one path end have the sums of what that very path
 * allocated. */
struct fxt_heap_node {
	uint64_t id;
	uint32_t process; /* index into processes */
	uint32_t parent;  /* index; the root of its process is its own parent */
	uint32_t name;    /* id of a string */
	struct fxt_heap_sums allocated, temporary, at_peak, leaked;
};

struct fxt_heap_process {
	uint64_t koid;
	uint32_t provider;     /* its id */
	uint32_t root;         /* the node of unknown paths */
	uint64_t sample_bytes; /* 0: every block was recorded */
	struct fxt_heap_sums allocated, temporary, at_peak, leaked;
	double frees;
	uint64_t unknown_frees; /* of blocks allocated before */
	uint64_t peak;          /* when most bytes lived, first */
	uint64_t first, last;   /* events; last is the end of the heap's history */
	uint64_t repaired;      /* blocks whose free came a moment after their successor's allocation */
};

struct fxt_heap_event {
	uint64_t ns;
	uint64_t pointer;
	uint32_t process;
	uint32_t block; /* FXT_HEAP_NO_BLOCK: a free */
	uint32_t thread;
	uint32_t order; /* in the archive */
};

struct fxt_heap {
	struct fxt_tables tables;
	struct fxt_heap_process *processes;
	struct fxt_heap_node *nodes;
	struct fxt_heap_block *blocks;
	struct fxt_heap_event *events; /* by process, then by time */
	size_t process_count, node_count, block_count, event_count;
	uint64_t records_lost;
	uint64_t malformed;
	struct fxt_fault fault;

	size_t process_room, node_room, block_room, event_room;
	struct fxt_index process_index, node_index;
	struct fxt_view pending; /* the object before an instant; .type says whether there is one */
	uint32_t category, allocate, free, recorded, tracer;
};

/*
 * Reads a whole archive, which must stay open as long as the heap is in use. Times are by ticks_per_second;
 * 0: by the archive's initialization records.
 */
void fxt_heap_read(struct fxt_heap *heap, const struct fxt_archive *archive, uint64_t ticks_per_second);
void fxt_heap_free(struct fxt_heap *heap);

/*
 * Plays the events of a process in their order: `step` is called after each that changed what lives. For what
 * the sums do not hold: timelines.
 */
void fxt_heap_play(const struct fxt_heap *heap, uint32_t process,
        void (*step)(void *context, uint64_t ns, struct fxt_heap_sums live), void *context);

#endif
