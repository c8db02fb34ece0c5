/*
 * The heap of a trace: every block from its allocation to its free, the tree of call paths that allocated
 * them, and what lived when. Built from what the agent writes (agent/heap/heap.h): userspace objects for the
 * nodes of paths, instants of category "heap" named "allocate" and "free" that carry a pointer.
 *
 * Each image of a process has a heap of its own. Where blocks were sampled, every number here is an estimate:
 * a block stands for as many as its chance to be sampled says. Bytes are those the program asked for. Times
 * are nanoseconds.
 *
 * What is kept in memory grows with what lives, and with how far the archive is out of order, not with the
 * number of its allocations.
 *
 * Order: clocks of two processors may be read a little out of order, so a block may seem to be allocated at
 * an address that is freed a moment later; such a free belongs to the earlier block. Or a thread seems to
 * free what another allocates a moment later, where a block was freed before: that is the block. Any other
 * free of an address where nothing lives is of a block allocated before the recording began.
 */
#ifndef FXT_READER_HEAP_H
#define FXT_READER_HEAP_H

#include "live_curve.h"
#include "reader/trace/tables.h"
#include "writer/heap.h"

#define FXT_HEAP_BANDS 24 /* blocks by size: by powers of 2 up to 4 MiB, and above */

struct fxt_heap_sums {
	double blocks;
	double bytes;
};

/* A call path is a node and all its parents; nodes of one path end have the sums of what that very path
 * allocated. */
#define FXT_HEAP_OUTERMOST 63 /* functions that are shown of any path, besides innermost ones */

struct fxt_heap_node {
	uint64_t id;
	uint32_t process; /* index into processes */
	uint32_t parent;  /* index; the root of its process is its own parent */
	uint32_t name;    /* id of a string */
	uint32_t depth;   /* of its path */
	uint32_t outer; /* index of the node of its path with FXT_HEAP_OUTERMOST functions; itself, if it has
	                   no more */
	struct fxt_heap_sums allocated, temporary, at_peak, leaked;
	struct fxt_heap_sums allocated_at_peak; /* up to then, freed or not */
	struct fxt_heap_sums live;              /* while reading */
	uint64_t peaks;                         /* of the process, when the sums at its peak were taken */
};

/* One image of a process: each exec begins another, with a heap of its own, and ends all blocks of the one
 * before. */
struct fxt_heap_process {
	uint64_t koid;
	const struct fxt_provider_tables *provider; /* each image is one */
	uint32_t image;                             /* of how many its process had before it */
	bool is_replaced;                           /* by another image: nothing of it is left */
	uint32_t root;                              /* the node of unknown paths */
	uint64_t sample_bytes;                      /* 0: every block was recorded */
	struct fxt_heap_sums allocated, temporary, at_peak, leaked;
	double frees;
	uint64_t unknown_frees; /* of blocks allocated before */
	uint64_t peak;          /* when most bytes lived, first */
	uint64_t first, last;   /* events, UINT64_MAX: none; last is the end of the heap's history */
	bool goes_on;           /* there is more of it after what was asked for */
	struct fxt_heap_sums by_size[FXT_HEAP_BANDS];

	/* Once joined (fxt_heap_join_programs()), else 0: of how many processes the above are the sums; and
	 * the highest peak of one. */
	uint32_t joined;
	uint64_t highest_of; /* its koid */
	struct fxt_heap_sums highest;

	/* while reading */
	struct fxt_heap_sums live;
	uint64_t peaks; /* so far */
	uint64_t now;   /* events before it are played */
	struct fxt_heap_window *window;
	struct fxt_heap_addresses *addresses;
	void *blocks; /* by address (heap_pointers.h) */

	/* with curves: what lives by the blocks alone, and by the agent's sums, which the blocks fill up in
	 * between; by how much these were above those last; whether sums are of this very moment */
	struct fxt_live_curve played, summed;
	int64_t bytes_above, objects_above;
	bool has_sums, is_summed;
};

/* Once joined, one may be a part of another. */
static inline bool fxt_heap_has_events(const struct fxt_heap_process *process)
{
	return process->first != UINT64_MAX;
}

/* Pointers in arguments of other events that led to a living block. */
struct fxt_heap_mention {
	uint32_t process;
	uint32_t event;    /* id of its name */
	uint32_t argument; /* the same */
	uint32_t node;     /* that allocated the block */
	uint64_t count;
};

/* A block of a heap, once it is over. */
struct fxt_heap_block {
	uint64_t pointer, size;
	uint64_t start, end; /* ns */
	uint32_t process, node;
	uint32_t thread;     /* that allocated it: id of the heap's tables */
	uint32_t end_thread; /* that freed it */
	enum {
		FXT_HEAP_BLOCK_FREED,
		FXT_HEAP_BLOCK_LEAKED,
		FXT_HEAP_BLOCK_REPLACED
	} fate; /* LEAKED, REPLACED by exec: at the end */
	bool is_temporary;
	double weight; /* blocks it stands for */
};

/* The id of the node that an argument "path" means: a number, in older traces the id. */
static inline uint64_t fxt_heap_path_id(const struct fxt_argument *path)
{
	return path->type == FXT_ARGUMENT_UINT32 ? fxt_heap_path_of_number(path->value.word)
	                                         : path->value.word;
}

typedef void fxt_heap_ended(void *context, const struct fxt_heap_block *block);
typedef void fxt_heap_step(void *context, uint64_t ns, struct fxt_heap_sums live);

struct fxt_heap {
	struct fxt_tables tables;
	const struct fxt_archive *archive;
	uint64_t ticks_per_second; /* as asked for */
	uint64_t until;            /* the same, in ns; UINT64_MAX: all of it */
	uint64_t start;            /* of the trace, in ns; UINT64_MAX: it has no events */
	uint64_t cut_from; /* in ns: of the blocks before, a trace that was cut has those alone that lived
	                      then */
	struct fxt_heap_process *processes;
	struct fxt_heap_node *nodes;
	struct fxt_heap_mention *mentions;
	size_t process_count, node_count, mention_count;
	uint64_t block_count;
	uint64_t records_lost;
	uint64_t malformed;
	struct fxt_fault fault;

	bool with_pointers, with_curves;
	size_t process_room, node_room, mention_room;
	struct fxt_index process_index, node_index, mention_index;
	uint32_t process_latest; /* that was found */
	uint64_t start_ticks;    /* the earliest of a provider */
	uint32_t start_provider;
	struct fxt_view pending; /* the record before, but for those in the form that the agent gives them */
	uint32_t category, allocate, free, recorded, tracer;
	uint32_t pointer, size, path; /* names of arguments */
	uint32_t elided;              /* the name in place of excluded functions */

	/* while reading (heap_play.h) */
	size_t window_events;
	struct fxt_heap_row *rows; /* by thread */
	size_t row_count;
	bool out_of_order;
	uint64_t *latest; /* by thread: the number of the block that its latest event allocated */
	size_t latest_count;
	fxt_heap_step *step;
	void *step_context;
	uint32_t step_process;
	fxt_heap_ended *ended;
};

/*
 * Reads a whole archive, which must stay open as long as the heap is in use. Times are by ticks_per_second;
 * 0: by the archive's initialization records. With pointers, also what pointers in other events mean.
 */
void fxt_heap_read(struct fxt_heap *heap, const struct fxt_archive *archive, uint64_t ticks_per_second,
        bool with_pointers);
void fxt_heap_free(struct fxt_heap *heap);

/* The same without pointers, and with the curve of what lived in each process: also of one of which nothing
 * but the agent's sums was recorded. */
void fxt_heap_read_with_curves(
        struct fxt_heap *heap, const struct fxt_archive *archive, uint64_t ticks_per_second);

/* The curve of a heap that was read with curves: that of the blocks if all are known that ever lived, else
 * that of the sums which the agent keeps (writer/heap.h). */
const struct fxt_live_curve *fxt_heap_live_curve(
        const struct fxt_heap *heap, const struct fxt_heap_process *process);

/* The id of the name of a process; of one with several images, of the image's. */
uint32_t fxt_heap_process_name(const struct fxt_heap *heap, const struct fxt_heap_process *process);

/* The same as fxt_heap_read() up to a moment: its sums are those of then, and leaked is what lived. */
void fxt_heap_read_until(
        struct fxt_heap *heap, const struct fxt_archive *archive, uint64_t ns, bool with_pointers);

/*
 * Reads the archive once more, for what the sums do not hold: timelines. `step` is called for each time at
 * which what lives in a process has changed.
 */
void fxt_heap_play(const struct fxt_heap *heap, uint32_t process, fxt_heap_step *step, void *context);

/* The same for a curve: the most bytes that lived in each of so many equal steps from the first event to the
 * last. */
void fxt_heap_curve(const struct fxt_heap *heap, uint32_t process, double *most, unsigned steps);

/* The same for the blocks themselves: `ended` is called for each, in the order of their ends. Processes,
 * nodes and threads are those of the heap. */
void fxt_heap_each_block(const struct fxt_heap *heap, fxt_heap_ended *ended, void *context);

#endif
