/*
 * Forms of values that several options have. Readers of values (message.h): they return NULL, or what is
 * wrong with the text as half a sentence; nothing is stored then.
 */
#ifndef FXT_LAUNCHER_VALUES_H
#define FXT_LAUNCHER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "symbolizer/selection.h"
#include "writer/slot.h"

/* A size that a trace buffer can have: MiB, or a number with K, M or G. */
const char *fxt_value_buffer_bytes(const char *text, uint64_t *bytes);

#define FXT_SIZE_MIN_BYTES (UINT64_C(1) << 20)
#define FXT_SIZE_MAX_BYTES (UINT64_C(1) << 40)

/* Any size of a trace, written the same way. */
const char *fxt_value_size(const char *text, uint64_t *bytes);

#define FXT_TIME_MAX_NS UINT64_C(1000000000000000000) /* 10^9 s: so that ticks do not overflow */

/* A time, of seconds where it has no unit (reader/trace/duration.h), as nanoseconds; above 0. */
const char *fxt_value_time(const char *text, uint64_t *nanoseconds);

/* So many calls are to be recorded. */
const char *fxt_value_max_calls(const char *text, uint64_t *calls);
#define FXT_MAX_CALLS_MAX UINT64_C(1000000000000000000)

/* So many calls deep is to be recorded. */
const char *fxt_value_depth(const char *text, uint32_t *depth);
#define FXT_DEPTH_MAX ((int)FXT_FRAME_DEPTH_MAX - 1)

/* So much of the time may be spent on recording, as a share in percent, else functions are muted. */
const char *fxt_value_muting_percent(const char *text, unsigned *percent);
#define FXT_MUTING_PERCENT     "20" /* without a number: programs with calls of a usual length stay below */
#define FXT_MUTING_PERCENT_MAX 99

/* The name of a file that a trace can be written to: compressed by Zstandard if it ends in .zst, by nothing
 * else. */
const char *fxt_value_trace_file(const char *text);

/* Whether the text is one of `words`, an array that may have gaps (NULL); its index goes to *index. */
bool fxt_value_word(
        const char *text, size_t text_bytes, const char *const *words, size_t count, unsigned *index);

/* Patterns that choose functions, as the control socket has them: fields, in place of fxt_selection_words. */
extern const char *const fxt_pattern_fields[FXT_SELECTION_PATTERNS];

/* The buffering modes: as options have them, and as the control socket does, after Fuchsia's controller. */
#define FXT_BUFFERING_MODES 3
extern const char *const fxt_buffering_mode_words[FXT_BUFFERING_MODES];
extern const char *const fxt_buffering_mode_names[FXT_BUFFERING_MODES];

#endif
