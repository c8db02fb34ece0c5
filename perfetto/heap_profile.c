/*
 * Writes the heap profiles of an archive as Perfetto packets: for each process the heap at
 * its peak and at its end. Runs on its caller's thread. A packet must never exceed one
 * blob, so long data continues in further packets.
 */
#include "heap_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "live_tracks.h"
#include "perfetto.h"
#include "protobuf.h"
#include "reader/trace/utf8.h"
#include "writer/format/encode.h"

#define NAME_BYTES 4000

/* ---- packets ---- */

struct profile {
	struct fxt_sink *sink;
	const struct fxt_heap *heap;
	const struct fxt_heap_process *process;
	struct fxt_flame_graph graph; /* the process's */
	bool at_peak;                 /* false: at the end */
	uint64_t sequence;
	bool begun;     /* the sequence has begun */
	uint64_t index; /* index of the sequence's next profile packet */
	struct fxt_message packet, outer, part, item;
	uint64_t record[FXT_RECORD_MAX_WORDS];
	int failed;
};

/* Writes the packet in a blob of its own. */
static void send_packet(struct profile *p)
{
	fxt_message_message(&p->outer, PERFETTO_TRACE_PACKET, &p->packet);
	size_t words = fxt_put_blob(p->record, FXT_RECORD_MAX_WORDS, fxt_string_text(FXT_HEAP_PROFILE_BLOB),
	        FXT_BLOB_PERFETTO, p->outer.data, p->outer.bytes);

	p->outer.bytes = 0;
	if (!p->failed)
		p->failed = fxt_sink_append(p->sink, p->record, words * sizeof(*p->record));
}

static void send_clock_snapshot(struct profile *p)
{
	static const int clocks[] = {PERFETTO_BOOTTIME, PERFETTO_MONOTONIC_COARSE};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		fxt_message_number(&p->item, PERFETTO_CLOCK_ID, (uint64_t)clocks[i]);
		fxt_message_number(&p->item, PERFETTO_CLOCK_TIMESTAMP, 0);
		fxt_message_message(&p->part, PERFETTO_CLOCKS_CLOCK, &p->item);
	}
	fxt_message_message(&p->packet, PERFETTO_PACKET_CLOCK_SNAPSHOT, &p->part);
	send_packet(p);
}

static void begin_packet(struct profile *p, uint64_t ns)
{
	fxt_message_number(&p->packet, PERFETTO_PACKET_TIMESTAMP, ns);
	fxt_message_number(&p->packet, PERFETTO_PACKET_SEQUENCE_ID, p->sequence);
	fxt_message_number(&p->packet, PERFETTO_PACKET_SEQUENCE_FLAGS,
	        p->begun ? PERFETTO_SEQUENCE_GOES_ON : PERFETTO_SEQUENCE_BEGINS);
	p->begun = true;
}

static void send_interned(struct profile *p)
{
	if (p->part.bytes == 0)
		return;
	begin_packet(p, p->process->first);
	fxt_message_message(&p->packet, PERFETTO_PACKET_INTERNED_DATA, &p->part);
	send_packet(p);
}

/* Adds an item of interned data to the packet that gathers them. */
static void intern_item(struct profile *p, unsigned field)
{
	if (p->part.bytes + p->item.bytes > FXT_PERFETTO_BLOB_BYTES)
		send_interned(p);
	fxt_message_message(&p->part, field, &p->item);
}

/* ---- interned data; ids are numbers of functions and stacks, plus 1 ---- */

static void intern_text(struct profile *p, unsigned field, uint64_t id, struct fxt_span text)
{
	fxt_message_number(&p->item, PERFETTO_IID, id);
	fxt_message_bytes(&p->item, PERFETTO_INTERNED_TEXT, text.data,
	        text.bytes < NAME_BYTES ? text.bytes : NAME_BYTES);
	intern_item(p, field);
}

static void intern_mapping(struct profile *p)
{
	uint32_t name = fxt_heap_process_name(p->heap, p->process);

	intern_text(p, PERFETTO_INTERNED_MAPPING_PATHS, 1, p->heap->tables.strings[name]);
	fxt_message_number(&p->item, PERFETTO_IID, 1);
	fxt_message_number(&p->item, PERFETTO_MAPPING_PATHS, 1);
	intern_item(p, PERFETTO_INTERNED_MAPPINGS);
}

static void intern_frame(struct profile *p, uint32_t function)
{
	uint64_t id = (uint64_t)function + 1;

	intern_text(p, PERFETTO_INTERNED_FUNCTION_NAMES, id, p->graph.functions[function]);
	fxt_message_number(&p->item, PERFETTO_IID, id);
	fxt_message_number(&p->item, PERFETTO_FRAME_FUNCTION_NAME, id);
	fxt_message_number(&p->item, PERFETTO_FRAME_MAPPING, 1);
	fxt_message_number(&p->item, PERFETTO_FRAME_REL_PC, id);
	intern_item(p, PERFETTO_INTERNED_FRAMES);
}

static void intern_callstack(struct profile *p, uint32_t stack)
{
	uint32_t path[FXT_FLAME_DEPTH];
	size_t depth = 0;

	for (uint32_t at = stack; at != 0; at = p->graph.stacks[at].parent)
		path[depth++] = p->graph.stacks[at].function;
	fxt_message_number(&p->item, PERFETTO_IID, (uint64_t)stack + 1);
	while (depth > 0)
		fxt_message_number(&p->item, PERFETTO_CALLSTACK_FRAMES, (uint64_t)path[--depth] + 1);
	intern_item(p, PERFETTO_INTERNED_CALLSTACKS);
}

/* ---- profiles ---- */

/* Each image gets a heap of its own: viewers add up heaps of equal names in a process. They
 * refuse quotation marks and colons. */
static void put_heap_name(struct profile *p, struct fxt_message *dump)
{
	const char *what = p->at_peak ? "peak" : "left at the end";
	struct fxt_span image = p->heap->tables.strings[fxt_heap_process_name(p->heap, p->process)];
	char name[128];

	if (p->process->image == 0 && !p->process->is_replaced)
		snprintf(name, sizeof(name), "%s", what);
	else
		snprintf(name, sizeof(name), "%s, image %u (%.*s)", what, p->process->image + 1,
		        (int)fxt_utf8_cut(image.data, image.bytes, 64), image.data);
	for (char *at = name; (at = strpbrk(at, "':")) != NULL;)
		*at = '_';
	fxt_message_bytes(dump, PERFETTO_DUMP_HEAP_NAME, name, strlen(name));
}

static void send_samples(struct profile *p, uint64_t ns, bool is_last)
{
	struct fxt_message dump = {0}, profile = {0};

	fxt_message_number(&dump, PERFETTO_DUMP_PID, fxt_viewer_pid(p->process->koid));
	put_heap_name(p, &dump);
	fxt_message_number(&dump, PERFETTO_DUMP_TIMESTAMP, ns);
	while (dump.bytes + p->part.bytes > dump.room) {
		dump.room = dump.bytes + p->part.bytes;
		dump.data = fxt_resize(dump.data, dump.room, 1);
	}
	if (p->part.bytes)
		memcpy(dump.data + dump.bytes, p->part.data, p->part.bytes);
	dump.bytes += p->part.bytes;
	p->part.bytes = 0;
	fxt_message_number(&profile, PERFETTO_PROFILE_INDEX, p->index++);
	if (!is_last)
		fxt_message_number(&profile, PERFETTO_PROFILE_CONTINUED, 1);
	fxt_message_message(&profile, PERFETTO_PROFILE_PROCESS_DUMPS, &dump);
	begin_packet(p, ns);
	fxt_message_message(&p->packet, PERFETTO_PACKET_PROFILE, &profile);
	send_packet(p);
	free(dump.data);
	free(profile.data);
}

static uint64_t profile_whole(double number)
{
	return (uint64_t)(number + 0.5);
}

static struct fxt_heap_sums allocated_by_then(const struct profile *p, const struct fxt_flame_stack *stack)
{
	return p->at_peak ? stack->allocated_at_peak : stack->allocated;
}

static void append_heap(struct profile *p)
{
	uint64_t ns = p->at_peak ? p->process->peak : p->process->last;

	p->sequence++;
	p->begun = false;
	p->index = 0;
	intern_mapping(p);
	for (uint32_t i = 0; i < p->graph.function_count; i++)
		intern_frame(p, i);
	for (uint32_t i = 0; i < p->graph.stack_count; i++)
		if (allocated_by_then(p, &p->graph.stacks[i]).blocks > 0)
			intern_callstack(p, i);
	send_interned(p);
	for (uint32_t i = 0; i < p->graph.stack_count; i++) {
		const struct fxt_flame_stack *stack = &p->graph.stacks[i];
		struct fxt_heap_sums allocated = allocated_by_then(p, stack);
		struct fxt_heap_sums live = p->at_peak ? stack->at_peak : stack->left;
		uint64_t bytes = profile_whole(allocated.bytes), blocks = profile_whole(allocated.blocks);

		if (allocated.blocks == 0)
			continue;
		fxt_message_number(&p->item, PERFETTO_SAMPLE_CALLSTACK, (uint64_t)i + 1);
		fxt_message_number(&p->item, PERFETTO_SAMPLE_ALLOCATED, bytes);
		fxt_message_number(&p->item, PERFETTO_SAMPLE_FREED, bytes - profile_whole(live.bytes));
		fxt_message_number(&p->item, PERFETTO_SAMPLE_ALLOC_COUNT, blocks);
		fxt_message_number(&p->item, PERFETTO_SAMPLE_FREE_COUNT, blocks - profile_whole(live.blocks));
		if (p->part.bytes + p->item.bytes > FXT_PERFETTO_BLOB_BYTES)
			send_samples(p, ns, false);
		fxt_message_message(&p->part, PERFETTO_DUMP_SAMPLES, &p->item);
	}
	send_samples(p, ns, true);
}

/* An empty heap is left out: the viewer would show it as "0 B", and might open on it. */
static void append_process(struct profile *p, fxt_heap_name *name, void *context)
{
	uint32_t number = (uint32_t)(p->process - p->heap->processes);

	fxt_flame_graph_read(&p->graph, p->heap, number, name, context);
	p->at_peak = true;
	if (p->process->at_peak.bytes > 0)
		append_heap(p);
	p->at_peak = false;
	if (p->process->leaked.bytes + p->process->kept.bytes > 0)
		append_heap(p);
	fxt_flame_graph_free(&p->graph);
}

int fxt_heap_profile_append(
        struct fxt_sink *sink, const struct fxt_heap *heap, fxt_heap_name *name, void *context)
{
	struct profile *p = fxt_allocate(sizeof(*p));
	int failed;

	p->sink = sink;
	p->heap = heap;
	send_clock_snapshot(p);
	for (size_t i = 0; i < heap->process_count && !p->failed; i++) {
		p->process = &heap->processes[i];
		append_process(p, name, context);
	}
	failed = p->failed;
	free(p->packet.data);
	free(p->outer.data);
	free(p->part.data);
	free(p->item.data);
	free(p);
	return failed ? failed : fxt_live_tracks_append(sink, heap);
}
