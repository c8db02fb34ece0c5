/*
 * The one line that fxtrun says of a finished trace.
 */
#ifndef FXT_LAUNCHER_MANAGER_SUMMARY_H
#define FXT_LAUNCHER_MANAGER_SUMMARY_H

#include <stddef.h>
#include "session.h"

/* Writes the line, such as "12,345,678 events, 8 threads, 1 process, 0 lost, 296 MB:
 * trace.fxt", and what the numbers mean where they are not what one hopes for. */
void fxt_summary(char *line, size_t line_bytes, const struct fxt_totals *totals, const char *program,
        const char *output, uint64_t output_bytes);

/* True if calls were to be recorded, and none was made or lost: the line then says why that
 * may be. False if the heap of any program was requested, and there is some of it. */
bool fxt_summary_lacks_calls(const struct fxt_totals *totals);

/* Writes a line on a function that was muted, such as "muted by --auto: leaf since 412.345
 * ms: 12,345 calls recorded until then". `start_ticks` is when recording began. */
void fxt_summary_muted(char *line, size_t line_bytes, const struct fxt_counted_function *function,
        uint64_t start_ticks, uint64_t ticks_per_second);

/* Whether fxt suggest would have halved the trace, and it is large enough for that to
 * matter. */
bool fxt_summary_suggests(const struct fxt_totals *totals);

#endif
