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

/* ---- reading ---- */

enum { VARINT = 0, BYTES = 2 };

static bool message_read_varint(struct fxt_span *rest, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; rest->bytes > 0 && shift < 64; shift += 7) {
		uint8_t byte = (uint8_t)*rest->data;

		*rest = (struct fxt_span){rest->data + 1, rest->bytes - 1};
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

bool fxt_message_next(struct fxt_span *rest, struct fxt_message_field *field)
{
	uint64_t key;

	if (!message_read_varint(rest, &key) || !message_read_varint(rest, &field->value))
		return false;
	field->number = key >> 3;
	field->is_bytes = (key & 7) == BYTES;
	if ((key & 7) == VARINT)
		return true;
	if (!field->is_bytes || field->value > rest->bytes)
		return false;
	field->bytes = (struct fxt_span){rest->data, (size_t)field->value};
	*rest = (struct fxt_span){rest->data + field->value, rest->bytes - (size_t)field->value};
	return true;
}
