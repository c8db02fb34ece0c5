/*
 * The source positions of functions, for the Perfetto UI. The UI shows arguments of events
 * only, and an argument of each call would make every record longer. Each process therefore
 * has a track "functions", which holds one instant for each function: it has the function's
 * name, and the arguments file and line. The UI's search finds it before the first call.
 *
 * The track consists of Perfetto packets in blob records of type 3, which other readers
 * skip. All instants stand at the beginning of the trace, a nanosecond apart: at equal
 * times only one would be drawn.
 */
#ifndef FXT_PERFETTO_FUNCTION_TRACK_H
#define FXT_PERFETTO_FUNCTION_TRACK_H

#include "symbolizer/image.h"
#include "protobuf.h"

#define FXT_FUNCTION_TRACK_BLOB "fxt: functions"

/* The functions added so far, of all processes. All zeros is empty. */
struct fxt_function_tracks {
	struct fxt_message packets; /* without times; before each stands its size, a size_t */
	uint64_t process;           /* koid of the process whose track was described last; 0
	                               = none */
};

/* Adds a function of the process; does nothing if its source file is not known. */
void fxt_function_tracks_add(
        struct fxt_function_tracks *rows, uint64_t process_koid, const struct fxt_location *function);

/* Receives the content of one blob. */
typedef void fxt_function_tracks_blob(void *context, const void *data, size_t bytes);

/* Hands out everything that was added, at a time on the UI's clock (fxt_rate_viewer_ns),
 * and empties the tracks. */
void fxt_function_tracks_take(
        struct fxt_function_tracks *rows, uint64_t ns, fxt_function_tracks_blob *blob, void *context);

/* Adds all functions of `from`. */
void fxt_function_tracks_copy(struct fxt_function_tracks *rows, const struct fxt_function_tracks *from);

void fxt_function_tracks_free(struct fxt_function_tracks *rows);

#endif
