/*
 * The rows "live bytes" and "live objects" of each process for the Perfetto UI, with their units: counters of
 * the trace format have no unit, and the UI would name them "heap:live bytes:0". They are Perfetto packets in
 * the blobs of the heap's profiles (heap_profile.h), written at the end, when the clock's rate is known.
 *
 * Where every block that ever lived was recorded the curve is theirs, exact. Else it is that of the sums
 * which the agent keeps, every ten milliseconds, and between two of them, unless the blocks are samples,
 * theirs.
 */
#ifndef FXT_SYMBOLIZER_LIVE_ROWS_H
#define FXT_SYMBOLIZER_LIVE_ROWS_H

#include "sink.h"
#include "reader/heap/heap.h"

/* Appends the rows of a heap that was read with curves. Returns 0, or an errno value. */
int fxt_live_rows_append(struct fxt_sink *sink, const struct fxt_heap *heap);

#endif
