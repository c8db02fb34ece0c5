#include "trace_open.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "sys.h"

/* Opens the directory that a path is in, only in order to look at it. */
static long trace_open_directory(const char *path)
{
	char directory[PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');
	size_t bytes = slash ? (size_t)(slash - path) + 1 : 0;

	if (bytes >= sizeof(directory))
		return -ENAMETOOLONG;
	if (bytes) {
		memcpy(directory, path, bytes);
		directory[bytes] = 0;
	}
	return sys_call(SYS_openat, AT_FDCWD, directory, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Whether another user may have put the file there. A second name may be a hard link that
 * another user has made to a file of the caller's. */
static bool trace_open_is_foreign(const struct stat *file, const struct stat *directory)
{
	if (!(directory->st_mode & (S_IWGRP | S_IWOTH)))
		return false;
	return (file->st_uid != directory->st_uid && file->st_uid != sys_geteuid()) ||
	       (S_ISREG(file->st_mode) && file->st_nlink > 1);
}

/* Opens the existing file, in a directory that stays the same during the call. */
static long trace_open_existing(int directory, const char *name, int flags)
{
	struct stat there, of_directory;
	bool is_link;
	long error, fd;

	error = sys_call(SYS_fstat, directory, &of_directory, 0, 0);
	if (error == 0)
		error = sys_call(SYS_newfstatat, directory, name, &there, AT_SYMLINK_NOFOLLOW);
	if (error < 0)
		return error;
	if (trace_open_is_foreign(&there, &of_directory))
		return -EPERM;
	is_link = S_ISLNK(there.st_mode);
	fd = sys_call(SYS_openat, directory, name, flags | (is_link ? 0 : O_NOFOLLOW), 0);
	/* Checked again: another file may have taken its place. */
	if (fd >= 0 && !is_link &&
	        (sys_call(SYS_fstat, fd, &there, 0, 0) < 0 || trace_open_is_foreign(&there, &of_directory))) {
		sys_close((int)fd);
		return -EPERM;
	}
	return fd;
}

long fxt_trace_open(const char *path, int flags, unsigned mode)
{
	const char *slash = strrchr(path, '/');
	long directory, fd = sys_call(SYS_openat, AT_FDCWD, path, flags | O_CREAT | O_EXCL, mode);

	if (fd != -EEXIST)
		return fd;
	directory = trace_open_directory(path);
	if (directory < 0)
		return directory;
	fd = trace_open_existing((int)directory, slash ? slash + 1 : path, flags);
	/* A symbolic link may lead to a file that is not there. */
	if (fd == -ENOENT)
		fd = sys_call(SYS_openat, AT_FDCWD, path, flags | O_CREAT, mode);
	sys_close((int)directory);
	return fd;
}
