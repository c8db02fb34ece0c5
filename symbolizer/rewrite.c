#include "rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "records.h"
#include "writer/handshake.h"

int fxt_rewrite_archive(int in_fd, int out_fd, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes)
{
	struct fxt_archive archive;
	int failed;

	if (fxt_archive_open_fd(&archive, in_fd, "the recorded trace", error, error_bytes) != 0)
		return -1;
	failed = fxt_rewrite_records(&archive, out_fd, options, result);
	fxt_archive_close(&archive);
	if (failed)
		snprintf(error, error_bytes, "the finished trace cannot be written: %s", strerror(failed));
	return failed ? -1 : 0;
}

int fxt_rewrite_append_profiles(
        int fd, const struct fxt_rewrite_options *options, char *error, unsigned error_bytes)
{
	struct fxt_archive archive;
	off_t end = lseek(fd, 0, SEEK_END);
	int failed;

	if (end < 0 || fxt_archive_open_fd(&archive, fd, "the recorded trace", error, error_bytes) != 0)
		return -1;
	archive.parts = options->parts;
	archive.part_count = options->part_count;
	/* Of a file that took no more the end is not there. */
	while (archive.part_count && archive.parts[archive.part_count - 1].to > archive.bytes)
		archive.part_count--;
	failed = fxt_rewrite_profiles(&archive, fd, options->ticks_per_second);
	fxt_archive_close(&archive);
	if (!failed)
		return 0;
	snprintf(error, error_bytes, "the heap's profiles cannot be written: %s", strerror(failed));
	if (ftruncate(fd, end) != 0)
		snprintf(error, error_bytes, "the trace ends in part of the heap's profiles: %s",
		        strerror(errno));
	return -1;
}

/*
 * A file that is to replace another, or to be a new one. It has no name until it is whole, so that nothing
 * lies about if we are killed; where the file system cannot do that, it has a temporary one.
 */
struct draft {
	int fd;
	char name[PATH_MAX]; /* temporary; "" = none yet */
	char target[PATH_MAX];
};

#define TEMPORARY_NAME ".trace.fxt.XXXXXX"

/* Writes the path of a file beside the target. */
static int name_beside(struct draft *draft, const char *name)
{
	const char *slash = strrchr(draft->target, '/');
	int directory = slash ? (int)(slash + 1 - draft->target) : 0;
	int bytes = snprintf(draft->name, sizeof(draft->name), "%.*s%s", directory, draft->target, name);

	return bytes < (int)sizeof(draft->name) ? 0 : ENAMETOOLONG;
}

static int open_draft(struct draft *draft)
{
	int failed = name_beside(draft, ".");

	if (failed)
		return failed;
	/* It gets its name through /proc in the end. */
	draft->fd = access("/proc/self/fd", X_OK) == 0
	                    ? open(draft->name, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)
	                    : -1;
	draft->name[0] = '\0';
	if (draft->fd >= 0)
		return 0;
	failed = name_beside(draft, TEMPORARY_NAME);
	if (failed)
		return failed;
	draft->fd = mkostemp(draft->name, O_CLOEXEC);
	if (draft->fd >= 0)
		return 0;
	draft->name[0] = '\0';
	return errno;
}

static int name_draft(struct draft *draft)
{
	char open_file[32], name[sizeof(TEMPORARY_NAME)];
	unsigned number;

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", draft->fd);
	do {
		if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
			number = (unsigned)getpid();
		snprintf(name, sizeof(name), ".trace.fxt.%06x", number & 0xffffff);
		name_beside(draft, name);
		if (linkat(AT_FDCWD, open_file, AT_FDCWD, draft->name, AT_SYMLINK_FOLLOW) == 0)
			return 0;
	} while (errno == EEXIST);
	draft->name[0] = '\0';
	return errno;
}

static int rewrite_publish(struct draft *draft, const struct stat *replaced)
{
	mode_t mode = replaced ? replaced->st_mode & 07777 : FXT_TRACE_MODE;
	int failed = draft->name[0] ? 0 : name_draft(draft);

	if (failed)
		return failed;
	/* Others than root cannot give a file away; it is then theirs. */
	if (replaced && fchown(draft->fd, replaced->st_uid, replaced->st_gid) != 0 && geteuid() == 0)
		return errno;
	if (fchmod(draft->fd, mode) != 0 || rename(draft->name, draft->target) != 0)
		return errno;
	draft->name[0] = '\0';
	return 0;
}

static void close_draft(struct draft *draft)
{
	if (draft->name[0])
		unlink(draft->name);
	if (draft->fd >= 0)
		close(draft->fd);
}

static int write_file(const struct fxt_archive *archive, const char *to, const struct stat *replaced,
        const struct fxt_rewrite_options *options, struct fxt_rewrite_result *result)
{
	struct draft draft = {.fd = -1};
	int failed = 0;

	/* What a symbolic link leads to is replaced, not the link. */
	if (replaced ? !realpath(to, draft.target)
	             : snprintf(draft.target, PATH_MAX, "%s", to) >= PATH_MAX && (errno = ENAMETOOLONG))
		failed = errno;
	if (!failed)
		failed = open_draft(&draft);
	if (!failed)
		failed = fxt_rewrite_records(archive, draft.fd, options, result);
	if (!failed)
		failed = rewrite_publish(&draft, replaced);
	close_draft(&draft);
	return failed;
}

static int write_device(const struct fxt_archive *archive, const char *to,
        const struct fxt_rewrite_options *options, struct fxt_rewrite_result *result)
{
	int fd = open(to, O_WRONLY | O_CLOEXEC);
	int failed = fd < 0 ? errno : fxt_rewrite_records(archive, fd, options, result);

	if (fd >= 0)
		close(fd);
	return failed;
}

int fxt_rewrite_copy(const char *from, const char *to, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes)
{
	struct fxt_archive archive;
	struct stat status;
	bool exists = stat(to, &status) == 0;
	int failed;

	if (fxt_archive_open(&archive, from, error, error_bytes) != 0)
		return -1;
	if (exists && !S_ISREG(status.st_mode))
		failed = write_device(&archive, to, options, result);
	else
		failed = write_file(&archive, to, exists ? &status : NULL, options, result);
	fxt_archive_close(&archive);
	if (failed)
		snprintf(error, error_bytes, "%s: cannot be written: %s", to, strerror(failed));
	return failed ? -1 : 0;
}

int fxt_rewrite_file(const char *path, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes)
{
	return fxt_rewrite_copy(path, path, options, result, error, error_bytes);
}
