#include <string.h>
#include "names.h"
#include "writer/shared/atomics.h"

static uint64_t resolver_copy_part(uint8_t block[FXT_NAMES_READ_BYTES], const uint8_t *from, uint64_t bytes)
{
	if (bytes > FXT_NAMES_READ_BYTES)
		bytes = FXT_NAMES_READ_BYTES;
	memcpy(block, from, bytes);
	return bytes;
}

/* Returns the bytes of records in an open durable chunk that begins at `offset` of the
 * buffer. */
static uint64_t resolver_open_chunk_bytes(const struct fxt_names *names, uint64_t offset)
{
	const struct fxt_control *control = names->owner.control;
	uint64_t committed = load_acquire(&control->durable_committed);

	return committed ? committed - load_relaxed(&control->buffer_address) - offset -
	                           sizeof(struct fxt_chunk_header)
	                 : 0;
}

/* Copies the new data of a oneshot buffer. The chunk's own fields are checked as a
 * collector does. */
static uint64_t resolver_copy_durable_chunk(struct fxt_names *names, uint8_t block[FXT_NAMES_READ_BYTES])
{
	const struct fxt_buffer_header *header = names->owner.buffer;
	const struct fxt_buffer_layout *layout = &names->owner.layout;
	uint64_t end = load_acquire(&header->rolling_data_end[0]);

	while (end <= layout->rolling_bytes && end - names->chunk >= sizeof(struct fxt_chunk_header)) {
		uint64_t offset = layout->rolling_offset[0] + names->chunk;
		const struct fxt_chunk_header *chunk =
		        (const struct fxt_chunk_header *)((const uint8_t *)header + offset);
		/* Acquire: the state is stored last. */
		bool is_open = load_acquire(&chunk->state) == FXT_CHUNK_OPEN;
		uint32_t size = load_relaxed(&chunk->size);
		bool is_durable = load_relaxed(&chunk->slot) == FXT_SLOT_DURABLE;

		if (size < sizeof(*chunk) || size % 8 != 0 || size > end - names->chunk)
			return 0;
		if (is_durable) {
			uint64_t bytes = is_open ? resolver_open_chunk_bytes(names, offset)
			                         : load_relaxed(&chunk->committed);

			if (bytes > size - sizeof(*chunk))
				return 0;
			if (bytes > names->read)
				return resolver_copy_part(block, (const uint8_t *)(chunk + 1) + names->read,
				        bytes - names->read);
			if (is_open)
				return 0;
		}
		names->chunk += size;
		names->read = 0;
	}
	return 0;
}

uint64_t fxt_names_copy_new(struct fxt_names *names, uint8_t block[FXT_NAMES_READ_BYTES])
{
	const struct fxt_buffer_header *header = names->owner.buffer;
	uint64_t end;

	if (!header)
		return 0;
	if (names->owner.mode == FXT_ONESHOT)
		return resolver_copy_durable_chunk(names, block);
	/* Acquire: pairs with the agent's release; records are written before the end that
	 * covers them. */
	end = load_acquire(&header->durable_data_end);
	if (end > names->owner.layout.durable_bytes || end <= names->read)
		return 0;
	return resolver_copy_part(block, (const uint8_t *)(header + 1) + names->read, end - names->read);
}
