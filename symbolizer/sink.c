#include "sink.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static int sink_write_all(int fd, const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t written = write(fd, bytes, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno;
		bytes += written;
		count -= (size_t)written;
	}
	return 0;
}

int fxt_sink_flush(struct fxt_sink *sink)
{
	size_t pending = sink->pending;

	sink->pending = 0;
	return sink_write_all(sink->fd, sink->block, pending);
}

int fxt_sink_append(struct fxt_sink *sink, const void *bytes, size_t count)
{
	bool large = count >= sizeof(sink->block) / 2; /* not worth copying */

	if (large || count > sizeof(sink->block) - sink->pending) {
		int failed = fxt_sink_flush(sink);

		if (failed)
			return failed;
	}
	if (large)
		return sink_write_all(sink->fd, bytes, count);
	memcpy(sink->block + sink->pending, bytes, count);
	sink->pending += count;
	return 0;
}
