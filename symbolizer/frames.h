/*
 * A file of Zstandard frames, as a trace that is compressed while it comes to be: each frame holds up to
 * FXT_FRAME_BYTES and is whole by itself, so a file that ends in the midst of one can be read as far as the
 * frame before. What is to be changed later stands as it is in a frame of its own, which has no checksum. At
 * the end a frame that others skip tells where each begins (Zstandard's seekable format, version 0.1.0):
 *
 *     |frame|header 12 bytes, stored bytes|frame|frame| ... |seek table|
 */
#ifndef FXT_SYMBOLIZER_FRAMES_H
#define FXT_SYMBOLIZER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FXT_FRAME_BYTES        ((size_t)1 << 20)
#define FXT_FRAME_STORED_BYTES ((size_t)1 << 16) /* of a stored frame, at most */

struct fxt_frames {
	int fd;
	uint64_t file_bytes;    /* of all frames that are whole in the file */
	uint64_t content_bytes; /* that are in them */
	size_t pending;         /* in `block`: in no frame yet */
	char *block, *frame;
	void *compression;
	uint32_t (*table)[2]; /* of each frame: its size, and that of its content */
	size_t count, room;
	bool is_unlisted; /* memory was short: there will be no table */
};

/* Begins in a file that stands where the frames are to go. Returns 0 or ENOMEM. */
int fxt_frames_begin(struct fxt_frames *frames, int fd);

/* Each returns 0, or the errno value of a failed write: then the file holds part of a frame behind
 * `file_bytes`, and nothing more may be added. */
int fxt_frames_append(struct fxt_frames *frames, const void *bytes, size_t count);
int fxt_frames_flush(struct fxt_frames *frames);

/* Adds a stored frame; *at becomes where in the file its content stands. */
int fxt_frames_store(struct fxt_frames *frames, const void *bytes, size_t count, uint64_t *at);

/* Adds what is pending, and the table. */
int fxt_frames_finish(struct fxt_frames *frames);

/* Gives back the memory. */
void fxt_frames_end(struct fxt_frames *frames);

#endif
