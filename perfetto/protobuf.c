#include "protobuf.h"

#include <string.h>
#include "reader/trace/index.h"

void fxt_message_varint(struct fxt_message *m, uint64_t value)
{
	do {
		fxt_make_room(m->data, m->bytes, m->room);
		m->data[m->bytes++] = (char)((value & 127) | (value > 127 ? 128 : 0));
	} while (value >>= 7);
}

void fxt_message_number(struct fxt_message *m, unsigned field, uint64_t value)
{
	fxt_message_varint(m, field << 3);
	fxt_message_varint(m, value);
}

void fxt_message_append(struct fxt_message *m, const void *data, size_t bytes)
{
	while (m->bytes + bytes > m->room) {
		m->room = 2 * m->room + 64;
		m->data = fxt_resize(m->data, m->room, 1);
	}
	if (bytes)
		memcpy(m->data + m->bytes, data, bytes);
	m->bytes += bytes;
}

void fxt_message_fixed64(struct fxt_message *m, unsigned field, uint64_t bits)
{
	fxt_message_varint(m, field << 3 | 1);
	fxt_message_append(m, &bits, sizeof(bits));
}

void fxt_message_bytes(struct fxt_message *m, unsigned field, const void *data, size_t bytes)
{
	fxt_message_varint(m, field << 3 | 2);
	fxt_message_varint(m, bytes);
	fxt_message_append(m, data, bytes);
}

void fxt_message_message(struct fxt_message *m, unsigned field, struct fxt_message *inner)
{
	fxt_message_bytes(m, field, inner->data, inner->bytes);
	inner->bytes = 0;
}
