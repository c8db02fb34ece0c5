/*
 * slow.so: preloaded into fxtrun, makes each write of its threads take 2 ms, except on the
 * first thread: a slow disk.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t bytes)
{
	ssize_t (*real)(int, const void *, size_t) =
	        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

	if (strcmp(program_invocation_short_name, "fxtrun") == 0 && gettid() != getpid())
		usleep(2000);
	return real(fd, data, bytes);
}
