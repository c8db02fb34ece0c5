/*
 * Traces that were compressed as a whole, by gzip or Zstandard: known by their first bytes, whatever their
 * names are. Any part of a trace is read more than once, so they are decompressed into a file without a name
 * first (spill.h).
 */
#ifndef FXT_READER_COMPRESSED_H
#define FXT_READER_COMPRESSED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether so many bytes, 4 if there are as many, are how a compressed file begins. */
bool fxt_is_compressed(const void *first, size_t bytes);

/*
 * Decompresses a file, which can be read anywhere. Returns a descriptor of what is in it, or -1 and why not,
 * as half a sentence, in *reason, which holds until the next call.
 *
 * A file that was cut yields what there is before the cut, and a byte more, so that readers find its end
 * inside of a record.
 */
int fxt_decompress(int fd, const char **reason);

#endif
