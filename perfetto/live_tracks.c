#include "live_tracks.h"

#include <stdlib.h>
#include <string.h>
#include "heap_profile.h"
#include "perfetto.h"
#include "protobuf.h"
#include "writer/format/encode.h"
#include "writer/engine/heap.h"

struct live_tracks {
	struct fxt_sink *sink;
	uint32_t sequence;
	uint64_t pid;
	struct fxt_message trace, packet, content, part;
	int failed;
};

static void rows_send(struct live_tracks *r)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	size_t words = fxt_put_blob(record, FXT_RECORD_MAX_WORDS, fxt_string_text(FXT_HEAP_PROFILE_BLOB),
	        FXT_BLOB_PERFETTO, r->trace.data, r->trace.bytes);

	if (!r->failed)
		r->failed = fxt_sink_append(r->sink, record, words * sizeof(*record));
	r->trace.bytes = 0;
}

/* Adds the packet to the blob, and writes the blob if it is full. */
static void rows_add_packet(struct live_tracks *r)
{
	fxt_message_number(&r->packet, PERFETTO_PACKET_SEQUENCE_ID, r->sequence);
	fxt_message_message(&r->trace, PERFETTO_TRACE_PACKET, &r->packet);
	if (r->trace.bytes > FXT_PERFETTO_BLOB_BYTES)
		rows_send(r);
}

static void rows_describe_counter(struct live_tracks *r, uint64_t uuid, const char *name, unsigned unit)
{
	fxt_message_number(&r->content, PERFETTO_TRACK_UUID, uuid);
	fxt_message_number(&r->content, PERFETTO_TRACK_PARENT, FXT_TRACK_PROCESS | r->pid);
	fxt_message_bytes(&r->content, PERFETTO_TRACK_NAME, name, strlen(name));
	fxt_message_number(&r->part, PERFETTO_COUNTER_UNIT, unit);
	fxt_message_message(&r->content, PERFETTO_TRACK_COUNTER, &r->part);
	fxt_message_message(&r->packet, PERFETTO_PACKET_TRACK, &r->content);
	rows_add_packet(r);
}

/* Both tracks have a value at each moment, so one event carries both; the sequence's
 * defaults name the tracks. */
static void rows_describe(struct live_tracks *r)
{
	fxt_message_number(&r->part, PERFETTO_PROCESS_PID, r->pid);
	fxt_message_number(&r->content, PERFETTO_TRACK_UUID, FXT_TRACK_PROCESS | r->pid);
	fxt_message_message(&r->content, PERFETTO_TRACK_PROCESS, &r->part);
	fxt_message_message(&r->packet, PERFETTO_PACKET_TRACK, &r->content);
	fxt_message_number(&r->part, PERFETTO_EVENT_TRACK, FXT_TRACK_LIVE_BYTES | r->pid);
	fxt_message_number(&r->part, PERFETTO_EVENT_EXTRA_TRACKS, FXT_TRACK_LIVE_OBJECTS | r->pid);
	fxt_message_message(&r->content, PERFETTO_DEFAULTS_EVENT, &r->part);
	fxt_message_message(&r->packet, PERFETTO_PACKET_DEFAULTS, &r->content);
	fxt_message_number(&r->packet, PERFETTO_PACKET_SEQUENCE_FLAGS, PERFETTO_SEQUENCE_BEGINS);
	rows_add_packet(r);
	rows_describe_counter(r, FXT_TRACK_LIVE_BYTES | r->pid, FXT_HEAP_COUNTERS_BYTES, PERFETTO_SIZE_BYTES);
	rows_describe_counter(r, FXT_TRACK_LIVE_OBJECTS | r->pid, FXT_HEAP_COUNTERS_OBJECTS, PERFETTO_COUNT);
}

/* Returns the time at which the UI shows events of the same moment. */
static uint64_t rows_viewer_ns(uint64_t ns, uint64_t ticks_per_second)
{
	unsigned __int128 ticks =
	        ((unsigned __int128)ns * ticks_per_second + FXT_NS_PER_SECOND - 1) / FXT_NS_PER_SECOND;

	return fxt_rate_viewer_ns((uint64_t)ticks, ticks_per_second);
}

static void rows_add_point(struct live_tracks *r, const struct fxt_live_point *point, uint64_t ns)
{
	fxt_message_number(&r->content, PERFETTO_EVENT_TYPE, PERFETTO_COUNTER);
	fxt_message_number(&r->content, PERFETTO_EVENT_VALUE, point->bytes);
	fxt_message_number(&r->content, PERFETTO_EVENT_EXTRA_VALUES, point->objects);
	fxt_message_number(&r->packet, PERFETTO_PACKET_TIMESTAMP, ns);
	fxt_message_message(&r->packet, PERFETTO_PACKET_EVENT, &r->content);
	fxt_message_number(&r->packet, PERFETTO_PACKET_SEQUENCE_FLAGS, PERFETTO_SEQUENCE_GOES_ON);
	rows_add_packet(r);
}

/* In a cut trace, only the last point before the cut is kept: it gives the heap that was
 * live at the cut. */
static void rows_add_curve(
        struct live_tracks *r, const struct fxt_live_curve *curve, uint64_t from, uint64_t rate)
{
	for (size_t at = 0; at < curve->count; at++) {
		uint64_t ns = curve->points[at].ns;

		if (ns >= from || at + 1 == curve->count || curve->points[at + 1].ns > from)
			rows_add_point(r, &curve->points[at], rows_viewer_ns(ns > from ? ns : from, rate));
	}
}

int fxt_live_tracks_append(struct fxt_sink *sink, const struct fxt_heap *heap)
{
	struct live_tracks r = {.sink = sink, .sequence = FXT_SEQUENCE_LIVE_TRACKS};

	for (size_t i = 0; i < heap->process_count; i++) {
		const struct fxt_heap_process *p = &heap->processes[i];
		const struct fxt_live_curve *curve = fxt_heap_live_curve(heap, p);
		uint64_t rate = p->provider->rate.ticks_per_second;

		if (curve->count == 0)
			continue;
		r.sequence++;
		r.pid = fxt_viewer_pid(p->koid);
		rows_describe(&r);
		rows_add_curve(&r, curve, heap->cut_from, rate);
	}
	if (r.trace.bytes > 0)
		rows_send(&r);
	free(r.trace.data);
	free(r.packet.data);
	free(r.content.data);
	free(r.part.data);
	return r.failed;
}
