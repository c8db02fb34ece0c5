/*
 * Where a trace is read from: a file of a size known from the beginning, any part of which can be read again,
 * by any thread. Nothing of it is mapped, so memory holds what its readers keep, and a file that is cut short
 * meanwhile ends a read instead of the program.
 *
 * What cannot be read twice, a pipe, a terminal or a socket, is copied to a file without a name in TMPDIR
 * first, and so is what is in a file that was compressed (compressed.h). A file that grows is read up to the
 * size it had when it was opened.
 */
#ifndef FXT_READER_SOURCE_H
#define FXT_READER_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The file that was opened. Of what is no regular file it is only known that it is for its owner alone. */
struct fxt_source_file {
	dev_t device;
	ino_t inode;
	mode_t mode;
	gid_t group;
};

struct fxt_source {
	int fd;
	uint64_t bytes;              /* not always whole words */
	struct fxt_source_file file; /* which fd is not where that was copied */
};

/*
 * Opens a file by name, "-" being the standard input. Returns 0, or -1 with one line in error[error_bytes]
 * that names the file: it cannot be read or decompressed, is empty, is a directory, or does not begin with
 * the magic record of the format (the section on trace info metadata).
 */
int fxt_source_open(struct fxt_source *source, const char *name, char *error, size_t error_bytes);

/* The same for an open descriptor, which is not needed any more afterwards; `name` is for messages. A regular
 * file is taken from its start, wherever the descriptor stands. */
int fxt_source_open_fd(struct fxt_source *source, int fd, const char *name, char *error, size_t error_bytes);

void fxt_source_close(struct fxt_source *source);

/* Reads so many bytes from an offset. Returns how many there were: fewer than asked for at the end, or behind
 * what cannot be read. */
size_t fxt_source_read(const struct fxt_source *source, uint64_t offset, void *bytes, size_t count);

#endif
