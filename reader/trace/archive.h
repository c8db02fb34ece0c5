/*
 * An archive: the bytes of a trace file, mapped. Only the magic record is examined here, to
 * recognise an archive (source.h). A cursor that reads it from end to end keeps no more of
 * it in memory than a piece (cursor.h).
 */
#ifndef FXT_READER_ARCHIVE_H
#define FXT_READER_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "source.h"
#include "reader/slices/span.h"

/* Whole records of an archive, in bytes from its start. */
struct fxt_archive_part {
	uint64_t from, to;
};

struct fxt_archive {
	const uint64_t *words;                /* 8-byte aligned */
	size_t bytes;                         /* of the file; not always whole words */
	bool mapped;                          /* else the memory belongs to somebody else */
	struct fxt_source_file file;          /* the opened file, if there is one */
	const struct fxt_archive_part *parts; /* cursors see only these; ascending,
	                                         inside the archive; NULL: all. Owned by
	                                         the caller */
	size_t part_count;
};

/* Opens a file by name, as fxt_source_open() does. Returns 0, or -1 with one line in
 * error[error_bytes] that names the file. */
int fxt_archive_open(struct fxt_archive *archive, const char *name, char *error, size_t error_bytes);

/* The same for an open descriptor, which stays open; `name` is for messages. Regular files
 * are taken from their start, wherever the descriptor stands. */
int fxt_archive_open_fd(
        struct fxt_archive *archive, int fd, const char *name, char *error, size_t error_bytes);

void fxt_archive_close(struct fxt_archive *archive);

#endif
