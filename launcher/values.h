/*
 * Value formats that several options share. The readers of values (message.h) return NULL,
 * or the error in the text as half a sentence; nothing is stored then.
 */
#ifndef FXT_LAUNCHER_VALUES_H
#define FXT_LAUNCHER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "symbolizer/record_filter.h"
#include "writer/shared/slot.h"

/* Reads a size that a trace buffer can have: MiB, or a number with K, M or G. */
const char *fxt_value_buffer_bytes(const char *text, uint64_t *bytes);

#define FXT_SIZE_MIN_BYTES (UINT64_C(1) << 20)
#define FXT_SIZE_MAX_BYTES (UINT64_C(1) << 40)

/* Reads any size of a trace, in the same format. */
const char *fxt_value_size(const char *text, uint64_t *bytes);

#define FXT_TIME_MAX_NS UINT64_C(1000000000000000000) /* 10^9 s: ticks must not overflow */

/* Reads a time above 0 as nanoseconds; without a unit it is in seconds
 * (reader/trace/duration.h). */
const char *fxt_value_time(const char *text, uint64_t *nanoseconds);

/* Reads the number of calls to record. */
const char *fxt_value_max_calls(const char *text, uint64_t *calls);
#define FXT_MAX_CALLS_MAX UINT64_C(1000000000000000000)

/* Reads the depth of calls to record. */
const char *fxt_value_depth(const char *text, uint32_t *depth);
#define FXT_DEPTH_MAX ((int)FXT_FRAME_DEPTH_MAX - 1)

/* Reads the percentage of the time that recording may take before functions are muted. */
const char *fxt_value_muting_percent(const char *text, unsigned *percent);
#define FXT_MUTING_PERCENT     "20" /* default: calls of usual length stay below it */
#define FXT_MUTING_PERCENT_MAX 99

/* Checks the name of a file for a trace: it is compressed by Zstandard if it ends in .zst;
 * other compressions are refused. */
const char *fxt_value_trace_file(const char *text);

/* True if the text is one of `words`, an array that may have gaps (NULL); stores its index
 * in *index. */
bool fxt_value_word(
        const char *text, size_t text_bytes, const char *const *words, size_t count, unsigned *index);

/* The bytes of a list's first item, which ends before a comma or a semicolon. A comma
 * inside the brackets of C++ is part of a name. */
size_t fxt_value_item_bytes(const char *list);

/* Names of the patterns that choose functions, as fields of the control socket; the
 * counterpart of fxt_record_filter_words. */
extern const char *const fxt_pattern_fields[FXT_RECORD_FILTER_PATTERNS];

/* The buffering modes: the words of options, and those of the control socket, which follow
 * Fuchsia's controller. */
#define FXT_BUFFERING_MODES 3
extern const char *const fxt_buffering_mode_words[FXT_BUFFERING_MODES];
extern const char *const fxt_buffering_mode_names[FXT_BUFFERING_MODES];

#endif
