/*
 * The trace buffer as Fuchsia lays it out: a 128-byte header, the durable buffer, rolling buffers 0 and 1.
 * Oneshot has no durable buffer and one rolling buffer.
 */
#ifndef FXT_WRITER_BUFFER_H
#define FXT_WRITER_BUFFER_H

#include <stdbool.h>
#include <stdint.h>
#include "shared.h"

struct fxt_buffer_layout {
	uint64_t durable_bytes;     /* 0 in oneshot mode */
	uint64_t rolling_bytes;     /* of each rolling buffer */
	uint64_t rolling_offset[2]; /* from the start of the trace buffer; [1] is the end of the buffer in
	                               oneshot mode */
};

/* 0, or EINVAL: total_bytes is no multiple of 4096 or outside [FXT_BUFFER_MIN_BYTES, FXT_BUFFER_MAX_BYTES],
 * or the mode is none. */
int fxt_buffer_layout(enum fxt_buffering_mode mode, uint64_t total_bytes, struct fxt_buffer_layout *layout);

/* Writes the header of an empty buffer. */
void fxt_buffer_clear(struct fxt_buffer_header *header, enum fxt_buffering_mode mode, uint64_t total_bytes);

/* What is wrong with the header of a buffer of total_bytes that was set up for `mode`, or NULL. */
const char *fxt_buffer_check(
        const struct fxt_buffer_header *header, enum fxt_buffering_mode mode, uint64_t total_bytes);

#endif
