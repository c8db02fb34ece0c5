/*
 * Perfetto's own format: a row of TracePacket (protos/perfetto/trace of Perfetto), with a TrackEvent for each
 * begin and each end. A text is interned, and a track described, before it is first used.
 *
 * Packets are in the order of the file, not of time; their reader sorts them, and where times are equal keeps
 * their order. So a slice, which stands in the trace when it is over, is begun and ended in one go. Context
 * switches are left out.
 */
#include <stdlib.h>
#include "events.h"
#include "symbolizer/protobuf.h"

/* Fields of the messages, and values of them. */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12, PACKET_FLAGS = 13 };
enum { PACKET_TRACK = 60 };
enum { FLAG_BEGINS = 1, FLAG_NEEDS_INTERNED = 2 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ARGUMENT = 3, INTERNED_ID = 1, INTERNED_TEXT = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_CATEGORY = 3, EVENT_ARGUMENT = 4, EVENT_LEGACY = 6, EVENT_TYPE = 9, EVENT_NAME = 10 };
enum { EVENT_TRACK = 11, EVENT_VALUE = 30, EVENT_VALUE_DOUBLE = 44 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { LEGACY_PHASE = 2, LEGACY_ID = 6, LEGACY_IS_ENCLOSED = 12 };
enum { ARGUMENT_NAME = 1, ARGUMENT_BOOL = 2, ARGUMENT_UINT = 3, ARGUMENT_INT = 4, ARGUMENT_DOUBLE = 5 };
enum { ARGUMENT_TEXT = 6, ARGUMENT_POINTER = 7 };

enum { SEQUENCE = 1 };

/* Ids of interned texts: one that all flows have in common, and those of the tables' strings behind it. */
enum { INTERNED_FLOW = 1, INTERNED_FIRST };

struct perfetto {
	FILE *out;
	struct fxt_message trace, packet, interned, event, part; /* empty, but while they are put together */
	unsigned flags;                                          /* of the next packet */
	unsigned char *interned_as; /* by id of a string: a bit for each kind of INTERNED_ that it is */
	size_t interned_count;
	uint64_t *tracks; /* of processes, counters and asynchronous events: those that are described */
	size_t track_count, track_room;
	struct fxt_index track_index;
};

/* ---- packets ---- */

static void perfetto_text(struct fxt_message *m, unsigned field, struct fxt_span text)
{
	fxt_message_bytes(m, field, text.data, text.bytes);
}

/* Writes what was put into `event`: as this field of a packet, with what was interned for it. */
static void perfetto_packet(struct perfetto *p, unsigned field)
{
	fxt_message_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	fxt_message_number(&p->packet, PACKET_FLAGS, p->flags);
	if (p->interned.bytes > 0)
		fxt_message_message(&p->packet, PACKET_INTERNED, &p->interned);
	fxt_message_message(&p->packet, field, &p->event);
	fxt_message_message(&p->trace, TRACE_PACKET, &p->packet);
	fwrite_unlocked(p->trace.data, 1, p->trace.bytes, p->out);
	p->trace.bytes = 0;
	p->flags = FLAG_NEEDS_INTERNED;
}

static void perfetto_intern_text(struct perfetto *p, unsigned kind, uint64_t id, struct fxt_span text)
{
	fxt_message_number(&p->part, INTERNED_ID, id);
	perfetto_text(&p->part, INTERNED_TEXT, text);
	fxt_message_message(&p->interned, kind, &p->part);
}

/* The number of a string as one of a kind. */
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
	return perfetto_hash(TRACK_PROCESS, koids.process);
}

static uint64_t perfetto_thread(struct fxt_koids koids)
{
	return perfetto_hash(perfetto_hash(TRACK_THREAD, koids.process), koids.thread);
}

static void perfetto_describe_object(struct perfetto *p, const struct fxt_tables *tables,
        enum fxt_object_type type, struct fxt_koids koids)
{
	bool is_thread = type == FXT_OBJECT_THREAD;
	uint32_t name = fxt_tables_object_name(tables, type, is_thread ? koids.thread : koids.process);

	fxt_message_number(
	        &p->event, TRACK_UUID, is_thread ? perfetto_thread(koids) : perfetto_process(koids));
	fxt_message_number(&p->part, is_thread ? THREAD_PID : PROCESS_PID, koids.process);
	if (is_thread)
		fxt_message_number(&p->part, THREAD_TID, koids.thread);
	if (name != FXT_NOTHING)
		perfetto_text(&p->part, is_thread ? THREAD_NAME : PROCESS_NAME, tables->strings[name]);
	fxt_message_message(&p->event, is_thread ? TRACK_THREAD : TRACK_PROCESS, &p->part);
	perfetto_packet(p, PACKET_TRACK);
}

/* Whether a track is seen for the first time. */
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

/* The track of an asynchronous event, or that of a counter's series; it is the process's. */
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
	fxt_message_number(&p->event, TRACK_UUID, uuid);
	fxt_message_number(&p->event, TRACK_PARENT, process);
	perfetto_text(&p->event, TRACK_NAME, fxt_span(name));
	if (is_counter)
		fxt_message_message(&p->event, TRACK_COUNTER, &p->part);
	perfetto_packet(p, PACKET_TRACK);
	free(name);
	return uuid;
}

/* ---- events ---- */

static void perfetto_argument(
        struct perfetto *p, struct fxt_tables *tables, const struct fxt_argument *argument)
{
	uint64_t word = argument->value.word;
	uint32_t name = fxt_tables_string(tables, argument->name);

	fxt_message_number(&p->part, ARGUMENT_NAME, perfetto_intern(p, INTERNED_ARGUMENT, tables, name));
	switch (argument->type) {
	case FXT_ARGUMENT_INT32:
		fxt_message_number(&p->part, ARGUMENT_INT, (uint64_t)(int32_t)word);
		break;
	case FXT_ARGUMENT_INT64:
		fxt_message_number(&p->part, ARGUMENT_INT, word);
		break;
	case FXT_ARGUMENT_UINT32:
		fxt_message_number(&p->part, ARGUMENT_UINT, (uint32_t)word);
		break;
	case FXT_ARGUMENT_UINT64:
	case FXT_ARGUMENT_KOID:
		fxt_message_number(&p->part, ARGUMENT_UINT, word);
		break;
	case FXT_ARGUMENT_DOUBLE:
		fxt_message_fixed64(&p->part, ARGUMENT_DOUBLE, word);
		break;
	case FXT_ARGUMENT_STRING:
		perfetto_text(&p->part, ARGUMENT_TEXT, fxt_tables_text(tables, argument->value.string));
		break;
	case FXT_ARGUMENT_POINTER:
		fxt_message_number(&p->part, ARGUMENT_POINTER, word);
		break;
	case FXT_ARGUMENT_BOOL:
		fxt_message_number(&p->part, ARGUMENT_BOOL, (uint32_t)word != 0);
		break;
	default:
		break;
	}
}

static void perfetto_end_event(struct perfetto *p, uint64_t ns, uint64_t track)
{
	fxt_message_number(&p->packet, PACKET_TIME, ns);
	fxt_message_number(&p->event, EVENT_TRACK, track);
	perfetto_packet(p, PACKET_EVENT);
}

static void perfetto_named(
        struct perfetto *p, const struct fxt_export_event *event, unsigned type, uint64_t track)
{
	struct fxt_tables *tables = event->tables;
	struct fxt_arguments arguments = event->arguments;
	struct fxt_argument argument;

	fxt_message_number(&p->event, EVENT_TYPE, type);
	fxt_message_number(
	        &p->event, EVENT_CATEGORY, perfetto_intern(p, INTERNED_CATEGORY, tables, event->category));
	fxt_message_number(&p->event, EVENT_NAME, perfetto_intern(p, INTERNED_NAME, tables, event->name));
	while (fxt_next_argument(&arguments, &argument)) {
		perfetto_argument(p, tables, &argument);
		fxt_message_message(&p->event, EVENT_ARGUMENT, &p->part);
	}
	perfetto_end_event(p, event->ns, track);
}

static void perfetto_end_slice(struct perfetto *p, uint64_t ns, uint64_t track)
{
	fxt_message_number(&p->event, EVENT_TYPE, TYPE_END);
	perfetto_end_event(p, ns, track);
}

static void perfetto_flow(struct perfetto *p, const struct fxt_export_event *event, char phase)
{
	fxt_message_number(&p->event, EVENT_CATEGORY, INTERNED_FLOW);
	fxt_message_number(&p->event, EVENT_NAME, INTERNED_FLOW);
	fxt_message_number(&p->part, LEGACY_PHASE, (uint64_t)phase);
	fxt_message_number(&p->part, LEGACY_ID, fxt_export_flow_id(event));
	fxt_message_number(&p->part, LEGACY_IS_ENCLOSED, 1);
	fxt_message_message(&p->event, EVENT_LEGACY, &p->part);
	perfetto_end_event(p, event->ns, perfetto_thread(event->tables->threads[event->thread]));
}

/* What is too large for the format's whole numbers is a double. */
static void perfetto_value(struct fxt_message *m, const struct fxt_argument *value)
{
	uint64_t word = value->value.word;
	double number = (double)word;

	if (value->type == FXT_ARGUMENT_UINT64 && word > INT64_MAX) {
		memcpy(&word, &number, sizeof(word));
		fxt_message_fixed64(m, EVENT_VALUE_DOUBLE, word);
	} else if (value->type == FXT_ARGUMENT_DOUBLE) {
		fxt_message_fixed64(m, EVENT_VALUE_DOUBLE, word);
	} else {
		fxt_message_number(m, EVENT_VALUE,
		        value->type == FXT_ARGUMENT_INT32    ? (uint64_t)(int32_t)word
		        : value->type == FXT_ARGUMENT_UINT32 ? (uint32_t)word
		                                             : word);
	}
}

/* Each of a counter's values has a track. */
static void perfetto_counter(struct perfetto *p, const struct fxt_export_event *event)
{
	struct fxt_arguments arguments = event->arguments;
	struct fxt_argument value;

	while (fxt_next_argument(&arguments, &value)) {
		uint64_t track;

		if (value.type < FXT_ARGUMENT_INT32 || value.type > FXT_ARGUMENT_DOUBLE)
			continue;
		track = perfetto_own_track(p, event, fxt_tables_string(event->tables, value.name));
		fxt_message_number(&p->event, EVENT_TYPE, TYPE_COUNTER);
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
		perfetto_named(p, event, TYPE_INSTANT, track);
		break;
	case FXT_EVENT_COUNTER:
		perfetto_counter(p, event);
		break;
	case FXT_EVENT_DURATION_BEGIN:
		perfetto_named(p, event, TYPE_BEGIN, track);
		break;
	case FXT_EVENT_DURATION_END:
		perfetto_end_slice(p, event->ns, track);
		break;
	case FXT_EVENT_DURATION_COMPLETE:
		perfetto_named(p, event, TYPE_BEGIN, track);
		perfetto_end_slice(p, event->end_ns, track);
		break;
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
		track = perfetto_own_track(p, event, FXT_EMPTY);
		perfetto_named(
		        p, event, event->type == FXT_EVENT_ASYNC_BEGIN ? TYPE_BEGIN : TYPE_INSTANT, track);
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
	struct perfetto p = {.out = e->out, .flags = FLAG_BEGINS | FLAG_NEEDS_INTERNED};
	struct fxt_scan scan;

	fxt_export_scan(e, &scan);
	perfetto_intern_text(&p, INTERNED_CATEGORY, INTERNED_FLOW, fxt_span("flow"));
	perfetto_intern_text(&p, INTERNED_NAME, INTERNED_FLOW, fxt_span("flow"));
	for (size_t i = 1; i < scan.tables.thread_count; i++) {
		if (perfetto_is_new(&p, perfetto_process(scan.tables.threads[i])))
			perfetto_describe_object(
			        &p, &scan.tables, FXT_OBJECT_PROCESS, scan.tables.threads[i]);
		perfetto_describe_object(&p, &scan.tables, FXT_OBJECT_THREAD, scan.tables.threads[i]);
	}
	fxt_scan_free(&scan);
	fxt_export_events(e, perfetto_event, &p);
	fxt_index_free(&p.track_index);
	free(p.tracks);
	free(p.interned_as);
	free(p.trace.data);
	free(p.packet.data);
	free(p.interned.data);
	free(p.event.data);
	free(p.part.data);
}
