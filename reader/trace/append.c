#include "append.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Takes back what was appended at a position. The process that cut the file may have
 * overwritten the first bytes meanwhile; these are kept. */
static void append_undo(int fd, const char *bytes, size_t count, off_t at)
{
	char now[4096];

	while (count) {
		size_t part = count < sizeof(now) ? count : sizeof(now);

		count -= part;
		if (pread(fd, now, part, at + (off_t)count) != (ssize_t)part)
			part = 0; /* it was cut again */
		if (memcmp(now, bytes + count, part) == 0)
			continue;
		while (now[part - 1] == bytes[count + part - 1])
			part--;
		count += part;
		break;
	}
	(void)!ftruncate(fd, at + (off_t)count);
}

/*
 * The kernel looks for the end of the file and writes there in one step. A look at the size
 * before the write would miss a cut between the two: the bytes would stand behind a hole in
 * the other process's file. Here the position afterwards shows it, and the bytes can be
 * taken back.
 */
int fxt_append_all(int fd, const void *bytes, size_t count, uint64_t *end)
{
	while (count) {
		const struct iovec part = {(void *)(uintptr_t)bytes, count};
		ssize_t put = pwritev2(fd, &part, 1, -1, RWF_APPEND);
		uint64_t before;

		if (put < 0 && errno != EINTR)
			return errno;
		if (put <= 0)
			continue;
		before = (uint64_t)(lseek(fd, 0, SEEK_CUR) - put);
		if (before == *end) {
			*end += (uint64_t)put;
			bytes = (const char *)bytes + put;
			count -= (size_t)put;
			continue;
		}
		if (before < *end) {
			append_undo(fd, bytes, (size_t)put, (off_t)before);
			return FXT_ERROR_CUT;
		}
		if (ftruncate(fd, (off_t)*end) != 0)
			return errno;
	}
	return 0;
}
