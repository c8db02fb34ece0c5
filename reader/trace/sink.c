#include "sink.h"

#include <stdbool.h>
#include <string.h>
#include "reader/trace/write_all.h"

int fxt_sink_flush(struct fxt_sink *sink)
{
	size_t pending = sink->pending;

	sink->pending = 0;
	return fxt_write_all(sink->fd, sink->block, pending);
}

int fxt_sink_append(struct fxt_sink *sink, const void *bytes, size_t count)
{
	bool large = count >= sizeof(sink->block) / 2; /* not worth copying */

	if (sink->frames)
		return fxt_frames_append(sink->frames, bytes, count);
	if (large || count > sizeof(sink->block) - sink->pending) {
		int failed = fxt_sink_flush(sink);

		if (failed)
			return failed;
	}
	if (large)
		return fxt_write_all(sink->fd, bytes, count);
	memcpy(sink->block + sink->pending, bytes, count);
	sink->pending += count;
	return 0;
}
