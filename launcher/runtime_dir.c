#include "runtime_dir.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "writer/shared/sys.h"

bool fxt_session_name_is_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t bytes = strspn(name, allowed);

	return bytes > 0 && !name[bytes] && bytes < FXT_SESSION_NAME_BYTES && *name != '.';
}

void fxt_runtime_dir_find(struct fxt_runtime_dir *dir)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat status;

	if (base && *base == '/' && stat(base, &status) == 0 && S_ISDIR(status.st_mode) &&
	        (size_t)snprintf(dir->path, sizeof(dir->path), "%s/fxt", base) < sizeof(dir->path))
		return;
	snprintf(dir->path, sizeof(dir->path), "/tmp/fxt-%u", sys_geteuid());
}

int fxt_runtime_dir_check(const struct fxt_runtime_dir *dir)
{
	struct stat status;

	/* The kernel's own call: a library that reports another user to the process also
	 * reports other owners. */
	long error = sys_call(SYS_newfstatat, AT_FDCWD, dir->path, &status, AT_SYMLINK_NOFOLLOW);

	if (error < 0)
		return (int)-error;
	return S_ISDIR(status.st_mode) && status.st_uid == sys_geteuid() && (status.st_mode & 077) == 0
	               ? 0
	               : EACCES;
}

const char *fxt_runtime_dir_error(int error)
{
	return error == EACCES ? "it is not a directory that only this user may enter; set XDG_RUNTIME_DIR "
	                         "to a directory for another one"
	                       : strerror(error);
}

struct sockaddr_un fxt_runtime_dir_address(const struct fxt_runtime_dir *dir, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	stpcpy(stpcpy(stpcpy(address.sun_path, dir->path), "/"), name);
	return address;
}

int fxt_runtime_dir_connect(const struct fxt_runtime_dir *dir, const char *name, int *fd)
{
	struct sockaddr_un address = fxt_runtime_dir_address(dir, name);
	const struct timeval timeout = {.tv_sec = FXT_RUNTIME_DIR_TIMEOUT_SECONDS};
	int error = fxt_runtime_dir_check(dir);

	if (error)
		return error;
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(*fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	error = errno;
	close(*fd);
	return error;
}
