#include "live_rows.h"

#include <stdlib.h>
#include <string.h>
#include "heap_profile.h"
#include "protobuf.h"
#include "writer/encode.h"
#include "writer/heap.h"

/* Fields of the messages, by Perfetto's definition of them. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	DEFAULTS_EVENT = 11,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	COUNTER_UNIT = 3,
	PROCESS_PID = 1,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_EXTRA_VALUES = 12,
	EVENT_VALUE = 30,
	EVENT_EXTRA_TRACKS = 31,
};
enum { TYPE_COUNTER = 4 };
enum { UNIT_COUNT = 2, UNIT_SIZE_BYTES = 3 };
enum { SEQUENCE_BEGINS = 1, SEQUENCE_GOES_ON = 2 };

#define SEQUENCE    0x6c697665u /* and on, one a process: none of the profiles, which count from 1 */
#define BLOB_BYTES  24000       /* so much is put into a blob; with one packet more it is full */
#define PROCESS_BIT (UINT64_C(1) << 62)
#define BYTES_BIT   (UINT64_C(1) << 60)
#define OBJECTS_BIT (UINT64_C(1) << 59)

struct live_rows {
	struct fxt_sink *sink;
	uint32_t sequence;
	uint64_t pid; /* as viewers cut koids */
	struct fxt_message trace, packet, content, part;
	int failed;
};

static void rows_send(struct live_rows *r)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	size_t words = fxt_put_blob(record, FXT_RECORD_MAX_WORDS,
	        fxt_string_inline(FXT_HEAP_PROFILE_BLOB, strlen(FXT_HEAP_PROFILE_BLOB)), FXT_BLOB_PERFETTO,
	        r->trace.data, r->trace.bytes);

	if (!r->failed)
		r->failed = fxt_sink_append(r->sink, record, words * sizeof(*record));
	r->trace.bytes = 0;
}

/* Takes over what is in the packet. */
static void rows_add_packet(struct live_rows *r)
{
	fxt_message_number(&r->packet, PACKET_SEQUENCE_ID, r->sequence);
	fxt_message_message(&r->trace, TRACE_PACKET, &r->packet);
	if (r->trace.bytes > BLOB_BYTES)
		rows_send(r);
}

static void rows_describe_counter(struct live_rows *r, uint64_t uuid, const char *name, unsigned unit)
{
	fxt_message_number(&r->content, TRACK_UUID, uuid);
	fxt_message_number(&r->content, TRACK_PARENT, PROCESS_BIT | r->pid);
	fxt_message_bytes(&r->content, TRACK_NAME, name, strlen(name));
	fxt_message_number(&r->part, COUNTER_UNIT, unit);
	fxt_message_message(&r->content, TRACK_COUNTER, &r->part);
	fxt_message_message(&r->packet, PACKET_TRACK, &r->content);
	rows_add_packet(r);
}

/* Both rows have a value at each moment, so one event has both, and the tracks are its sequence's. */
static void rows_describe(struct live_rows *r)
{
	fxt_message_number(&r->part, PROCESS_PID, r->pid);
	fxt_message_number(&r->content, TRACK_UUID, PROCESS_BIT | r->pid);
	fxt_message_message(&r->content, TRACK_PROCESS, &r->part);
	fxt_message_message(&r->packet, PACKET_TRACK, &r->content);
	fxt_message_number(&r->part, EVENT_TRACK, BYTES_BIT | r->pid);
	fxt_message_number(&r->part, EVENT_EXTRA_TRACKS, OBJECTS_BIT | r->pid);
	fxt_message_message(&r->content, DEFAULTS_EVENT, &r->part);
	fxt_message_message(&r->packet, PACKET_DEFAULTS, &r->content);
	fxt_message_number(&r->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_BEGINS);
	rows_add_packet(r);
	rows_describe_counter(r, BYTES_BIT | r->pid, FXT_HEAP_COUNTERS_BYTES, UNIT_SIZE_BYTES);
	rows_describe_counter(r, OBJECTS_BIT | r->pid, FXT_HEAP_COUNTERS_OBJECTS, UNIT_COUNT);
}

/* The time that the UI gives to events of the same moment. */
static uint64_t rows_viewer_ns(uint64_t ns, uint64_t ticks_per_second)
{
	unsigned __int128 ticks =
	        ((unsigned __int128)ns * ticks_per_second + FXT_NS_PER_SECOND - 1) / FXT_NS_PER_SECOND;

	return fxt_rate_viewer_ns((uint64_t)ticks, ticks_per_second);
}

static void rows_add_point(struct live_rows *r, const struct fxt_live_point *point, uint64_t ns)
{
	fxt_message_number(&r->content, EVENT_TYPE, TYPE_COUNTER);
	fxt_message_number(&r->content, EVENT_VALUE, point->bytes);
	fxt_message_number(&r->content, EVENT_EXTRA_VALUES, point->objects);
	fxt_message_number(&r->packet, PACKET_TIMESTAMP, ns);
	fxt_message_message(&r->packet, PACKET_EVENT, &r->content);
	fxt_message_number(&r->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_GOES_ON);
	rows_add_packet(r);
}

int fxt_live_rows_append(struct fxt_sink *sink, const struct fxt_heap *heap)
{
	struct live_rows r = {.sink = sink, .sequence = SEQUENCE};

	for (size_t i = 0; i < heap->process_count; i++) {
		const struct fxt_heap_process *p = &heap->processes[i];
		const struct fxt_live_curve *curve = fxt_heap_live_curve(heap, p);
		uint64_t rate = fxt_tables_provider(&heap->tables, p->provider)->rate.ticks_per_second;

		if (curve->count == 0)
			continue;
		r.sequence++;
		r.pid = p->koid & UINT32_MAX;
		rows_describe(&r);
		for (size_t at = 0; at < curve->count; at++)
			rows_add_point(&r, &curve->points[at], rows_viewer_ns(curve->points[at].ns, rate));
	}
	if (r.trace.bytes > 0)
		rows_send(&r);
	free(r.trace.data);
	free(r.packet.data);
	free(r.content.data);
	free(r.part.data);
	return r.failed;
}
