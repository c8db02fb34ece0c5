/*
 * Heap profiles for the Perfetto UI: the memory that was live at the peak and at the end of
 * each process's heap, by call path, as Perfetto packets in blob records of type 3. The UI
 * draws them as flame graphs beside the timeline. They are two heaps, "peak" and "left at
 * the end", with one dump each: for several dumps of one heap the UI would show the
 * difference between them.
 *
 * The packets of all such blobs, in the order of the archive, form one stream. A clock
 * snapshot comes first; without it the UI drops what follows. Each heap then has a sequence
 * of its own, with its texts, frames and stacks before the profiles that refer to them. A
 * blob holds whole packets only. Values are cumulative: allocated and freed so far.
 */
#ifndef FXT_PERFETTO_HEAP_PROFILE_H
#define FXT_PERFETTO_HEAP_PROFILE_H

#include "flame_graph.h"
#include "reader/trace/sink.h"

#define FXT_HEAP_PROFILE_BLOB "fxt: heap profile"

/* Appends the profiles of a heap that was read with curves, and its live tracks
 * (live_tracks.h). Returns 0, or an errno value. */
int fxt_heap_profile_append(
        struct fxt_sink *sink, const struct fxt_heap *heap, fxt_heap_name *name, void *context);

#endif
