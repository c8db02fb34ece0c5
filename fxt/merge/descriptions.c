#include "descriptions.h"
#include <stdlib.h>
#include "perfetto/perfetto.h"

enum { VARINT = 0, BYTES = 2 };

struct field {
	uint64_t number, type, value; /* the value of a varint */
	struct fxt_span bytes;        /* the value of any other type */
};

static bool description_varint(struct fxt_span *rest, uint64_t *value)
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

/* Reads the next field of a message. Returns false at the end, and at wire types that
 * our messages do not use. */
static bool description_field(struct fxt_span *rest, struct field *field)
{
	uint64_t key;

	if (!description_varint(rest, &key) || !description_varint(rest, &field->value))
		return false;
	field->number = key >> 3;
	field->type = key & 7;
	if (field->type == VARINT)
		return true;
	if (field->type != BYTES || field->value > rest->bytes)
		return false;
	field->bytes = (struct fxt_span){rest->data, (size_t)field->value};
	*rest = (struct fxt_span){rest->data + field->value, rest->bytes - (size_t)field->value};
	return true;
}

static void description_process(
        struct fxt_span process, const struct fxt_merge_koids *koids, struct fxt_message *to)
{
	struct field field;

	while (description_field(&process, &field))
		if (field.type == BYTES)
			fxt_message_bytes(to, (unsigned)field.number, field.bytes.data, field.bytes.bytes);
		else if (field.number == PERFETTO_TREE_PROCESS_PID ||
		         field.number == PERFETTO_TREE_PROCESS_PARENT)
			fxt_message_number(to, (unsigned)field.number,
			        fxt_viewer_pid(fxt_merge_koid(koids, field.value)));
		else
			fxt_message_number(to, (unsigned)field.number, field.value);
}

static void description_tree(
        struct fxt_span tree, const struct fxt_merge_koids *koids, struct fxt_message *packet)
{
	struct fxt_message processes = {0}, process = {0};
	struct field field;

	while (description_field(&tree, &field)) {
		if (field.number != PERFETTO_TREE_PROCESSES || field.type != BYTES)
			continue;
		description_process(field.bytes, koids, &process);
		fxt_message_message(&processes, PERFETTO_TREE_PROCESSES, &process);
	}
	fxt_message_message(packet, PERFETTO_PACKET_PROCESS_TREE, &processes);
	free(processes.data);
	free(process.data);
}

void fxt_merge_description(
        struct fxt_span data, const struct fxt_merge_koids *koids, bool is_first, struct fxt_message *blob)
{
	struct fxt_message packet = {0};
	struct field outer, field;

	if (!description_field(&data, &outer) || outer.number != PERFETTO_TRACE_PACKET || outer.type != BYTES)
		return;
	while (description_field(&outer.bytes, &field))
		if (field.number == PERFETTO_PACKET_PROCESS_TREE && field.type == BYTES)
			description_tree(field.bytes, koids, &packet);
		else if (is_first && field.type == BYTES &&
		         (field.number == PERFETTO_PACKET_TRACE_CONFIG ||
		                 field.number == PERFETTO_PACKET_SYSTEM_INFO))
			fxt_message_bytes(
			        &packet, (unsigned)field.number, field.bytes.data, field.bytes.bytes);
	if (packet.bytes > 0)
		fxt_message_message(blob, PERFETTO_TRACE_PACKET, &packet);
	free(packet.data);
}
