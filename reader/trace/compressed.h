/*
 * Traces that were compressed as a whole, by gzip or Zstandard. Their first bytes identify
 * them, whatever their names are. Any part of a trace is read more than once, so they are
 * decompressed into a file without a name first (spill.h).
 */
#ifndef FXT_READER_COMPRESSED_H
#define FXT_READER_COMPRESSED_H

#include <stdbool.h>
#include <stddef.h>

/* True if a compressed file begins with these bytes: 4 of them, if the file has that
 * many. */
bool fxt_is_compressed(const void *first, size_t bytes);

/*
 * Decompresses a file that can be read anywhere. Returns a descriptor of its content, or -1
 * and the reason as half a sentence in *reason, which holds until the next call.
 *
 * A file that was cut yields the content before the cut and one more byte, so that readers
 * find its end inside a record.
 */
int fxt_decompress(int fd, const char **reason);

#endif
