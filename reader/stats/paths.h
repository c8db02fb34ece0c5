/*
 * The tree of calls, merged by path: two slices are one node if their names and the names
 * of all slices around them are the same, up to the thread. A flame graph is a drawing of
 * this tree, and so is a table of it, top-down.
 *
 *   the slices of a thread                     the tree
 *   main  0 ........................ 100       main           1 call    total 100  self 30
 *     f     10 ... 30   40 ..... 80              f            2 calls   total 60   self 45
 *       g     12.17       50.60                    g          2 calls   total 15   self 15
 *     g                           85.95          g            1 call    total 10   self 10
 *
 * Nodes are an array. Node 0 is the root, which is no slice. A node stands behind its
 * parent (parent < node), so sums over subtrees take one pass from the end and need no
 * recursion. A tree by thread or by process has a node for each of these between the root
 * and its slices.
 *
 * A call that a forked child inherited has the node on its path that it has in the parent,
 * so the child's calls stand at the place where they were made. It adds no calls and no
 * self time there, but the time of its children counts in the node's total.
 *
 * Memory grows with the number of paths, not with the number of calls.
 */
#ifndef FXT_READER_PATHS_H
#define FXT_READER_PATHS_H

#include "reader/time/thread_times.h"

enum fxt_path_kind {
	FXT_PATH_CALL,  /* `name` is a string's id: a function, called or inherited */
	FXT_PATH_OTHER, /* the same for a slice that is no call (call.h): a wait, a loss */
	FXT_PATH_GROUP, /* `name` is a thread's id: the thread, or the first one of the
	                   process */
};

struct fxt_path {
	uint32_t parent; /* of the root: 0 */
	uint32_t name;
	enum fxt_path_kind kind;
	uint32_t levels; /* of recursion that was folded into the node (recursion.h); 0: none */
	uint64_t calls;  /* slices on this very path, including slices that are no calls */
	uint64_t open;   /* of these, slices without an end */
	uint64_t total;  /* their time; of a group and of the root, the sum of the children */
	uint64_t self;   /* total without the slices inside */
	uint64_t off;    /* part of total: the thread was off its CPU; 0 if not requested */
	uint64_t min;    /* of one slice; UINT64_MAX if there is none */
	uint64_t max;
	/* Parts of total and off that come from inside inherited slices on this path. */
	uint64_t lent, lent_off;
};

struct fxt_paths {
	struct fxt_path *items;
	size_t count, room;
	struct fxt_index index; /* by parent, kind and name */
	uint32_t *lately;       /* a cache of nodes by the low bits of their hashes, in front of
	                           the index */
};

enum fxt_paths_by { FXT_PATHS_TOGETHER, FXT_PATHS_BY_PROCESS, FXT_PATHS_BY_THREAD };

/*
 * Reads the tree of a scanned trace, with `workers` threads (fxt_walk_workers()). Times are
 * in units of the scan. Returns false if not all of the file could be read again because it
 * was cut short; the sums lack that part. With `times`, which may be NULL, the time off the
 * CPU is known too.
 *
 * A slice that ends after the slice around it (no trace of fxtrun's has any) is its child
 * nevertheless, and counts in full.
 */
bool fxt_paths_read(struct fxt_paths *paths, const struct fxt_scan *scan, enum fxt_paths_by by,
        const struct fxt_thread_times *times, unsigned workers);

/* Makes a tree of a root only. */
void fxt_paths_init(struct fxt_paths *paths);
void fxt_paths_free(struct fxt_paths *paths);

/*
 * Turns the tree over. Its outermost nodes are then functions, with their own time as
 * `self` and `total`. Below each stand its callers, up to `callers` levels, with the part
 * of its time that it took when they called it. Groups come last among the callers.
 */
void fxt_paths_turn_over(struct fxt_paths *paths, unsigned callers);

/* Converts times from units of the scan to nanoseconds, each rounded down. */
void fxt_paths_to_ns(struct fxt_paths *paths, const struct fxt_scan *scan);

/* The child of a node with this name; created with zero sums if it does not exist. */
uint32_t fxt_paths_child(struct fxt_paths *paths, uint32_t parent, enum fxt_path_kind kind, uint32_t name);

/* The same for a slice. */
static inline uint32_t fxt_paths_of_slice(
        struct fxt_paths *paths, uint32_t above, const struct fxt_slice *slice)
{
	return fxt_paths_child(paths, above,
	        slice->is_call || slice->is_inherited ? FXT_PATH_CALL : FXT_PATH_OTHER, slice->name);
}

/* The node of a slice that is open in a walk. With calls_only, only its callers that are
 * calls are on its path. The frame that stands for a thread has the root. */
struct fxt_walk_frame;
uint32_t fxt_paths_of_frame(struct fxt_paths *paths, const struct fxt_walk_frame *frame, bool calls_only);

/* Translates the ids of names from one tree to another; NULL: they are the same. */
struct fxt_path_names {
	const uint32_t *of_calls;
	const uint32_t *of_groups; /* FXT_NOTHING: the group has no node there, and its children
	                              take its place */
};

/*
 * Adds the sums of a node and its subtree to a node of another tree and its subtree, where
 * nodes are created as needed. With (to, 0, from, 0, NULL) two trees become one. With the
 * root and a group, one thread's calls are added without the others. This takes as many
 * steps as the other tree has nodes, so adding group by group takes that many for each
 * group.
 */
void fxt_paths_add(struct fxt_paths *to, uint32_t to_node, const struct fxt_paths *from, uint32_t from_node,
        const struct fxt_path_names *names);

#endif
