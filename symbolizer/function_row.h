/*
 * Where functions stand in the source, for the Perfetto UI: it shows arguments of events alone, and an
 * argument of each call would make every record longer. So each process has a row "functions", on which an
 * instant of the function's name has the arguments file and line; the UI's search finds it before the first
 * call.
 *
 * The row is made of Perfetto packets in blob records of type 3, which other readers pass over. All instants
 * stand at the beginning of the trace, a nanosecond apart: at the same time, only one would be drawn.
 */
#ifndef FXT_SYMBOLIZER_FUNCTION_ROW_H
#define FXT_SYMBOLIZER_FUNCTION_ROW_H

#include "image.h"
#include "protobuf.h"

#define FXT_FUNCTION_ROW_BLOB "fxt: functions"

/* What is known so far, of all processes. All zeros is an empty one. */
struct fxt_function_rows {
	struct fxt_message packets; /* without times; the size of each, a size_t, stands before it */
	uint64_t process;           /* koid of whose row was described last; 0 = nobody's */
};

/* Adds a function of the process; nothing if its source file is not known. */
void fxt_function_rows_add(
        struct fxt_function_rows *rows, uint64_t process_koid, const struct fxt_location *function);

/* What a blob is to hold. */
typedef void fxt_function_rows_blob(void *context, const void *data, size_t bytes);

/* Hands out all that was added, at a time as the UI has it (fxt_rate_viewer_ns). Then there is nothing any
 * more.
 */
void fxt_function_rows_take(
        struct fxt_function_rows *rows, uint64_t ns, fxt_function_rows_blob *blob, void *context);

/* Adds all of another's. */
void fxt_function_rows_copy(struct fxt_function_rows *rows, const struct fxt_function_rows *from);

void fxt_function_rows_free(struct fxt_function_rows *rows);

#endif
