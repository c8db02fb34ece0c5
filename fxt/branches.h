/*
 * The call tree (reader/stats/paths.h) as tables show it, top-down or inverted: the
 * children of each node, sorted by time, longest first, and the cells of a node's line.
 */
#ifndef FXT_FXT_BRANCHES_H
#define FXT_FXT_BRANCHES_H

#include "reader/stats/paths.h"
#include "table.h"

struct fxt_branches {
	const struct fxt_scan *scan;
	const struct fxt_paths *paths; /* times in ns */
	uint32_t *children;
	size_t *first;  /* by node: the index of its first child; has paths->count + 1
	                   entries */
	double whole;   /* the total time of all root nodes */
	uint64_t calls; /* in the tree, each counted once */
	bool has_off;   /* the trace has context switches, so each node's time off the
	                   CPU is known */
};

/* The most levels of callers shown below a function in an inverted tree. */
enum { FXT_BRANCH_CALLERS = 64 };

/* `is_turned_over`: the tree was inverted by fxt_paths_turn_over(). Keeps pointers to
 * the scan and the paths; the caller must not move or free them. */
void fxt_branches_make(struct fxt_branches *branches, const struct fxt_scan *scan,
        const struct fxt_paths *paths, bool is_turned_over, bool has_switches);
void fxt_branches_free(struct fxt_branches *branches);

/* The columns of a line. */
enum { FXT_BRANCH_CELLS = 9, FXT_BRANCH_NAME = 5, FXT_BRANCH_REMARK = 48 };
void fxt_branch_columns(const struct fxt_branches *branches, struct fxt_column columns[FXT_BRANCH_CELLS]);

/* Fills in the cells of a node, or of the sum of `folded` nodes that are shown as one
 * line. The remark is written to the caller's buffer. */
void fxt_branch_cells(const struct fxt_branches *branches, const struct fxt_path *path, struct fxt_span name,
        unsigned depth, uint64_t folded, struct fxt_cell cells[FXT_BRANCH_CELLS],
        char remark[FXT_BRANCH_REMARK]);

#endif
