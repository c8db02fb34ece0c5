/*
 * Heap profiles for the Perfetto UI: what lived at the peak and at the end of each process's heap, by call
 * path, as Perfetto packets in blob records of type 3. The UI draws them as flame graphs beside the timeline,
 * of two heaps, "peak" and "left at the end", with one dump each: of several it would show what came between
 * them.
 *
 * The packets of all such blobs, in the order of the archive, are one stream: a clock snapshot first, without
 * which the UI drops what follows; then for each heap a sequence of its own, with the texts, frames and
 * stacks it refers to before the profiles. Whole packets only stand in a blob. Values are cumulative:
 * allocated and freed so far.
 */
#ifndef FXT_SYMBOLIZER_HEAP_PROFILE_H
#define FXT_SYMBOLIZER_HEAP_PROFILE_H

#include "flame_graph.h"
#include "sink.h"

#define FXT_HEAP_PROFILE_BLOB "fxt: heap profile"

/* Appends the profiles of a heap that was read with curves, and its rows (live_rows.h). Returns 0, or an
 * errno value. */
int fxt_heap_profile_append(
        struct fxt_sink *sink, const struct fxt_heap *heap, fxt_heap_name *name, void *context);

#endif
