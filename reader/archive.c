#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compressed.h"
#include "progress.h"
#include "spill.h"
#include "writer/format.h"

#define FIRST_READ_BYTES ((size_t)1 << 16)

/* Reads a pipe, or a file whose size is not known beforehand, to its end. Returns 0 or an errno value. */
static int archive_read_to_end(struct fxt_archive *archive, int fd)
{
	size_t room = 0;
	char *bytes = NULL;

	for (;;) {
		if (archive->bytes == room) {
			size_t larger = room ? room * 2 : FIRST_READ_BYTES;
			char *moved = realloc(bytes, larger);

			if (!moved)
				break;
			bytes = moved;
			room = larger;
		}
		ssize_t got = read(fd, bytes + archive->bytes, room - archive->bytes);

		if (got == 0) {
			/* Gives the rest of the room back, which also lets a sanitizer see a read behind the
			 * end. */
			char *fitted = realloc(bytes, archive->bytes ? archive->bytes : 1);

			archive->words = (const uint64_t *)(fitted ? fitted : bytes);
			fxt_progress_end();
			return 0;
		}
		if (got > 0) {
			archive->bytes += (size_t)got;
			fxt_progress_tell("reading", archive->bytes, 0);
		} else if (errno != EINTR) {
			break;
		}
	}
	int error = errno;

	free(bytes);
	return error;
}

static int archive_map_or_read(struct fxt_archive *archive, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	if (S_ISREG(status.st_mode) && status.st_size > 0) {
		void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (map != MAP_FAILED) {
			madvise(map, (size_t)status.st_size, MADV_SEQUENTIAL);
			archive->words = map;
			archive->bytes = (size_t)status.st_size;
			archive->mapped = true;
			return 0;
		}
	}
	return archive_read_to_end(archive, fd);
}

/* A file without a name that has the bytes of an archive, which is compressed; -1, with errno set. */
static int archive_to_file(const struct fxt_archive *archive)
{
	const char *bytes = (const char *)archive->words;
	int fd = fxt_spill_file();

	for (size_t done = 0; fd >= 0 && done < archive->bytes;) {
		ssize_t put = write(fd, bytes + done, archive->bytes - done);

		if (put < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		done += put > 0 ? (size_t)put : 0;
	}
	return fd;
}

/* Takes what is in it in place of an archive that is compressed. Returns NULL, or why it cannot be done. */
static const char *archive_decompress(struct fxt_archive *archive)
{
	const char *reason = "cannot be copied to a temporary file";
	int fd = archive_to_file(archive), plain = -1;

	if (fd >= 0) {
		plain = fxt_decompress(fd, &reason);
		close(fd);
	}
	if (plain < 0)
		return reason;
	fxt_archive_close(archive);
	int failed = archive_map_or_read(archive, plain);

	close(plain);
	return failed ? "cannot be read" : NULL;
}

const char *fxt_archive_refusal(uint64_t first_word, size_t bytes)
{
	if (bytes == 0)
		return "is empty";
	if (bytes >= 8 && first_word == FXT_MAGIC_RECORD)
		return NULL;
	if (bytes >= 8 && first_word == __builtin_bswap64(FXT_MAGIC_RECORD))
		return "is a trace of a big-endian machine, which cannot be read";
	return "is not a trace in the Fuchsia trace format (FXT)";
}

int fxt_archive_open_fd(
        struct fxt_archive *archive, int fd, const char *name, char *error, size_t error_bytes)
{
	*archive = (struct fxt_archive){0};
	int failed = archive_map_or_read(archive, fd);

	if (failed) {
		snprintf(error, error_bytes, "%s: cannot be read: %s", name, strerror(failed));
		return -1;
	}
	const char *reason = NULL;

	if (fxt_is_compressed(archive->words, archive->bytes))
		reason = archive_decompress(archive);
	if (!reason)
		reason = fxt_archive_refusal(archive->bytes >= 8 ? archive->words[0] : 0, archive->bytes);
	if (reason) {
		snprintf(error, error_bytes, "%s: %s", name, reason);
		fxt_archive_close(archive);
		return -1;
	}
	return 0;
}

int fxt_archive_open(struct fxt_archive *archive, const char *name, char *error, size_t error_bytes)
{
	bool standard_input = strcmp(name, "-") == 0;
	int fd = standard_input ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		snprintf(error, error_bytes, "%s: cannot be opened: %s", name, strerror(errno));
		return -1;
	}
	int result = fxt_archive_open_fd(
	        archive, fd, standard_input ? "standard input" : name, error, error_bytes);

	if (!standard_input)
		close(fd);
	return result;
}

void fxt_archive_close(struct fxt_archive *archive)
{
	if (archive->mapped)
		munmap((void *)archive->words, archive->bytes);
	else
		free((void *)archive->words);
	*archive = (struct fxt_archive){0};
}
