/*
 * An archive: the bytes of a trace file, mapped where the file allows it. What is in them is not looked at
 * beyond the magic record, by which a file is known to be an archive at all (the section on trace info
 * metadata).
 */
#ifndef FXT_READER_ARCHIVE_H
#define FXT_READER_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "span.h"

struct fxt_archive {
	const uint64_t *words; /* 8-byte aligned */
	size_t bytes;          /* of the file; not always whole words */
	bool mapped;           /* else allocated */
};

/*
 * Opens a file by name, "-" being the standard input. A regular file is mapped, anything else read to its
 * end; of a file that was compressed, what is in it is mapped (compressed.h). Returns 0, or -1 with one line
 * in error[error_bytes] that names the file: it cannot be read or decompressed, is empty, is a directory, or
 * does not begin with the magic record of the format.
 */
int fxt_archive_open(struct fxt_archive *archive, const char *name, char *error, size_t error_bytes);

/* The same for an open descriptor, which stays open; `name` is for messages. Regular files are taken from
 * their start, wherever the descriptor stands. */
int fxt_archive_open_fd(
        struct fxt_archive *archive, int fd, const char *name, char *error, size_t error_bytes);

void fxt_archive_close(struct fxt_archive *archive);

/* Why a file of so many bytes that begins with this word is no archive, or NULL. A file of less than 8 bytes
 * has no first word. */
const char *fxt_archive_refusal(uint64_t first_word, size_t bytes);

#endif
