#include "descriptions.h"
#include <stdlib.h>
#include "perfetto/perfetto.h"

static void description_process(
        struct fxt_span process, const struct fxt_merge_koids *koids, struct fxt_message *to)
{
	struct fxt_message_field field;

	while (fxt_message_next(&process, &field))
		if (field.is_bytes)
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
	struct fxt_message_field field;

	while (fxt_message_next(&tree, &field)) {
		if (field.number != PERFETTO_TREE_PROCESSES || !field.is_bytes)
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
	struct fxt_message_field outer, field;

	if (!fxt_message_next(&data, &outer) || outer.number != PERFETTO_TRACE_PACKET || !outer.is_bytes)
		return;
	while (fxt_message_next(&outer.bytes, &field))
		if (field.number == PERFETTO_PACKET_PROCESS_TREE && field.is_bytes)
			description_tree(field.bytes, koids, &packet);
		else if (is_first && field.is_bytes &&
		         (field.number == PERFETTO_PACKET_TRACE_CONFIG ||
		                 field.number == PERFETTO_PACKET_SYSTEM_INFO))
			fxt_message_bytes(
			        &packet, (unsigned)field.number, field.bytes.data, field.bytes.bytes);
	if (packet.bytes > 0)
		fxt_message_message(blob, PERFETTO_TRACE_PACKET, &packet);
	free(packet.data);
}
