/*
 * Finds the calls that were open when a process was killed, and writes Perfetto packets
 * that end them. Runs on its caller's thread. It must see the records in the order of the
 * archive.
 */
#include "open_calls.h"

#include <stdlib.h>
#include "perfetto.h"
#include "protobuf.h"
#include "reader/trace/index.h"
#include "reader/trace/rate.h"
#include "writer/format/process_end.h"

void fxt_open_calls_add(struct fxt_open_calls *open, const struct fxt_open_thread *thread)
{
	fxt_make_room(open->threads, open->count, open->room);
	open->threads[open->count++] = *thread;
}

/* ---- finding them ---- */

static struct fxt_open_process *open_calls_process(struct fxt_open_calls_search *s, uint64_t koid)
{
	for (struct fxt_probe probe = fxt_probe(&s->index, fxt_hash_word(koid));
	        fxt_probe_next(&s->index, &probe);)
		if (s->processes[probe.id].koid == koid)
			return &s->processes[probe.id];
	fxt_index_add(&s->index, fxt_hash_word(koid), (uint32_t)s->process_count);
	fxt_make_room(s->processes, s->process_count, s->process_room);
	s->processes[s->process_count] = (struct fxt_open_process){.koid = koid};
	return &s->processes[s->process_count++];
}

static void open_calls_begin(struct fxt_open_calls_search *s, const struct fxt_tables *t, uint32_t thread)
{
	fxt_make_zeroed(s->open, s->thread_count, thread);
	if (s->open[thread]++ > 0)
		return;
	struct fxt_open_process *process = open_calls_process(s, t->threads[thread].process);

	fxt_make_room(process->threads, process->count, process->room);
	process->threads[process->count++] = thread;
}

static void open_calls_over(
        struct fxt_open_calls_search *s, const struct fxt_tables *t, uint64_t koid, uint64_t ticks)
{
	struct fxt_open_process *process = open_calls_process(s, koid);

	for (size_t i = 0; i < process->count; i++) {
		uint32_t thread = process->threads[i];
		struct fxt_open_thread found = {.process = koid,
		        .thread = t->threads[thread].thread,
		        .calls = s->open[thread],
		        .ticks = ticks,
		        .ticks_per_second = t->provider->rate.ticks_per_second};

		if (found.calls > 0)
			fxt_open_calls_add(&s->found, &found);
		s->open[thread] = 0;
	}
	process->count = 0;
}

bool fxt_open_calls_are_over(struct fxt_tables *t, const struct fxt_view *view)
{
	if (view->type != FXT_RECORD_EVENT || view->event.type != FXT_EVENT_INSTANT)
		return false;
	struct fxt_span category = fxt_tables_text(t, view->event.category),
	                name = fxt_tables_text(t, view->event.name);

	return (fxt_span_is(category, "process") && fxt_span_is(name, "killed")) ||
	       (fxt_span_is(category, "fxt") && (fxt_span_is(name, FXT_PROCESS_END_EVENT) ||
	                                                fxt_span_is(name, FXT_RECORDING_STOP_EVENT)));
}

void fxt_open_calls_take(struct fxt_open_calls_search *s, struct fxt_tables *t, const struct fxt_view *view)
{
	if (view->type != FXT_RECORD_EVENT)
		return;
	uint32_t thread = fxt_tables_thread(t, view->event.thread);

	if (view->event.type == FXT_EVENT_DURATION_BEGIN)
		open_calls_begin(s, t, thread);
	else if (view->event.type == FXT_EVENT_DURATION_END && thread < s->thread_count &&
	         s->open[thread] > 0)
		s->open[thread]--;
	else if (fxt_open_calls_are_over(t, view))
		open_calls_over(s, t, t->threads[thread].process, view->event.ticks);
}

void fxt_open_calls_end_search(struct fxt_open_calls_search *s)
{
	for (size_t i = 0; i < s->process_count; i++)
		free(s->processes[i].threads);
	free(s->processes);
	free(s->open);
	fxt_index_free(&s->index);
	*s = (struct fxt_open_calls_search){.found = s->found};
}

/* ---- describing them ---- */

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
		uint64_t ns = fxt_rate_viewer_ns(
		        thread->ticks, ticks_per_second ? ticks_per_second : thread->ticks_per_second);

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
