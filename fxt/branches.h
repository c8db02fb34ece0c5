/*
 * The tree of calls (reader/stats/paths.h) as tables show it, top-down or turned over: the nodes below each,
 * those with most time first, and the cells of a node's line.
 */
#ifndef FXT_FXT_BRANCHES_H
#define FXT_FXT_BRANCHES_H

#include "reader/stats/paths.h"
#include "table.h"

struct fxt_branches {
	const struct fxt_scan *scan;
	const struct fxt_paths *paths; /* in ns */
	uint32_t *children;
	size_t *first;  /* by node: its first child; paths->count + 1 of them */
	double whole;   /* the time of all outermost nodes together */
	uint64_t calls; /* in the tree, each once */
	bool has_off;   /* of a node's time it is known when its thread was off the CPU */
};

/* Callers that stand below a function in a tree that is turned over. */
enum { FXT_BRANCH_CALLERS = 64 };

/* `is_turned_over`: by fxt_paths_turn_over(). The scan and the paths stay where they are. */
void fxt_branches_make(struct fxt_branches *branches, const struct fxt_scan *scan,
        const struct fxt_paths *paths, bool is_turned_over, bool has_switches);
void fxt_branches_free(struct fxt_branches *branches);

/* The columns of a line. */
enum { FXT_BRANCH_CELLS = 9, FXT_BRANCH_NAME = 5, FXT_BRANCH_REMARK = 48 };
void fxt_branch_columns(const struct fxt_branches *branches, struct fxt_column columns[FXT_BRANCH_CELLS]);

/* The cells of a node, or of the sum of so many that are folded; its remark is in memory of the caller. */
void fxt_branch_cells(const struct fxt_branches *branches, const struct fxt_path *path, struct fxt_span name,
        unsigned depth, uint64_t folded, struct fxt_cell cells[FXT_BRANCH_CELLS],
        char remark[FXT_BRANCH_REMARK]);

#endif
