/*
 * Perfetto's own format: a sequence of TracePacket (protos/perfetto/trace of Perfetto),
 * with a TrackEvent for each begin and each end. A text is interned, and a track described,
 * before it is first used.
 *
 * Packets are in the order of the file, not of time. Their reader sorts them by time, and
 * keeps the order of packets of equal time. A slice is in the trace after it has ended, so
 * its begin and end are written together. Context switches are left out.
 */
#include <stdlib.h>
#include "events.h"
#include "perfetto/perfetto.h"
#include "perfetto/protobuf.h"

enum { SEQUENCE = 1 };

/* Ids of interned texts: one id that all flows share, followed by the ids of the tables'
 * strings. */
enum { INTERNED_FLOW = 1, INTERNED_FIRST };

struct perfetto {
	FILE *out;
	/* empty, except while a message is being built */
	struct fxt_message trace, packet, interned, event, part;
	unsigned flags; /* of the next packet */
	/* by id of a string: a bit for each kind of INTERNED_ that it is already interned
	 * as */
	unsigned char *interned_as;
	size_t interned_count;
	uint64_t *tracks; /* tracks of processes, counters and asynchronous events that
	                     are already described */
	size_t track_count, track_room;
	struct fxt_index track_index;
};

/* ---- packets ---- */

static void perfetto_text(struct fxt_message *m, unsigned field, struct fxt_span text)
{
	fxt_message_bytes(m, field, text.data, text.bytes);
}

/* Writes the contents of `event` as this field of a packet, with the texts that were
 * interned for it. */
static void perfetto_packet(struct perfetto *p, unsigned field)
{
	fxt_message_number(&p->packet, PERFETTO_PACKET_SEQUENCE_ID, SEQUENCE);
	fxt_message_number(&p->packet, PERFETTO_PACKET_SEQUENCE_FLAGS, p->flags);
	if (p->interned.bytes > 0)
		fxt_message_message(&p->packet, PERFETTO_PACKET_INTERNED_DATA, &p->interned);
	fxt_message_message(&p->packet, field, &p->event);
	fxt_message_message(&p->trace, PERFETTO_TRACE_PACKET, &p->packet);
	fwrite_unlocked(p->trace.data, 1, p->trace.bytes, p->out);
	p->trace.bytes = 0;
	p->flags = PERFETTO_SEQUENCE_GOES_ON;
}

static void perfetto_intern_text(struct perfetto *p, unsigned kind, uint64_t id, struct fxt_span text)
{
	fxt_message_number(&p->part, PERFETTO_IID, id);
	perfetto_text(&p->part, PERFETTO_INTERNED_TEXT, text);
	fxt_message_message(&p->interned, kind, &p->part);
}

/* Returns the id of a string for a kind of interned text, and interns it if needed. */
static uint64_t perfetto_intern(
        struct perfetto *p, unsigned kind, const struct fxt_tables *tables, uint32_t string)
{
	uint64_t id = INTERNED_FIRST + (uint64_t)string;

	fxt_make_zeroed(p->interned_as, p->interned_count, string);
	if (!(p->interned_as[string] & 1u << kind))
		perfetto_intern_text(p, kind, id, tables->strings[string]);
	p->interned_as[string] |= (unsigned char)(1u << kind);
	return id;
}

/* ---- tracks ---- */

static uint64_t perfetto_hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t perfetto_process(struct fxt_koids koids)
{
	return perfetto_hash(PERFETTO_TRACK_PROCESS, koids.process);
}

static uint64_t perfetto_thread(struct fxt_koids koids)
{
	return perfetto_hash(perfetto_hash(PERFETTO_TRACK_THREAD, koids.process), koids.thread);
}

static void perfetto_describe_object(struct perfetto *p, const struct fxt_tables *tables,
        enum fxt_object_type type, struct fxt_koids koids)
{
	bool is_thread = type == FXT_OBJECT_THREAD;
	uint32_t name = fxt_tables_object_name(tables, type, is_thread ? koids.thread : koids.process);

	fxt_message_number(
	        &p->event, PERFETTO_TRACK_UUID, is_thread ? perfetto_thread(koids) : perfetto_process(koids));
	fxt_message_number(&p->part, is_thread ? PERFETTO_THREAD_PID : PERFETTO_PROCESS_PID, koids.process);
	if (is_thread)
		fxt_message_number(&p->part, PERFETTO_THREAD_TID, koids.thread);
	if (name != FXT_NOTHING)
		perfetto_text(&p->part, is_thread ? PERFETTO_THREAD_NAME : PERFETTO_PROCESS_NAME,
		        tables->strings[name]);
	fxt_message_message(&p->event, is_thread ? PERFETTO_TRACK_THREAD : PERFETTO_TRACK_PROCESS, &p->part);
	perfetto_packet(p, PERFETTO_PACKET_TRACK);
}

/* Returns true when a track is seen for the first time. */
static bool perfetto_is_new(struct perfetto *p, uint64_t uuid)
{
	uint32_t hash = fxt_hash_word(uuid);

	for (struct fxt_probe probe = fxt_probe(&p->track_index, hash);
	        fxt_probe_next(&p->track_index, &probe);)
		if (p->tracks[probe.id] == uuid)
			return false;
	fxt_index_add(&p->track_index, hash, (uint32_t)p->track_count);
	fxt_make_room(p->tracks, p->track_count, p->track_room);
	p->tracks[p->track_count++] = uuid;
	return true;
}

/* The track of an asynchronous event or of a counter's series, which belongs to the
 * process. */
static uint64_t perfetto_own_track(struct perfetto *p, const struct fxt_export_event *event, uint32_t series)
{
	const struct fxt_tables *tables = event->tables;
	uint64_t process = perfetto_process(tables->threads[event->thread]);
	bool is_counter = event->type == FXT_EVENT_COUNTER;
	uint64_t uuid = perfetto_hash(perfetto_hash(process, event->extra), is_counter);
	char *name;

	if (is_counter)
		uuid = perfetto_hash(perfetto_hash(uuid, event->name), series);
	if (!perfetto_is_new(p, uuid))
		return uuid;
	struct fxt_span first = tables->strings[event->name], second = tables->strings[series];

	if (asprintf(&name, "%.*s%s%.*s", (int)first.bytes, first.data, is_counter ? " " : "",
	            is_counter ? (int)second.bytes : 0, second.data) < 0)
		fxt_out_of_memory();
	fxt_message_number(&p->event, PERFETTO_TRACK_UUID, uuid);
	fxt_message_number(&p->event, PERFETTO_TRACK_PARENT, process);
	perfetto_text(&p->event, PERFETTO_TRACK_NAME, fxt_span(name));
	if (is_counter)
		fxt_message_message(&p->event, PERFETTO_TRACK_COUNTER, &p->part);
	perfetto_packet(p, PERFETTO_PACKET_TRACK);
	free(name);
	return uuid;
}

/* ---- events ---- */

static void perfetto_argument(
        struct perfetto *p, struct fxt_tables *tables, const struct fxt_argument *argument)
{
	uint64_t word = argument->value.word;
	uint32_t name = fxt_tables_string(tables, argument->name);

	fxt_message_number(&p->part, PERFETTO_ARGUMENT_NAME_IID,
	        perfetto_intern(p, PERFETTO_INTERNED_ARGUMENT_NAMES, tables, name));
	switch (argument->type) {
	case FXT_ARGUMENT_INT32:
		fxt_message_number(&p->part, PERFETTO_ARGUMENT_INT, (uint64_t)(int32_t)word);
		break;
	case FXT_ARGUMENT_INT64:
		fxt_message_number(&p->part, PERFETTO_ARGUMENT_INT, word);
		break;
	case FXT_ARGUMENT_UINT32:
		fxt_message_number(&p->part, PERFETTO_ARGUMENT_UINT, (uint32_t)word);
		break;
	case FXT_ARGUMENT_UINT64:
	case FXT_ARGUMENT_KOID:
		fxt_message_number(&p->part, PERFETTO_ARGUMENT_UINT, word);
		break;
	case FXT_ARGUMENT_DOUBLE:
		fxt_message_fixed64(&p->part, PERFETTO_ARGUMENT_DOUBLE, word);
		break;
	case FXT_ARGUMENT_STRING:
		perfetto_text(
		        &p->part, PERFETTO_ARGUMENT_TEXT, fxt_tables_text(tables, argument->value.string));
		break;
	case FXT_ARGUMENT_POINTER:
		fxt_message_number(&p->part, PERFETTO_ARGUMENT_POINTER, word);
		break;
	case FXT_ARGUMENT_BOOL:
		fxt_message_number(&p->part, PERFETTO_ARGUMENT_BOOL, (uint32_t)word != 0);
		break;
	default:
		break;
	}
}

/* Adds what a pointer or koid means, as an argument of its own. */
static void perfetto_label(
        struct perfetto *p, const struct fxt_export_event *event, const struct fxt_argument *argument)
{
	struct fxt_tables *tables = event->tables;
	struct fxt_span label = fxt_tables_label(tables, tables->threads[event->thread].process, argument);
	struct fxt_label_key key = fxt_label_key(fxt_tables_text(tables, argument->name));

	if (label.bytes == 0)
		return;
	perfetto_text(&p->part, PERFETTO_ARGUMENT_NAME, fxt_span(key.text));
	perfetto_text(&p->part, PERFETTO_ARGUMENT_TEXT, label);
	fxt_message_message(&p->event, PERFETTO_EVENT_ARGUMENT, &p->part);
}

static void perfetto_end_event(struct perfetto *p, uint64_t ns, uint64_t track)
{
	fxt_message_number(&p->packet, PERFETTO_PACKET_TIMESTAMP, ns);
	fxt_message_number(&p->event, PERFETTO_EVENT_TRACK, track);
	perfetto_packet(p, PERFETTO_PACKET_EVENT);
}

static void perfetto_named(
        struct perfetto *p, const struct fxt_export_event *event, unsigned type, uint64_t track)
{
	struct fxt_tables *tables = event->tables;
	struct fxt_arguments arguments = event->arguments;
	struct fxt_argument argument;

	fxt_message_number(&p->event, PERFETTO_EVENT_TYPE, type);
	fxt_message_number(&p->event, PERFETTO_EVENT_CATEGORY_IID,
	        perfetto_intern(p, PERFETTO_INTERNED_CATEGORIES, tables, event->category));
	fxt_message_number(&p->event, PERFETTO_EVENT_NAME_IID,
	        perfetto_intern(p, PERFETTO_INTERNED_EVENT_NAMES, tables, event->name));
	while (fxt_next_argument(&arguments, &argument)) {
		perfetto_argument(p, tables, &argument);
		fxt_message_message(&p->event, PERFETTO_EVENT_ARGUMENT, &p->part);
		perfetto_label(p, event, &argument);
	}
	perfetto_end_event(p, event->ns, track);
}

static void perfetto_end_slice(struct perfetto *p, uint64_t ns, uint64_t track)
{
	fxt_message_number(&p->event, PERFETTO_EVENT_TYPE, PERFETTO_SLICE_END);
	perfetto_end_event(p, ns, track);
}

static void perfetto_flow(struct perfetto *p, const struct fxt_export_event *event, char phase)
{
	fxt_message_number(&p->event, PERFETTO_EVENT_CATEGORY_IID, INTERNED_FLOW);
	fxt_message_number(&p->event, PERFETTO_EVENT_NAME_IID, INTERNED_FLOW);
	fxt_message_number(&p->part, PERFETTO_LEGACY_PHASE, (uint64_t)phase);
	fxt_message_number(&p->part, PERFETTO_LEGACY_ID, fxt_export_flow_id(event));
	fxt_message_number(&p->part, PERFETTO_LEGACY_IS_ENCLOSED, 1);
	fxt_message_message(&p->event, PERFETTO_EVENT_LEGACY, &p->part);
	perfetto_end_event(p, event->ns, perfetto_thread(event->tables->threads[event->thread]));
}

/* Writes a value. Whole numbers that are too large for the format become doubles. */
static void perfetto_value(struct fxt_message *m, const struct fxt_argument *value)
{
	uint64_t word = value->value.word;
	double number = (double)word;

	if (value->type == FXT_ARGUMENT_UINT64 && word > INT64_MAX) {
		memcpy(&word, &number, sizeof(word));
		fxt_message_fixed64(m, PERFETTO_EVENT_VALUE_DOUBLE, word);
	} else if (value->type == FXT_ARGUMENT_DOUBLE) {
		fxt_message_fixed64(m, PERFETTO_EVENT_VALUE_DOUBLE, word);
	} else {
		fxt_message_number(m, PERFETTO_EVENT_VALUE,
		        value->type == FXT_ARGUMENT_INT32    ? (uint64_t)(int32_t)word
		        : value->type == FXT_ARGUMENT_UINT32 ? (uint32_t)word
		                                             : word);
	}
}

/* Writes a counter. Each of its values has a track. */
static void perfetto_counter(struct perfetto *p, const struct fxt_export_event *event)
{
	struct fxt_arguments arguments = event->arguments;
	struct fxt_argument value;

	while (fxt_next_argument(&arguments, &value)) {
		uint64_t track;

		if (value.type < FXT_ARGUMENT_INT32 || value.type > FXT_ARGUMENT_DOUBLE)
			continue;
		track = perfetto_own_track(p, event, fxt_tables_string(event->tables, value.name));
		fxt_message_number(&p->event, PERFETTO_EVENT_TYPE, PERFETTO_COUNTER);
		perfetto_value(&p->event, &value);
		perfetto_end_event(p, event->ns, track);
	}
}

static void perfetto_event(void *state, const struct fxt_export_event *event)
{
	struct perfetto *p = state;
	uint64_t track = perfetto_thread(event->tables->threads[event->thread]);

	switch (event->type) {
	case FXT_EVENT_INSTANT:
		perfetto_named(p, event, PERFETTO_INSTANT, track);
		break;
	case FXT_EVENT_COUNTER:
		perfetto_counter(p, event);
		break;
	case FXT_EVENT_DURATION_BEGIN:
		perfetto_named(p, event, PERFETTO_SLICE_BEGIN, track);
		break;
	case FXT_EVENT_DURATION_END:
		perfetto_end_slice(p, event->ns, track);
		break;
	case FXT_EVENT_DURATION_COMPLETE:
		perfetto_named(p, event, PERFETTO_SLICE_BEGIN, track);
		perfetto_end_slice(p, event->end_ns, track);
		break;
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
		track = perfetto_own_track(p, event, FXT_EMPTY);
		perfetto_named(p, event,
		        event->type == FXT_EVENT_ASYNC_BEGIN ? PERFETTO_SLICE_BEGIN : PERFETTO_INSTANT,
		        track);
		break;
	case FXT_EVENT_ASYNC_END:
		perfetto_end_slice(p, event->ns, perfetto_own_track(p, event, FXT_EMPTY));
		break;
	case FXT_EVENT_FLOW_BEGIN:
		perfetto_flow(p, event, 's');
		break;
	case FXT_EVENT_FLOW_STEP:
		perfetto_flow(p, event, 't');
		break;
	case FXT_EVENT_FLOW_END:
		perfetto_flow(p, event, 'f');
		break;
	}
}

void fxt_export_perfetto(struct fxt_export *e)
{
	struct perfetto p = {.out = e->out, .flags = PERFETTO_SEQUENCE_BEGINS | PERFETTO_SEQUENCE_GOES_ON};
	struct fxt_scan scan;

	fxt_export_scan(e, &scan);
	perfetto_intern_text(&p, PERFETTO_INTERNED_CATEGORIES, INTERNED_FLOW, fxt_span("flow"));
	perfetto_intern_text(&p, PERFETTO_INTERNED_EVENT_NAMES, INTERNED_FLOW, fxt_span("flow"));
	for (size_t i = 1; i < scan.tables.thread_count; i++) {
		if (perfetto_is_new(&p, perfetto_process(scan.tables.threads[i])))
			perfetto_describe_object(
			        &p, &scan.tables, FXT_OBJECT_PROCESS, scan.tables.threads[i]);
		perfetto_describe_object(&p, &scan.tables, FXT_OBJECT_THREAD, scan.tables.threads[i]);
	}
	fxt_export_events(e, &scan, perfetto_event, &p);
	fxt_scan_free(&scan);
	fxt_index_free(&p.track_index);
	free(p.tracks);
	free(p.interned_as);
	free(p.trace.data);
	free(p.packet.data);
	free(p.interned.data);
	free(p.event.data);
	free(p.part.data);
}
