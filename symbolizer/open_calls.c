#include "open_calls.h"

#include <stdlib.h>
#include "perfetto.h"
#include "protobuf.h"
#include "reader/index.h"
#include "reader/rate.h"

void fxt_open_calls_add(struct fxt_open_calls *open, const struct fxt_open_thread *thread)
{
	fxt_make_room(open->threads, open->count, open->room);
	open->threads[open->count++] = *thread;
}

static void open_calls_add_packet(struct fxt_message *trace, struct fxt_message *packet)
{
	fxt_message_number(packet, PERFETTO_PACKET_SEQUENCE_ID, FXT_SEQUENCE_OPEN_CALLS);
	fxt_message_message(trace, PERFETTO_TRACE_PACKET, packet);
}

static void open_calls_add_track(
        struct fxt_message *trace, uint64_t uuid, const struct fxt_open_thread *thread)
{
	struct fxt_message packet = {0}, track = {0}, numbers = {0};

	fxt_message_number(&numbers, PERFETTO_THREAD_PID, fxt_viewer_pid(thread->process));
	fxt_message_number(&numbers, PERFETTO_THREAD_TID, fxt_viewer_pid(thread->thread));
	fxt_message_number(&track, PERFETTO_TRACK_UUID, uuid);
	fxt_message_message(&track, PERFETTO_TRACK_THREAD, &numbers);
	fxt_message_message(&packet, PERFETTO_PACKET_TRACK, &track);
	open_calls_add_packet(trace, &packet);
	free(packet.data);
	free(track.data);
	free(numbers.data);
}

static void open_calls_add_end(struct fxt_message *trace, uint64_t uuid, uint64_t ns)
{
	struct fxt_message packet = {0}, event = {0};

	fxt_message_number(&event, PERFETTO_EVENT_TYPE, PERFETTO_SLICE_END);
	fxt_message_number(&event, PERFETTO_EVENT_TRACK, uuid);
	fxt_message_number(&packet, PERFETTO_PACKET_TIMESTAMP, ns);
	fxt_message_message(&packet, PERFETTO_PACKET_EVENT, &event);
	open_calls_add_packet(trace, &packet);
	free(packet.data);
	free(event.data);
}

void fxt_open_calls_describe(const struct fxt_open_calls *open, uint64_t ticks_per_second,
        void (*blob)(void *context, const void *data, size_t bytes), void *context)
{
	struct fxt_message trace = {0};

	for (size_t i = 0; i < open->count; i++) {
		const struct fxt_open_thread *thread = &open->threads[i];
		uint64_t ns = fxt_rate_viewer_ns(thread->ticks, ticks_per_second);

		open_calls_add_track(&trace, FXT_TRACK_OPEN_CALLS + i, thread);
		for (uint64_t call = 0; call < thread->calls; call++) {
			open_calls_add_end(&trace, FXT_TRACK_OPEN_CALLS + i, ns);
			if (trace.bytes < FXT_PERFETTO_BLOB_BYTES)
				continue;
			blob(context, trace.data, trace.bytes);
			trace.bytes = 0;
		}
	}
	if (trace.bytes > 0)
		blob(context, trace.data, trace.bytes);
	free(trace.data);
}

void fxt_open_calls_free(struct fxt_open_calls *open)
{
	free(open->threads);
	*open = (struct fxt_open_calls){0};
}
