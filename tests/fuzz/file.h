/*
 * Any bytes as a file, which has no name.
 */
#ifndef FXT_TESTS_FUZZ_FILE_H
#define FXT_TESTS_FUZZ_FILE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline int fuzz_file(const void *data, size_t bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	return fd;
}

#endif
