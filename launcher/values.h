/*
 * Values that options share the form of. Each parser returns NULL, or what is wrong with the text as half a
 * sentence; nothing is stored then.
 */
#ifndef FXT_LAUNCHER_VALUES_H
#define FXT_LAUNCHER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A size that a trace buffer can have: MiB, or a number with K, M or G. */
const char *fxt_value_buffer_bytes(const char *text, uint64_t *bytes);

/* Seconds, with a fraction or without, as nanoseconds; above 0 and at most 10^9 s. */
const char *fxt_value_seconds(const char *text, uint64_t *nanoseconds);

/* Whether the text is one of `words`, an array that may have gaps (NULL); its place among them goes to
 * *place. */
#define FXT_VALUE_WORD(text, text_bytes, words, place) \
	fxt_value_word(text, text_bytes, words, sizeof(words) / sizeof(*(words)), place)
bool fxt_value_word(
        const char *text, size_t text_bytes, const char *const *words, size_t count, unsigned *place);

#endif
