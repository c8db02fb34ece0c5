/*
 * Searches for a slice by name, forward or backward in time, in all threads. Reads only the
 * blocks of the file between the start of the search and the slice found; forward, as much
 * again.
 */
#ifndef FXT_FXT_TUI_FIND_H
#define FXT_FXT_TUI_FIND_H

#include "reader/slices/scan.h"

/* Finds the next slice with is_wanted[id of its name] that begins after a moment and an
 * offset in the file, compared in this order; backward, the last one before them.
 * Returns false if there is none. */
bool fxt_find_slice(struct fxt_slice *found, const struct fxt_scan *scan, const bool *is_wanted,
        uint64_t start, uint64_t offset, bool is_forward);

#endif
