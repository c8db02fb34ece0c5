/*
 * The output of a rewritten archive: a descriptor, and bytes that are not written to it
 * yet. Small pieces are gathered; large ones are written from their place, without a copy.
 * With `frames`, the bytes go into frames instead, which gather by themselves.
 */
#ifndef FXT_READER_SINK_H
#define FXT_READER_SINK_H

#include <stddef.h>
#include "zstd_frames.h"

/* A block that stays in a core's cache between being read and being written. */
#define FXT_SINK_BLOCK_BYTES ((size_t)1 << 18)

struct fxt_sink {
	int fd;
	struct fxt_frames *frames; /* NULL: not compressed */
	size_t pending;
	char block[FXT_SINK_BLOCK_BYTES];
};

/* Each returns 0, or the errno value of a failed write; the sink is then unusable. */
int fxt_sink_append(struct fxt_sink *sink, const void *bytes, size_t count);
int fxt_sink_flush(struct fxt_sink *sink);

#endif
