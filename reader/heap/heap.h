/*
 * The heap of a trace: every block from its allocation to its free, the tree of call paths
 * that allocated blocks, and the live blocks over time. It is built from the agent's
 * records (agent/heap/heap.h): userspace objects for blocks and for the nodes of paths, and
 * instants of category "heap" named "allocate" and "free" that carry a pointer.
 *
 * Each image of a process has a heap of its own. If blocks were sampled, every number here
 * is an estimate: a block stands for as many as its chance to be sampled implies. Bytes are
 * those that the program asked for. Times are nanoseconds.
 *
 * Blocks that the C library keeps for itself, such as the buffer of stdout, are no leaks of
 * the program: at the end they are in `kept` (library_blocks.h).
 *
 * Memory grows with the number of live blocks, and with how far the archive is out of
 * order, not with the number of its allocations.
 *
 * Order: the clocks of two processors may be read a little out of order. A block may then
 * seem to be allocated at an address that is freed a moment later; such a free belongs to
 * the earlier block. Or a thread may seem to free, at an address with no live block, the
 * block that another thread allocates there a moment later; the free then belongs to that
 * block, if a block was freed at this address before. Any other free of an address without
 * a live block belongs to a block allocated before the recording began.
 */
#ifndef FXT_READER_HEAP_H
#define FXT_READER_HEAP_H

#include "live_curve.h"
#include "reader/trace/origins.h"
#include "writer/engine/heap.h"

#define FXT_HEAP_BANDS 24 /* size classes of blocks: powers of 2 up to 4 MiB, and above */

struct fxt_heap_sums {
	double blocks;
	double bytes;
};

/* A call path is a node and all its ancestors. A node has the sums of allocations with
 * exactly its path. */
#define FXT_HEAP_OUTERMOST 63 /* outermost functions shown of any path */

struct fxt_heap_node {
	uint64_t id;
	uint32_t process; /* index into processes */
	uint32_t parent;  /* index; a process's root is its own parent */
	uint32_t name;    /* id of a string */
	uint32_t depth;   /* functions on its path */
	uint32_t outer;   /* index of the ancestor at depth FXT_HEAP_OUTERMOST; the node
	                     itself, if it is not deeper */
	struct fxt_heap_sums allocated, temporary, at_peak, leaked, kept;
	struct fxt_heap_sums allocated_at_peak; /* allocated up to the peak, freed or not */
	struct fxt_heap_sums live;              /* while reading */
	uint64_t peaks;                         /* number of the process's peak when the
	                                           sums at its peak were taken */
};

/* One image of a process. Each exec begins another image with its own heap, and ends all
 * blocks of the one before. */
struct fxt_heap_process {
	uint64_t koid;
	const struct fxt_provider_tables *provider; /* one provider for each image */
	uint32_t image;                             /* number of images of its process
	                                               before it */
	bool is_replaced;                           /* by another image; nothing of its heap
	                                               is left */
	uint32_t root;                              /* the node of unknown paths */
	uint64_t sample_bytes;                      /* 0: every block was recorded */
	struct fxt_heap_sums allocated, temporary, at_peak, leaked, kept;
	double frees;
	uint64_t unknown_frees; /* frees of blocks allocated before the recording */
	uint64_t peak;          /* the first time at which the most bytes were live */
	uint64_t first, last;   /* of its events, UINT64_MAX: none; `last` is the end of the
	                           heap's history */
	bool goes_on;           /* it continues after the requested time */
	struct fxt_heap_sums by_size[FXT_HEAP_BANDS];

	/* After fxt_heap_join_programs(), else 0: the number of processes that were summed
	 * up, and the highest peak of one of them. */
	uint32_t joined;
	uint64_t highest_of; /* its koid */
	struct fxt_heap_sums highest;

	/* while reading */
	struct fxt_heap_sums live;
	uint64_t peaks; /* so far */
	uint64_t now;   /* events before it have been played */
	struct fxt_heap_window *window;
	struct fxt_heap_addresses *addresses;
	void *blocks; /* by address (heap_pointers.h) */

	/* With curves: live bytes and blocks by the blocks alone (played), and by the
	 * agent's sums (summed), which the blocks interpolate; the difference between the
	 * two at the last sums; and whether there are sums of this very moment. */
	struct fxt_live_curve played, summed;
	int64_t bytes_above, objects_above;
	bool has_sums, is_summed;
};

/* A process that was joined into another has no events. */
static inline bool fxt_heap_has_events(const struct fxt_heap_process *process)
{
	return process->first != UINT64_MAX;
}

/* Pointers in arguments of other events, if they point into a live block. */
struct fxt_heap_mention {
	uint32_t process;
	uint32_t event;    /* id of its name */
	uint32_t argument; /* the same */
	uint32_t node;     /* of the block's allocation */
	uint64_t count;
};

/* A block of a heap, after its end. */
struct fxt_heap_block {
	uint64_t pointer, size;
	uint64_t start, end; /* ns */
	uint32_t process, node;
	uint32_t thread;     /* that allocated it: an id in the heap's tables */
	uint32_t end_thread; /* that freed it */
	enum fxt_heap_fate {
		FXT_HEAP_BLOCK_FREED,
		FXT_HEAP_BLOCK_LEAKED,   /* at the end */
		FXT_HEAP_BLOCK_REPLACED, /* by exec */
		FXT_HEAP_BLOCK_KEPT      /* only as the result of fxt_heap_fate() */
	} fate;
	bool is_temporary;
	double weight; /* the number of blocks it stands for */
};

/* The id of the node that a "path" argument means. It points to the node's object; in older
 * traces it is a number. */
static inline uint64_t fxt_heap_path_id(const struct fxt_argument *path)
{
	return path->type == FXT_ARGUMENT_UINT32 ? fxt_heap_path_of_number(path->value.word)
	                                         : path->value.word;
}

typedef void fxt_heap_ended(void *context, const struct fxt_heap_block *block);
typedef void fxt_heap_step(void *context, uint64_t ns, struct fxt_heap_sums live);

struct fxt_heap {
	struct fxt_tables tables;
	struct fxt_origins origins; /* of functions */
	const struct fxt_archive *archive;
	uint64_t ticks_per_second; /* as requested */
	uint64_t until;            /* as requested, in ns; UINT64_MAX: no limit */
	uint64_t start;            /* of the trace, in ns; UINT64_MAX: it has no events */
	uint64_t cut_from;         /* in ns: of earlier blocks, a trace that was cut has only those
	                              that were live then */
	struct fxt_heap_process *processes;
	struct fxt_heap_node *nodes;
	struct fxt_heap_mention *mentions;
	size_t process_count, node_count, mention_count;
	uint64_t block_count;
	uint64_t records_lost;
	uint64_t malformed, unknown;
	struct fxt_fault fault;

	bool with_pointers, with_curves;
	size_t process_room, node_room, mention_room;
	struct fxt_index process_index, node_index, mention_index;
	uint32_t process_latest; /* the latest one found */
	uint64_t start_ticks;    /* the earliest time of a provider */
	uint32_t start_provider;
	/* the previous record, except records in the agent's own plain form; if that was an
	 * object of a block, `object` is it, else NULL */
	struct fxt_view pending;
	const uint64_t *object;
	bool was_begun, has_counters_only; /* what was recorded, by the trace's own word */
	uint32_t category, allocate, free, recorded, tracer;
	uint32_t pointer, size, path; /* names of arguments */
	uint32_t elided;              /* the name that stands for excluded functions */

	/* while reading (heap_play.h) */
	size_t window_events;
	struct fxt_heap_queue *rows; /* by thread */
	size_t row_count;
	bool out_of_order;
	uint64_t *latest; /* by thread: the number of the latest block that it allocated */
	size_t latest_count;
	fxt_heap_step *step;
	void *step_context;
	uint32_t step_process;
	fxt_heap_ended *ended;
};

/* A block's fate once the whole heap is read: one that was never freed leaked, or the C
 * library keeps it. */
static inline enum fxt_heap_fate fxt_heap_fate(
        const struct fxt_heap *heap, const struct fxt_heap_block *block)
{
	return block->fate == FXT_HEAP_BLOCK_LEAKED && heap->nodes[block->node].kept.blocks > 0
	               ? FXT_HEAP_BLOCK_KEPT
	               : block->fate;
}

/*
 * Reads a whole archive, which must stay open as long as the heap is in use. Ticks are
 * converted by ticks_per_second, or, if it is 0, by the archive's initialization records.
 * `with_pointers` also resolves the pointers in other events.
 */
void fxt_heap_read(struct fxt_heap *heap, const struct fxt_archive *archive, uint64_t ticks_per_second,
        bool with_pointers);
void fxt_heap_free(struct fxt_heap *heap);

/* The same without pointers, and with the curve of live bytes and blocks in each process,
 * even if only the agent's sums were recorded. */
void fxt_heap_read_with_curves(
        struct fxt_heap *heap, const struct fxt_archive *archive, uint64_t ticks_per_second);

/* The curve of a heap that was read with curves: by the blocks if all blocks that ever
 * lived are known, else by the agent's own sums (writer/engine/heap.h). */
const struct fxt_live_curve *fxt_heap_live_curve(
        const struct fxt_heap *heap, const struct fxt_heap_process *process);

/* The id of a process's name. If it has several images, the name of this image. */
uint32_t fxt_heap_process_name(const struct fxt_heap *heap, const struct fxt_heap_process *process);

/* The same as fxt_heap_read(), up to a moment: sums are those of that moment, and `leaked`
 * is what was live then. */
void fxt_heap_read_until(
        struct fxt_heap *heap, const struct fxt_archive *archive, uint64_t ns, bool with_pointers);

/*
 * Reads the archive once more, for timelines, which the sums do not hold. Calls `step` for
 * each time at which the live bytes or blocks of a process have changed.
 */
void fxt_heap_play(const struct fxt_heap *heap, uint32_t process, fxt_heap_step *step, void *context);

/* The same for a curve: the most live bytes in each of `steps` equal steps from the first
 * event to the last. */
void fxt_heap_curve(const struct fxt_heap *heap, uint32_t process, double *most, unsigned steps);

/* The same for the blocks themselves: calls `ended` for each, in the order of their ends.
 * Processes, nodes and threads are those of the heap. */
void fxt_heap_each_block(const struct fxt_heap *heap, fxt_heap_ended *ended, void *context);

#endif
