#include "function_row.h"

#include <stdlib.h>
#include <string.h>
#include "reader/index.h"
#include "reader/utf8.h"

/* Fields of the messages, by Perfetto's definition of them. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_EVENT = 11,
	PACKET_TRACK = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	EVENT_ARGUMENT = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	ARGUMENT_NAME = 10,
	ARGUMENT_UINT = 3,
	ARGUMENT_TEXT = 6,
};
enum { TYPE_INSTANT = 3 };

#define SEQUENCE    0x66756e63u /* none that a profile of the heap has, which count from 1 */
#define BLOB_BYTES  24000       /* so much is put into a blob; with one packet more it is full */
#define TEXT_BYTES  4000        /* of a name, or of a path */
#define PROCESS_BIT (UINT64_C(1) << 62)
#define ROW_BIT     (UINT64_C(1) << 61)

static void row_text(struct fxt_message *m, unsigned field, const char *text, size_t bytes)
{
	fxt_message_bytes(m, field, text, fxt_utf8_cut(text, bytes, TEXT_BYTES));
}

/* Takes over what is in the packet, and in `content`, a field of it. */
static void row_add_packet(struct fxt_function_rows *rows, unsigned field, struct fxt_message *content)
{
	struct fxt_message packet = {0};

	fxt_message_number(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	fxt_message_message(&packet, field, content);
	fxt_make_room(rows->packets, rows->count, rows->room);
	rows->packets[rows->count++] = packet;
}

/* As viewers cut koids. */
static uint64_t row_pid(uint64_t process_koid)
{
	return process_koid & UINT32_MAX;
}

static void row_describe(struct fxt_function_rows *rows, uint64_t process_koid)
{
	static const char name[] = "functions";
	struct fxt_message track = {0}, process = {0};
	uint64_t pid = row_pid(process_koid);

	fxt_message_number(&process, PROCESS_PID, pid);
	fxt_message_number(&track, TRACK_UUID, PROCESS_BIT | pid);
	fxt_message_message(&track, TRACK_PROCESS, &process);
	row_add_packet(rows, PACKET_TRACK, &track);
	fxt_message_number(&track, TRACK_UUID, ROW_BIT | pid);
	fxt_message_number(&track, TRACK_PARENT, PROCESS_BIT | pid);
	row_text(&track, TRACK_NAME, name, strlen(name));
	row_add_packet(rows, PACKET_TRACK, &track);
	free(track.data);
	free(process.data);
	rows->process = process_koid;
}

void fxt_function_rows_add(
        struct fxt_function_rows *rows, uint64_t process_koid, const struct fxt_location *function)
{
	static const char category[] = "source", file[] = "file", line[] = "line";
	struct fxt_message event = {0}, argument = {0};

	if (!function->file)
		return;
	if (rows->process != process_koid)
		row_describe(rows, process_koid);
	fxt_message_number(&event, EVENT_TYPE, TYPE_INSTANT);
	fxt_message_number(&event, EVENT_TRACK, ROW_BIT | row_pid(process_koid));
	row_text(&event, EVENT_CATEGORY, category, strlen(category));
	row_text(&event, EVENT_NAME, function->name, function->name_bytes);
	row_text(&argument, ARGUMENT_NAME, file, strlen(file));
	row_text(&argument, ARGUMENT_TEXT, function->file, strlen(function->file));
	fxt_message_message(&event, EVENT_ARGUMENT, &argument);
	if (function->line) {
		row_text(&argument, ARGUMENT_NAME, line, strlen(line));
		fxt_message_number(&argument, ARGUMENT_UINT, function->line);
		fxt_message_message(&event, EVENT_ARGUMENT, &argument);
	}
	row_add_packet(rows, PACKET_EVENT, &event);
	free(event.data);
	free(argument.data);
}

void fxt_function_rows_take(
        struct fxt_function_rows *rows, uint64_t ns, fxt_function_rows_blob *blob, void *context)
{
	struct fxt_message trace = {0};

	for (size_t i = 0; i < rows->count; i++) {
		fxt_message_number(&rows->packets[i], PACKET_TIMESTAMP, ns + i);
		fxt_message_message(&trace, TRACE_PACKET, &rows->packets[i]);
		if (trace.bytes < BLOB_BYTES && i + 1 < rows->count)
			continue;
		blob(context, trace.data, trace.bytes);
		trace.bytes = 0;
	}
	free(trace.data);
	fxt_function_rows_free(rows);
}

void fxt_function_rows_free(struct fxt_function_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->packets[i].data);
	free(rows->packets);
	*rows = (struct fxt_function_rows){0};
}
