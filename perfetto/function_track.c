#include "function_track.h"

#include <stdlib.h>
#include <string.h>
#include "perfetto.h"
#include "reader/trace/utf8.h"

#define TEXT_BYTES 4000 /* of a name, or of a path */

static void row_text(struct fxt_message *m, unsigned field, const char *text, size_t bytes)
{
	fxt_message_bytes(m, field, text, fxt_utf8_cut(text, bytes, TEXT_BYTES));
}

/* Adds a packet with `content` as its field; `content` is then empty. */
static void row_add_packet(struct fxt_function_tracks *rows, unsigned field, struct fxt_message *content)
{
	struct fxt_message packet = {0};

	fxt_message_number(&packet, PERFETTO_PACKET_SEQUENCE_ID, FXT_SEQUENCE_FUNCTIONS);
	fxt_message_message(&packet, field, content);
	fxt_message_append(&rows->packets, &packet.bytes, sizeof(packet.bytes));
	fxt_message_append(&rows->packets, packet.data, packet.bytes);
	free(packet.data);
}

static void row_describe(struct fxt_function_tracks *rows, uint64_t process_koid)
{
	static const char name[] = "functions";
	struct fxt_message track = {0}, process = {0};
	uint64_t pid = fxt_viewer_pid(process_koid);

	fxt_message_number(&process, PERFETTO_PROCESS_PID, pid);
	fxt_message_number(&track, PERFETTO_TRACK_UUID, FXT_TRACK_PROCESS | pid);
	fxt_message_message(&track, PERFETTO_TRACK_PROCESS, &process);
	row_add_packet(rows, PERFETTO_PACKET_TRACK, &track);
	fxt_message_number(&track, PERFETTO_TRACK_UUID, FXT_TRACK_FUNCTIONS | pid);
	fxt_message_number(&track, PERFETTO_TRACK_PARENT, FXT_TRACK_PROCESS | pid);
	row_text(&track, PERFETTO_TRACK_NAME, name, strlen(name));
	row_add_packet(rows, PERFETTO_PACKET_TRACK, &track);
	free(track.data);
	free(process.data);
	rows->process = process_koid;
}

void fxt_function_tracks_add(
        struct fxt_function_tracks *rows, uint64_t process_koid, const struct fxt_location *function)
{
	static const char category[] = "source", file[] = "file", line[] = "line";
	struct fxt_message event = {0}, argument = {0};

	if (!function->file)
		return;
	if (rows->process != process_koid)
		row_describe(rows, process_koid);
	fxt_message_number(&event, PERFETTO_EVENT_TYPE, PERFETTO_INSTANT);
	fxt_message_number(&event, PERFETTO_EVENT_TRACK, FXT_TRACK_FUNCTIONS | fxt_viewer_pid(process_koid));
	row_text(&event, PERFETTO_EVENT_CATEGORY, category, strlen(category));
	row_text(&event, PERFETTO_EVENT_NAME, function->name, function->name_bytes);
	row_text(&argument, PERFETTO_ARGUMENT_NAME, file, strlen(file));
	row_text(&argument, PERFETTO_ARGUMENT_TEXT, function->file, strlen(function->file));
	fxt_message_message(&event, PERFETTO_EVENT_ARGUMENT, &argument);
	if (function->line) {
		row_text(&argument, PERFETTO_ARGUMENT_NAME, line, strlen(line));
		fxt_message_number(&argument, PERFETTO_ARGUMENT_UINT, function->line);
		fxt_message_message(&event, PERFETTO_EVENT_ARGUMENT, &argument);
	}
	row_add_packet(rows, PERFETTO_PACKET_EVENT, &event);
	free(event.data);
	free(argument.data);
}

/* Reads the packet at an offset; its time still has to be added. Returns the offset of the
 * next one. */
static size_t row_packet(const struct fxt_function_tracks *rows, size_t at, struct fxt_message *packet)
{
	size_t bytes;

	memcpy(&bytes, rows->packets.data + at, sizeof(bytes));
	packet->bytes = 0;
	fxt_message_append(packet, rows->packets.data + at + sizeof(bytes), bytes);
	return at + sizeof(bytes) + bytes;
}

void fxt_function_tracks_take(
        struct fxt_function_tracks *rows, uint64_t ns, fxt_function_tracks_blob *blob, void *context)
{
	struct fxt_message trace = {0}, packet = {0};

	for (size_t at = 0; at < rows->packets.bytes; ns++) {
		at = row_packet(rows, at, &packet);
		fxt_message_number(&packet, PERFETTO_PACKET_TIMESTAMP, ns);
		fxt_message_message(&trace, PERFETTO_TRACE_PACKET, &packet);
		if (trace.bytes < FXT_PERFETTO_BLOB_BYTES && at < rows->packets.bytes)
			continue;
		blob(context, trace.data, trace.bytes);
		trace.bytes = 0;
	}
	free(trace.data);
	free(packet.data);
	fxt_function_tracks_free(rows);
}

void fxt_function_tracks_copy(struct fxt_function_tracks *rows, const struct fxt_function_tracks *from)
{
	fxt_message_append(&rows->packets, from->packets.data, from->packets.bytes);
	rows->process = 0;
}

void fxt_function_tracks_free(struct fxt_function_tracks *rows)
{
	free(rows->packets.data);
	*rows = (struct fxt_function_tracks){0};
}
