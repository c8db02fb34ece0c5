/*
 * A pass over everything in a trace but plain calls, between the scan and the walks: for
 * events that are no slices, and for arguments. Blocks of plain calls are skipped.
 */
#ifndef FXT_READER_EVENTS_H
#define FXT_READER_EVENTS_H

#include "walk.h"

typedef void fxt_events_visit(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset);

/* Hands out all records but plain calls, the last one of the file first, with the walker's
 * tables as they are there. Takes no heed of the scan's filter. Returns false if not all of
 * the file could be read again. */
bool fxt_events_read(const struct fxt_scan *scan, fxt_events_visit *visit, void *state);

/* Whether the scan's filter shows an event. Functions say nothing about events, so a choice
 * of what is inside them shows none. */
bool fxt_events_shows(const struct fxt_scan *scan, uint32_t thread, uint32_t name, uint64_t offset);

#endif
