/*
 * Bytes inside something that is read, usually an archive: text without a terminator, or
 * data. Also the comparison of texts.
 */
#ifndef FXT_READER_SPAN_H
#define FXT_READER_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* An empty span may have NULL as `data`. */
struct fxt_span {
	const char *data;
	size_t bytes;
};

static inline struct fxt_span fxt_span(const char *text)
{
	return (struct fxt_span){text, strlen(text)};
}

static inline bool fxt_spans_equal(struct fxt_span a, struct fxt_span b)
{
	return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.data, b.data, a.bytes) == 0);
}

static inline bool fxt_span_is(struct fxt_span span, const char *text)
{
	return fxt_spans_equal(span, fxt_span(text));
}

static inline bool fxt_begins_with(struct fxt_span span, const char *begin)
{
	size_t bytes = strlen(begin);

	return span.bytes >= bytes && (bytes == 0 || memcmp(span.data, begin, bytes) == 0);
}

static inline bool fxt_ends_with(struct fxt_span span, const char *end)
{
	size_t bytes = strlen(end);

	return span.bytes >= bytes &&
	       (bytes == 0 || memcmp(span.data + (span.bytes - bytes), end, bytes) == 0);
}

/* Orders by the values of bytes, for qsort(); a prefix comes before a longer text. */
static inline int fxt_spans_compare(struct fxt_span a, struct fxt_span b)
{
	size_t shorter = a.bytes < b.bytes ? a.bytes : b.bytes;
	int by_bytes = shorter ? memcmp(a.data, b.data, shorter) : 0;

	return by_bytes ? by_bytes : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

#endif
