/*
 * Folds deep recursion in a tree of call paths (paths.h). A path of a million calls would
 * otherwise take a line with a million names in every output that has a line for a path.
 *
 *   before                       folded
 *   main                         main
 *     walk                         walk    3 levels: the calls and the own time of all three
 *       visit                        visit   the calls of all three
 *       walk
 *         visit
 *         walk
 *           visit
 *
 * A function is folded if more than a hundred calls of it are inside each other on some
 * path. Its outermost node then takes the place of all nodes of the function below it. What
 * these called becomes the outermost node's child, so a cycle of several functions becomes
 * one round of it. The calls and the own time of each function stay the same. A node's
 * total is the sum of what is below it in the folded tree: what a cycle does in the
 * outermost function again is no longer below the others.
 */
#ifndef FXT_READER_RECURSION_H
#define FXT_READER_RECURSION_H

#include "paths.h"

/* Few enough for a picture and a page, more than programs without deep recursion have. */
enum { FXT_RECURSION_LEVELS = 100 };

/* Folds functions with more than FXT_RECURSION_LEVELS levels. A path that is deeper than
 * `most` nodes nevertheless ends in a node with the name `deeper`, which has the sums of
 * all that is below. `totals` are more totals by node, which are folded in their place;
 * NULL: there are none. Returns the most levels that were folded, 0 if none were. Time and
 * memory grow with the number of nodes, whatever their depth. */
uint32_t fxt_paths_fold_recursion(struct fxt_paths *paths, uint32_t most, uint32_t deeper, uint64_t *totals);

#endif
