/*
 * A file of Zstandard frames: the form of a trace that is compressed as it is written. Each
 * frame holds up to FXT_FRAME_BYTES and can be read by itself, so a file that ends inside a
 * frame is readable up to the frame before. Content that will be changed later is stored
 * uncompressed in a frame of its own, which has no checksum. The last frame, which other
 * readers skip, lists the frames' sizes (Zstandard's seekable format, version 0.1.0):
 *
 *     |frame|header 12 bytes, stored bytes|frame|frame| ... |seek table|
 */
#ifndef FXT_READER_ZSTD_FRAMES_H
#define FXT_READER_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* each frame begins so, in little-endian order */
#define FXT_FRAME_MAGIC        0xFD2FB528u
#define FXT_FRAME_BYTES        ((size_t)1 << 20)
#define FXT_FRAME_STORED_BYTES ((size_t)1 << 16) /* the maximum for a stored frame */

struct fxt_frames {
	int fd;
	uint64_t file_bytes;    /* of all complete frames in the file */
	uint64_t content_bytes; /* of the content of these frames */
	size_t pending;         /* in `block`, not in a frame yet */
	char *block, *frame;
	void *compression;
	uint32_t (*table)[2]; /* for each frame: its size, and the size of its content */
	size_t count, room;
	bool is_unlisted; /* memory was short: no table will be written */
	/* Set after the beginning: the file was empty then, and other processes may cut it
	 * (append.h). */
	bool is_exposed;
};

/* Begins at the current position of the file. Returns 0 or ENOMEM. */
int fxt_frames_begin(struct fxt_frames *frames, int fd);

/* Each returns 0, or the errno value of a failed write; Exposed frames may also return
 * FXT_ERROR_CUT. After a failure the file holds part of a frame behind `file_bytes`, and
 * nothing more may be added. */
int fxt_frames_append(struct fxt_frames *frames, const void *bytes, size_t count);
int fxt_frames_flush(struct fxt_frames *frames);

/* Adds a stored frame; *at becomes the position of its content in the file. */
int fxt_frames_store(struct fxt_frames *frames, const void *bytes, size_t count, uint64_t *at);

/* Adds the pending bytes, and the table. */
int fxt_frames_finish(struct fxt_frames *frames);

/* The file was cut to so many bytes: drops the frames that are not whole any more; all if
 * the file does not begin with a frame, or without a table. Nothing may be added then. */
void fxt_frames_keep(struct fxt_frames *frames, uint64_t file_bytes);

/* Frees the memory. */
void fxt_frames_end(struct fxt_frames *frames);

#endif
