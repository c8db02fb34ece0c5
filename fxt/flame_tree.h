/*
 * The data of a flame graph: the call tree of a trace (reader/stats/paths.h), or the tree
 * of its heap's call paths, with one cost for each node.
 */
#ifndef FXT_FXT_FLAME_TREE_H
#define FXT_FXT_FLAME_TREE_H

#include "reader/slices/query_filter.h"
#include "reader/heap/heap_paths.h"
#include "reader/stats/recursion.h"

enum fxt_flame_cost {
	FXT_FLAME_TIME,
	FXT_FLAME_OFF_CPU, /* a time: while the thread was on no CPU, by the context
	                      switches of the trace */
	FXT_FLAME_CALLS,
	FXT_FLAME_PEAK,
	FXT_FLAME_LEAKED,
	FXT_FLAME_ALLOCATED,
	FXT_FLAME_TEMPORARY,
	FXT_FLAME_COSTS
};

struct fxt_flame_wanted {
	enum fxt_flame_cost cost;
	bool by_thread; /* otherwise by process if there are several; processes of equal
	                                    name are one */
	const struct fxt_query_filter *choice; /* for calls; NULL: all */
	/* functions by their own cost (self), with their callers below them */
	bool bottom_up;
	const struct fxt_scan_listener *listener; /* called by the scan, or NULL; for
	                                             costs of time and calls */
};

struct fxt_flame_tree {
	/* `total` of a node is the cost with all that is inside, chosen or not; `self`
	 * is the cost without it. Units are ns, calls or bytes. Names, including those
	 * of groups, are string ids. `calls` of a heap's node counts blocks. */
	struct fxt_paths paths;
	struct fxt_tables *tables;

	/* For a comparison: by node, its cost in the other trace. Nodes with a cost only
	 * in the other trace have a total of 0 here. */
	uint64_t *before;

	uint64_t records_lost;          /* includes overwritten ones; the tree knows
	                                   nothing of these records */
	bool is_finished, is_recovered; /* from the archive */

	struct fxt_scan scan;
	struct fxt_filter filter; /* the scan's */
	struct fxt_heap heap;
	struct fxt_archive archive;
	uint32_t recursion;           /* the most levels that were folded (recursion.h); 0: none */
	bool is_heap, lacks_switches; /* the trace does not show when threads were off
	                                 their CPUs */
	char **labels;                /* texts that were added to the tables, owned by
	                                 the tree */
	size_t label_count, label_room;
};

/* Finds the cost with this name. Returns false if there is none. */
bool fxt_flame_cost_named(const char *name, enum fxt_flame_cost *cost);

/* True if a cost is a time, in ns; true if it is a heap cost, in bytes. */
bool fxt_flame_is_time(enum fxt_flame_cost cost);
bool fxt_flame_is_heap(enum fxt_flame_cost cost);

/* Reads a trace, which must stay open as long as the tree is in use. Returns a command's
 * exit status; errors are reported. After FXT_FAILED there is no tree to free. */
int fxt_flame_tree_read(struct fxt_flame_tree *tree, const char *name, const struct fxt_source *source,
        const struct fxt_flame_wanted *wanted);
void fxt_flame_tree_free(struct fxt_flame_tree *tree);

/* Folds deep recursion (recursion.h), so that no path has more than about a thousand nodes.
 * A tree that is turned over was folded before. After a comparison. */
void fxt_flame_tree_fold(struct fxt_flame_tree *tree);

/* The reason why a tree has no costs. */
const char *fxt_flame_lack(const struct fxt_flame_tree *tree, enum fxt_flame_cost cost);

/* Fills in `before` of a tree from another tree that was read with the same options. */
void fxt_flame_tree_compare(struct fxt_flame_tree *tree, const struct fxt_flame_tree *before);

#endif
