#include "runtime_dir.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

bool fxt_session_name_is_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t bytes = strspn(name, allowed);

	return bytes > 0 && !name[bytes] && bytes < FXT_SESSION_NAME_BYTES && *name != '.';
}

void fxt_place_find(struct fxt_place *place)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat status;

	if (base && *base == '/' && stat(base, &status) == 0 && S_ISDIR(status.st_mode) &&
	        (size_t)snprintf(place->directory, sizeof(place->directory), "%s/fxt", base) <
	                sizeof(place->directory))
		return;
	snprintf(place->directory, sizeof(place->directory), "/tmp/fxt-%u", geteuid());
}

bool fxt_place_is_safe(const struct fxt_place *place)
{
	struct stat status;

	if (lstat(place->directory, &status) != 0)
		return false;
	errno = EACCES;
	return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

struct sockaddr_un fxt_place_address(const struct fxt_place *place, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	stpcpy(stpcpy(stpcpy(address.sun_path, place->directory), "/"), name);
	return address;
}

int fxt_place_connect(const struct fxt_place *place, const char *name)
{
	struct sockaddr_un address = fxt_place_address(place, name);
	const struct timeval patience = {.tv_sec = FXT_PLACE_PATIENCE_SECONDS};
	int fd, error;

	if (!fxt_place_is_safe(place))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}
