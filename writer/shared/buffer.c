#include "buffer.h"
#include <errno.h>
#include <string.h>
#include "atomics.h"

int fxt_buffer_layout(enum fxt_buffering_mode mode, uint64_t total_bytes, struct fxt_buffer_layout *layout)
{
	uint64_t available = total_bytes - sizeof(struct fxt_buffer_header);

	if (total_bytes < FXT_BUFFER_MIN_BYTES || total_bytes > FXT_BUFFER_MAX_BYTES ||
	        total_bytes % 4096 != 0)
		return EINVAL;
	switch (mode) {
	case FXT_ONESHOT:
		layout->durable_bytes = 0;
		layout->rolling_bytes = available;
		break;
	case FXT_CIRCULAR:
	case FXT_STREAMING:
		layout->durable_bytes = available / 16;
		if (layout->durable_bytes > FXT_DURABLE_MAX_BYTES)
			layout->durable_bytes = FXT_DURABLE_MAX_BYTES;
		/* The remainder must halve into whole words. */
		layout->durable_bytes += (available - layout->durable_bytes) & 15;
		layout->rolling_bytes = (available - layout->durable_bytes) / 2;
		break;
	default:
		return EINVAL;
	}
	layout->rolling_offset[0] = sizeof(struct fxt_buffer_header) + layout->durable_bytes;
	layout->rolling_offset[1] = layout->rolling_offset[0] + layout->rolling_bytes;
	return 0;
}

void fxt_buffer_clear(struct fxt_buffer_header *header, enum fxt_buffering_mode mode, uint64_t total_bytes)
{
	struct fxt_buffer_layout layout;

	memset(header, 0, sizeof(*header));
	if (fxt_buffer_layout(mode, total_bytes, &layout) != 0)
		return;
	header->version = FXT_BUFFER_VERSION;
	header->buffering_mode = (uint8_t)mode;
	header->chunked = 1;
	header->total_size = total_bytes;
	header->durable_buffer_size = layout.durable_bytes;
	header->rolling_buffer_size = layout.rolling_bytes;
	/* Stored last: a reader that finds the magic finds the rest. Pairs with the acquire
	 * in fxt_buffer_check(). */
	store_release(&header->magic, FXT_BUFFER_MAGIC);
}

const char *fxt_buffer_check(
        const struct fxt_buffer_header *header, enum fxt_buffering_mode mode, uint64_t total_bytes)
{
	struct fxt_buffer_layout layout;

	if (load_acquire(&header->magic) != FXT_BUFFER_MAGIC)
		return "the buffer header has no magic number";
	if (header->version != FXT_BUFFER_VERSION)
		return "the buffer header is of another version";
	if (header->chunked != 1)
		return "the buffer is not made of chunks";
	if (header->buffering_mode != (uint8_t)mode)
		return "the buffer header names another buffering mode than the session's";
	if (header->total_size != total_bytes || fxt_buffer_layout(mode, total_bytes, &layout) != 0)
		return "the buffer header names another size than the memory has";
	if (header->durable_buffer_size != layout.durable_bytes)
		return "the durable buffer's size is wrong";
	if (header->rolling_buffer_size != layout.rolling_bytes)
		return "the rolling buffers' size is wrong";
	uint64_t durable_end = load_acquire(&header->durable_data_end);
	if (durable_end > layout.durable_bytes || durable_end % 8 != 0)
		return "the end of the durable data is outside its buffer";
	for (int i = 0; i < 2; i++) {
		uint64_t end = load_acquire(&header->rolling_data_end[i]);
		uint64_t limit = i == 1 && mode == FXT_ONESHOT ? 0 : layout.rolling_bytes;

		if (end > limit || end % 8 != 0)
			return "the end of a rolling buffer's data is outside the buffer";
	}
	return NULL;
}
