/*
 * Preloaded into fxtrun, fxtctl and fxt, and inert in any other program: counts what they ask of libc, and
 * has one of these fail.
 *
 *   FAILING_COUNT=FILE   8 bytes, where the processes of fxtrun count together
 *   FAILING_WHAT=WHAT    "memory": what malloc and its like hand out
 *                        "calls": what asks something of the kernel
 *   FAILING_AT=N         the Nth fails, from 1; with "+" behind it all from there on
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t *count;
static uint64_t first, last;
static bool is_of_memory;

static bool fails(bool memory)
{
	uint64_t number;

	if (!count || memory != is_of_memory)
		return false;
	number = __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	return number >= first && number <= last;
}

__attribute__((constructor)) static void prepare(void)
{
	const char *path = getenv("FAILING_COUNT"), *what = getenv("FAILING_WHAT"),
	           *at = getenv("FAILING_AT");
	const char *name = strrchr(program_invocation_name, '/');
	char *end;
	int file;
	void *map;

	name = name ? name + 1 : program_invocation_name;
	if (!path || !what || !at ||
	        (strcmp(name, "fxtrun") != 0 && strcmp(name, "fxtctl") != 0 && strcmp(name, "fxt") != 0))
		return;
	first = strtoull(at, &end, 10);
	last = *end == '+' ? UINT64_MAX : first;
	is_of_memory = strcmp(what, "memory") == 0;
	file = ((int (*)(const char *, int))dlsym(RTLD_NEXT, "open"))(path, O_RDWR | O_CLOEXEC);
	map = ((void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap"))(
	        NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		abort();
	((int (*)(int))dlsym(RTLD_NEXT, "close"))(file);
	count = map;
}

/* ---- memory ---- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

#define MEMORY(call) (fails(true) ? (errno = ENOMEM, NULL) : (call))

void *malloc(size_t bytes)
{
	return MEMORY(__libc_malloc(bytes));
}

void *calloc(size_t number, size_t bytes)
{
	return MEMORY(__libc_calloc(number, bytes));
}

void *realloc(void *block, size_t bytes)
{
	return MEMORY(__libc_realloc(block, bytes));
}

void *reallocarray(void *block, size_t number, size_t bytes)
{
	return MEMORY(number && bytes > SIZE_MAX / number ? NULL : __libc_realloc(block, number * bytes));
}

/* ---- calls ---- */

typedef long function(long, long, long, long, long, long, long);

/* Whatever a function's arguments are, they are in the same registers, or at the same place of the stack. */
#define CALL(name, returned, error)                                                              \
	function failing_##name __asm__(#name);                                                  \
	long failing_##name(long a, long b, long c, long d, long e, long f, long g)              \
	{                                                                                        \
		static function *real;                                                           \
                                                                                                 \
		if (!real)                                                                       \
			real = (function *)dlsym(RTLD_NEXT, #name);                              \
		return fails(false) ? (errno = (error), (returned)) : real(a, b, c, d, e, f, g); \
	}
CALL(accept4, -1, EMFILE)
CALL(access, -1, EACCES)
CALL(bind, -1, EACCES)
CALL(chdir, -1, EACCES)
CALL(chmod, -1, EPERM)
CALL(connect, -1, ECONNREFUSED)
CALL(dup, -1, EMFILE)
CALL(dup2, -1, EMFILE)
CALL(dup3, -1, EMFILE)
CALL(epoll_create1, -1, EMFILE)
CALL(epoll_ctl, -1, ENOSPC)
CALL(epoll_wait, -1, EINTR)
CALL(eventfd, -1, EMFILE)
CALL(execvp, -1, EACCES)
CALL(faccessat, -1, EACCES)
CALL(fallocate, -1, ENOSPC)
CALL(fchmod, -1, EPERM)
CALL(fchown, -1, EPERM)
CALL(fclose, -1, ENOSPC)
CALL(fcntl, -1, EMFILE)
CALL(fdopen, 0, ENOMEM)
CALL(fflush, -1, ENOSPC)
CALL(fgetxattr, -1, EOPNOTSUPP)
CALL(flock, -1, EINTR)
CALL(fmemopen, 0, ENOMEM)
CALL(fopen, 0, EMFILE)
CALL(fopencookie, 0, ENOMEM)
CALL(fork, -1, EAGAIN)
CALL(fstat, -1, EACCES)
CALL(ftruncate, -1, ENOSPC)
CALL(getcwd, 0, EACCES)
CALL(getrandom, -1, EINTR)
CALL(getsockopt, -1, ENOBUFS)
CALL(ioctl, -1, ENOTTY)
CALL(linkat, -1, EPERM)
CALL(listen, -1, EADDRINUSE)
CALL(lseek, -1, ESPIPE)
CALL(lstat, -1, EACCES)
CALL(madvise, -1, ENOMEM)
CALL(memfd_create, -1, EMFILE)
CALL(mkdir, -1, EACCES)
CALL(mkdtemp, 0, EACCES)
CALL(mkostemp, -1, EACCES)
CALL(mmap, -1, ENOMEM)
CALL(open, -1, EMFILE)
CALL(open_memstream, 0, ENOMEM)
CALL(opendir, 0, EMFILE)
CALL(pipe2, -1, EMFILE)
CALL(poll, -1, EINTR)
CALL(posix_fadvise, EINVAL, EINVAL)
CALL(posix_spawn, EAGAIN, EAGAIN)
CALL(prctl, -1, EINVAL)
CALL(pread, -1, EIO)
CALL(pthread_create, EAGAIN, EAGAIN)
CALL(pwrite, -1, ENOSPC)
CALL(pwritev2, -1, ENOSPC)
CALL(read, -1, EIO)
CALL(readdir, 0, EIO)
CALL(readlink, -1, EACCES)
CALL(realpath, 0, EACCES)
CALL(recv, -1, ECONNRESET)
CALL(recvmsg, -1, ECONNRESET)
CALL(rename, -1, EACCES)
CALL(rmdir, -1, EBUSY)
CALL(send, -1, EPIPE)
CALL(sendfile, -1, EIO)
CALL(sendmsg, -1, EPIPE)
CALL(setpgid, -1, EPERM)
CALL(setrlimit, -1, EPERM)
CALL(setsid, -1, EPERM)
CALL(setsockopt, -1, ENOBUFS)
CALL(sigaction, -1, EINVAL)
CALL(signalfd, -1, EMFILE)
CALL(sigqueue, -1, EAGAIN)
CALL(sigtimedwait, -1, EINTR)
CALL(socket, -1, EMFILE)
CALL(socketpair, -1, EMFILE)
CALL(stat, -1, EACCES)
CALL(symlink, -1, EACCES)
CALL(syscall, -1, ENOSYS)
CALL(timerfd_create, -1, EMFILE)
CALL(unlink, -1, EACCES)

/* An event descriptor, which alone is written such words, never refuses one. */
ssize_t write(int fd, const void *data, size_t bytes)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (!real)
		real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	return bytes != sizeof(uint64_t) && fails(false) ? (errno = ENOSPC, -1) : real(fd, data, bytes);
}
