#include "archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "source.h"

static int archive_map(struct fxt_archive *archive, const struct fxt_source *source, const char *name,
        char *error, size_t error_bytes)
{
	void *map = mmap(NULL, source->bytes, PROT_READ, MAP_PRIVATE, source->fd, 0);

	if (map == MAP_FAILED) {
		snprintf(error, error_bytes, "%s: cannot be read: %s", name, strerror(errno));
		return -1;
	}
	madvise(map, source->bytes, MADV_SEQUENTIAL);
	*archive = (struct fxt_archive){
	        .words = map, .bytes = source->bytes, .mapped = true, .file = source->file};
	return 0;
}

int fxt_archive_open_fd(
        struct fxt_archive *archive, int fd, const char *name, char *error, size_t error_bytes)
{
	struct fxt_source source;

	*archive = (struct fxt_archive){0};
	if (fxt_source_open_fd(&source, fd, name, error, error_bytes) != 0)
		return -1;
	int result = archive_map(archive, &source, name, error, error_bytes);

	fxt_source_close(&source);
	return result;
}

int fxt_archive_open(struct fxt_archive *archive, const char *name, char *error, size_t error_bytes)
{
	struct fxt_source source;

	*archive = (struct fxt_archive){0};
	if (fxt_source_open(&source, name, error, error_bytes) != 0)
		return -1;
	int result = archive_map(archive, &source, name, error, error_bytes);

	fxt_source_close(&source);
	return result;
}

void fxt_archive_close(struct fxt_archive *archive)
{
	if (archive->mapped)
		munmap((void *)archive->words, archive->bytes);
	*archive = (struct fxt_archive){0};
}
