/*
 * Opens a trace to read from; copies or decompresses it first if it cannot be read twice.
 * The trace is opened on one thread; fxt_source_read() may run on several. Nothing is
 * mapped, so a file that is cut short ends a read and not the program.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compressed.h"
#include "index.h"
#include "progress.h"
#include "spill.h"
#include "write_all.h"
#include "writer/format/format.h"

#define COPY_BYTES ((size_t)1 << 18)

static ssize_t source_read_some(int fd, char *bytes, size_t count)
{
	ssize_t got;

	do
		got = read(fd, bytes, count);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Copies input that can be read only once. Returns 0 or an errno value; `writing` says
 * whether the writing side failed. */
static int source_spool(struct fxt_source *source, int fd, bool *writing)
{
	char *bytes = fxt_allocate(COPY_BYTES);
	ssize_t got = 0;
	int error = 0;

	source->fd = fxt_spill_file();
	*writing = source->fd < 0;
	if (*writing)
		error = errno;
	while (!error && (got = source_read_some(fd, bytes, COPY_BYTES)) > 0) {
		error = fxt_write_all(source->fd, bytes, (size_t)got);
		*writing = error != 0;
		source->bytes += (uint64_t)got;
		fxt_progress_report("copying", source->bytes, 0);
	}
	fxt_progress_end();
	free(bytes);
	return got < 0 ? errno : error;
}

static int source_open_to_seek(struct fxt_source *source, int fd, bool *writing)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	source->file = (struct fxt_source_file){.device = status.st_dev,
	        .inode = status.st_ino,
	        .mode = S_ISREG(status.st_mode) ? status.st_mode : 0600,
	        .group = status.st_gid};
	/* Files of the kernel report a size of 0. */
	if (!S_ISREG(status.st_mode) || status.st_size == 0)
		return source_spool(source, fd, writing);
	source->bytes = (uint64_t)status.st_size;
	source->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (source->fd < 0)
		return errno;
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

/* Replaces a compressed file by its content. Returns NULL, or the reason for a failure. */
static const char *source_decompress(struct fxt_source *source)
{
	const char *reason = NULL;
	struct stat status;
	char first[4];
	size_t got = fxt_source_read(source, 0, first, sizeof(first));

	if (!fxt_is_compressed(first, got))
		return NULL;
	int plain = fxt_decompress(source->fd, &reason);

	if (plain < 0)
		return reason;
	close(source->fd);
	source->fd = plain;
	source->bytes = fstat(plain, &status) == 0 ? (uint64_t)status.st_size : 0;
	return NULL;
}

/* Returns why a file of this size that begins with this word is no archive, or NULL. A file
 * of less than 8 bytes has no first word. */
static const char *source_refusal(uint64_t first_word, size_t bytes)
{
	if (bytes == 0)
		return "is empty";
	if (bytes >= 8 && first_word == FXT_MAGIC_RECORD)
		return NULL;
	if (bytes >= 8 && first_word == __builtin_bswap64(FXT_MAGIC_RECORD))
		return "is a trace of a big-endian machine, which cannot be read";
	return "is not a trace in the Fuchsia trace format (FXT)";
}

int fxt_source_open_fd(struct fxt_source *source, int fd, const char *name, char *error, size_t error_bytes)
{
	uint64_t first_word = 0;
	bool writing = false;

	*source = (struct fxt_source){.fd = -1};
	int failed = source_open_to_seek(source, fd, &writing);

	if (failed) {
		snprintf(error, error_bytes, "%s: cannot be %s: %s", name,
		        writing ? "copied to a temporary file" : "read", strerror(failed));
		fxt_source_close(source);
		return -1;
	}
	const char *refusal = source_decompress(source);

	if (!refusal) {
		size_t got = fxt_source_read(source, 0, &first_word, sizeof(first_word));

		refusal = source_refusal(first_word, got);
	}
	if (refusal) {
		snprintf(error, error_bytes, "%s: %s", name, refusal);
		fxt_source_close(source);
		return -1;
	}
	return 0;
}

int fxt_source_open(struct fxt_source *source, const char *name, char *error, size_t error_bytes)
{
	bool standard_input = strcmp(name, "-") == 0;
	int fd = standard_input ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		snprintf(error, error_bytes, "%s: cannot be opened: %s", name, strerror(errno));
		return -1;
	}
	int result =
	        fxt_source_open_fd(source, fd, standard_input ? "standard input" : name, error, error_bytes);

	if (!standard_input)
		close(fd);
	return result;
}

void fxt_source_close(struct fxt_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	*source = (struct fxt_source){.fd = -1};
}

size_t fxt_source_read(const struct fxt_source *source, uint64_t offset, void *bytes, size_t count)
{
	size_t done = 0;

	if (offset >= source->bytes)
		return 0;
	if (count > source->bytes - offset)
		count = (size_t)(source->bytes - offset);
	while (done < count) {
		ssize_t got = pread(source->fd, (char *)bytes + done, count - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}
