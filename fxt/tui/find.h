/*
 * Looks for a slice by its name, forward or backward in time, in all threads: only those blocks of the file
 * are read that lie between where it begins and what it finds, and, forward, as much again.
 */
#ifndef FXT_FXT_TUI_FIND_H
#define FXT_FXT_TUI_FIND_H

#include "reader/slices/scan.h"

/* Finds the slice of a name for which is_wanted[its id] that begins next after a moment and an offset in the
 * file, in this order, or last before them. Returns false if there is none. */
bool fxt_find_slice(struct fxt_slice *found, const struct fxt_scan *scan, const bool *is_wanted,
        uint64_t start, uint64_t offset, bool is_forward);

#endif
