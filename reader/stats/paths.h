/*
 * The tree of calls, merged by path: two slices are one node if they have the same name and everything around
 * them has, up to the thread. A flame graph is a drawing of this tree, and so is a table of it, top-down.
 *
 *   the slices of a thread                     the tree
 *   main  0 ........................ 100       main           1 call    total 100  self 30
 *     f     10 ... 30   40 ..... 80              f            2 calls   total 60   self 45
 *       g     12.17       50.60                    g          2 calls   total 15   self 15
 *     g                           85.95          g            1 call    total 10   self 10
 *
 * Nodes are an array. Node 0 is the root, which is no slice. Whatever is merged stands behind what it is
 * inside of (parent < node), so sums over subtrees take one pass from the end and need no recursion. A tree
 * by thread or by process has a node for each of these between the root and its slices.
 *
 * A call that a forked child inherited is on its path what it is in its parent, so that the child's calls
 * stand where they were made. It has no calls and no time of its own there, but in the total that of what is
 * inside.
 *
 * What is kept in memory grows with the number of paths, not with that of calls.
 */
#ifndef FXT_READER_PATHS_H
#define FXT_READER_PATHS_H

#include "reader/time/thread_times.h"

enum fxt_path_kind {
	FXT_PATH_CALL,  /* `name` is a string's id: the function, called or inherited */
	FXT_PATH_OTHER, /* the same for a slice that is no call (call.h): a wait, a loss */
	FXT_PATH_GROUP, /* `name` is a thread's id; for a process, the first one of its threads */
};

struct fxt_path {
	uint32_t parent; /* of the root: 0 */
	uint32_t name;
	enum fxt_path_kind kind;
	uint64_t calls; /* slices on this very path, also where it is no path of calls */
	uint64_t open;  /* of these, slices never ended */
	uint64_t total; /* of their time; of a group and of the root, what its children have */
	uint64_t self;  /* without slices inside */
	uint64_t off;   /* of total, when the thread was off its CPU; 0 where that was not asked for */
	uint64_t min;   /* of one of them; UINT64_MAX if there is none */
	uint64_t max;
	/* Of total and of off, in slices on this path that are inherited. */
	uint64_t lent, lent_off;
};

struct fxt_paths {
	struct fxt_path *items;
	size_t count, room;
	struct fxt_index index; /* by parent, kind and name */
	uint32_t *lately; /* nodes by the end of what they are found by, to be found without the index */
};

enum fxt_paths_by { FXT_PATHS_TOGETHER, FXT_PATHS_BY_PROCESS, FXT_PATHS_BY_THREAD };

/*
 * Reads the tree of a scanned trace, with so many threads (fxt_walk_workers()). Times are in units of the
 * scan. Returns false if not all of the file could be read again, because it was cut short meanwhile; the
 * sums lack that. With times, which may be NULL, it is known when threads were off their CPUs.
 *
 * Where a slice ends behind the one around it, which no trace of fxtrun's has, it is a child of that one
 * nevertheless, and counts in full.
 */
bool fxt_paths_read(struct fxt_paths *paths, const struct fxt_scan *scan, enum fxt_paths_by by,
        const struct fxt_thread_times *times, unsigned workers);

/* A tree that has its root only. */
void fxt_paths_init(struct fxt_paths *paths);
void fxt_paths_free(struct fxt_paths *paths);

/*
 * Turns the tree over: its outermost nodes are functions with the time of their own, `self` and `total`, and
 * below each stand its callers, up to so many, with that part of its time which it took when they called it.
 * Groups are the last of the callers.
 */
void fxt_paths_turn_over(struct fxt_paths *paths, unsigned callers);

/* Makes nanoseconds of times in units of the scan, each rounded down. */
void fxt_paths_to_ns(struct fxt_paths *paths, const struct fxt_scan *scan);

/* The child of a node; a new one, whose sums are 0, if there was none. */
uint32_t fxt_paths_child(struct fxt_paths *paths, uint32_t parent, enum fxt_path_kind kind, uint32_t name);

/* The same for a slice. */
static inline uint32_t fxt_paths_of_slice(
        struct fxt_paths *paths, uint32_t above, const struct fxt_slice *slice)
{
	return fxt_paths_child(paths, above,
	        slice->is_call || slice->is_inherited ? FXT_PATH_CALL : FXT_PATH_OTHER, slice->name);
}

/* The node of a slice that is open in a walk, of which its callers, too, may count alone. What stands for a
 * thread is the root. */
struct fxt_walk_frame;
uint32_t fxt_paths_of_frame(struct fxt_paths *paths, const struct fxt_walk_frame *frame, bool calls_only);

/* The ids that names of one tree have in another; NULL: the same. */
struct fxt_path_names {
	const uint32_t *of_calls;
	const uint32_t
	        *of_groups; /* FXT_NOTHING: the group is none there, and its calls stand where it stood */
};

/*
 * Adds the sums of a node and of all below it to a node of another tree and those below that, which may have
 * to be made. With (to, 0, from, 0, NULL) two trees become one; with the root and a group, one thread's calls
 * stand beside no others. It takes as many steps as the other tree has nodes: who adds group by group takes
 * that many for each.
 */
void fxt_paths_add(struct fxt_paths *to, uint32_t to_node, const struct fxt_paths *from, uint32_t from_node,
        const struct fxt_path_names *names);

#endif
