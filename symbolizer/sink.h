/*
 * Where a rewritten archive goes: a descriptor, and what was not written to it yet. Small pieces are
 * gathered; large ones are written from where they lie, without a copy. Or it goes into frames, which gather
 * by themselves.
 */
#ifndef FXT_SYMBOLIZER_SINK_H
#define FXT_SYMBOLIZER_SINK_H

#include <stddef.h>
#include "frames.h"

/* A block that stays in a core's cache between being read and being written. */
#define FXT_SINK_BLOCK_BYTES ((size_t)1 << 18)

struct fxt_sink {
	int fd;
	struct fxt_frames *frames; /* NULL: not compressed */
	size_t pending;
	char block[FXT_SINK_BLOCK_BYTES];
};

/* Each returns 0, or the errno value of a failed write; then the sink is of no more use. */
int fxt_sink_append(struct fxt_sink *sink, const void *bytes, size_t count);
int fxt_sink_flush(struct fxt_sink *sink);

#endif
