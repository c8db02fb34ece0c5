/*
 * The tracks "live bytes" and "live objects" of each process for the Perfetto UI, with
 * their units. Counters of the trace format have no unit, and the UI would name them
 * "heap:live bytes:0". The tracks are Perfetto packets in the blobs of the heap's profiles
 * (heap_profile.h), written at the end, when the clock's rate is known.
 *
 * If every block that ever lived was recorded, the curve is computed from the blocks and is
 * exact. Otherwise it follows the sums that the agent keeps, one every ten milliseconds;
 * between two sums it follows the blocks, unless they are samples.
 */
#ifndef FXT_PERFETTO_LIVE_TRACKS_H
#define FXT_PERFETTO_LIVE_TRACKS_H

#include "reader/trace/sink.h"
#include "reader/heap/heap.h"

/* Appends the tracks of a heap that was read with curves. Returns 0, or an errno value. */
int fxt_live_tracks_append(struct fxt_sink *sink, const struct fxt_heap *heap);

#endif
