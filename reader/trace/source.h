/*
 * The input that a trace is read from: a file of known size; any thread can read any part
 * of it again. Nothing is mapped, so memory holds only what the readers keep, and a file
 * that is cut short while it is read ends a read instead of the program. Input that cannot
 * be read twice (a pipe, a terminal or a socket) is copied to a file without a name in
 * TMPDIR first. So is the decompressed content of a compressed file (compressed.h). A file
 * that grows is read up to its size when it was opened.
 */
#ifndef FXT_READER_SOURCE_H
#define FXT_READER_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The opened file. If it is not a regular file, all that is known is that it is for its
 * owner alone. */
struct fxt_source_file {
	dev_t device;
	ino_t inode;
	mode_t mode;
	gid_t group;
};

struct fxt_source {
	int fd;
	uint64_t bytes;              /* not always whole words */
	struct fxt_source_file file; /* the original, if fd is a copy */
};

/*
 * Opens a file by name, "-" being the standard input. Returns 0, or -1 with one line in
 * error[error_bytes] that names the file: it cannot be read or decompressed, is empty, is a
 * directory, or does not begin with the magic record of the format (the section on trace
 * info metadata).
 */
int fxt_source_open(struct fxt_source *source, const char *name, char *error, size_t error_bytes);

/* The same for an open descriptor, which is not needed afterwards; `name` is for messages.
 * A regular file is read from its start, wherever the descriptor stands. */
int fxt_source_open_fd(struct fxt_source *source, int fd, const char *name, char *error, size_t error_bytes);

void fxt_source_close(struct fxt_source *source);

/* Reads `count` bytes from an offset. Returns the number read: fewer than asked for at the
 * end, or before something that cannot be read. */
size_t fxt_source_read(const struct fxt_source *source, uint64_t offset, void *bytes, size_t count);

#endif
