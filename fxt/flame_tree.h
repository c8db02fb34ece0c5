/*
 * What a flame graph draws: the tree of calls of a trace (reader/stats/paths.h), or that of its heap's call
 * paths, with one cost for each node.
 */
#ifndef FXT_FXT_FLAME_TREE_H
#define FXT_FXT_FLAME_TREE_H

#include "reader/slices/choice.h"
#include "reader/heap/heap_paths.h"
#include "reader/stats/paths.h"

enum fxt_flame_cost {
	FXT_FLAME_TIME,
	FXT_FLAME_OFF_CPU, /* of time: when the thread was on no CPU, by the switches of the trace */
	FXT_FLAME_CALLS,
	FXT_FLAME_PEAK,
	FXT_FLAME_LEAKED,
	FXT_FLAME_ALLOCATED,
	FXT_FLAME_TEMPORARY,
	FXT_FLAME_COSTS
};

struct fxt_flame_wanted {
	enum fxt_flame_cost cost;
	bool by_thread; /* else by process, if there are several; processes of equal name are one */
	const struct fxt_choice *choice; /* of calls; NULL: all */
	bool bottom_up; /* functions by what they cost themselves, their callers below them */
	const struct fxt_scan_listener *listener; /* that the scan tells, or NULL; of time and calls */
};

struct fxt_flame_tree {
	/* Of each node `total` is the cost with all that is inside, chosen or not, `self` without. In ns,
	 * calls or bytes. Names are strings' ids, those of groups too. `calls` of a heap's node are blocks.
	 */
	struct fxt_paths paths;
	struct fxt_tables *tables;

	/* Compared with another trace: by node, what it cost there. Nodes that cost something there only have
	 * a total of 0 here. */
	uint64_t *before;

	uint64_t records_lost;          /* and overwritten: of which the tree knows nothing */
	bool is_finished, is_recovered; /* as the archive says */

	struct fxt_scan scan;
	struct fxt_filter filter; /* of the scan */
	struct fxt_heap heap;
	struct fxt_archive archive;
	bool is_heap, lacks_switches; /* it is not known when threads were off their CPUs */
	char **labels;                /* texts that were added to the tables */
	size_t label_count, label_room;
};

/* The cost that is called so; false: there is none. */
bool fxt_flame_cost_named(const char *name, enum fxt_flame_cost *cost);

/* Whether a cost is a time, in ns; whether it is one of the heap, in bytes. */
bool fxt_flame_is_time(enum fxt_flame_cost cost);
bool fxt_flame_is_heap(enum fxt_flame_cost cost);

/* Reads a trace, which must stay open as long as the tree is in use. Returns the exit status of a command;
 * what went wrong was told. After FXT_FAILED there is no tree to be freed. */
int fxt_flame_tree_read(struct fxt_flame_tree *tree, const char *name, const struct fxt_source *source,
        const struct fxt_flame_wanted *wanted);
void fxt_flame_tree_free(struct fxt_flame_tree *tree);

/* Why a tree without any costs has none. */
const char *fxt_flame_lack(const struct fxt_flame_tree *tree, enum fxt_flame_cost cost);

/* Fills in `before` of a tree from another one that was wanted alike. */
void fxt_flame_tree_compare(struct fxt_flame_tree *tree, const struct fxt_flame_tree *before);

#endif
