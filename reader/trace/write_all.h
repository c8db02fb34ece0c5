/* Writes all of some bytes, however many write() takes at a time. */
#ifndef FXT_READER_WRITE_ALL_H
#define FXT_READER_WRITE_ALL_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Returns 0, or an errno value. */
static inline int fxt_write_all(int fd, const void *bytes, size_t count)
{
	for (const char *at = bytes; count > 0;) {
		ssize_t put = write(fd, at, count);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put > 0) {
			at += put;
			count -= (size_t)put;
		}
	}
	return 0;
}

#endif
