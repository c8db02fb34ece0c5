/*
 * Any bytes as what a provider does to the memory that it shares with its manager, and as
 * its packets. The first two bytes choose the session; then each byte is something it does,
 * with operands behind it. It begins with memory as an agent has it after a few calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "launcher/manager/packets.h"
#include "launcher/manager/provider.h"
#include "launcher/manager/provider_thread.h"
#include "writer/collect/snapshot.h"
#include "writer/format/encode.h"

enum { BUFFER_BYTES = 4096 * 4, TICKS = 1000000000, KOID = 7, THREADS = 3, SNAPSHOTS = 3 };

/* The addresses at which the provider says that it has mapped its memories: any, the same
 * every time. */
#define BUFFER_AT  UINT64_C(0x10000000)
#define CONTROL_AT UINT64_C(0x40000000)

static struct fxt_options options;
static struct fxt_provider_config config;
static struct fxt_archive_writer archive;
static struct fxt_wakeup wakeup;
static struct fxt_sched sched; /* not open */
static struct fxt_provider provider;
static uint8_t *buffer, *control;
static int file;
static unsigned
        snapshots; /* taken in this session: with stacks as deep as can be, each takes as long as all else */

struct input {
	const uint8_t *data;
	size_t bytes;
};

/* The next so many bytes, as a number; zeros behind the end. */
static uint64_t fuzz_take(struct input *input, size_t bytes)
{
	uint64_t number = 0;

	if (bytes > input->bytes)
		bytes = input->bytes;
	memcpy(&number, input->data, bytes);
	input->data += bytes;
	input->bytes -= bytes;
	return number;
}

/* ---- what is there to begin with ---- */

/* A chunk of one thread, with a call in it. */
static uint64_t fuzz_put_chunk(uint64_t offset, uint32_t slot, bool is_open)
{
	struct fxt_chunk_header *chunk = (struct fxt_chunk_header *)(buffer + offset);
	uint64_t *record = (uint64_t *)(chunk + 1);

	*chunk = (struct fxt_chunk_header){256, slot, 24, is_open ? FXT_CHUNK_OPEN : FXT_CHUNK_CLOSED};
	record[0] = fxt_duration_complete_header(1, 1) | UINT64_C(2) << 48;
	record[1] = 100 + offset;
	record[2] = 120 + offset;
	return BUFFER_AT + offset + sizeof(*chunk) + 24;
}

static void fuzz_put_thread(uint32_t number, uint64_t committed)
{
	struct fxt_thread_slot *slot = fxt_control_slot((struct fxt_control *)control, number);
	uint64_t stack = FXT_STACKS_OFFSET + number * FXT_SMALL_STACK_BYTES + fxt_stack_color(number);
	struct fxt_frame *frames = (struct fxt_frame *)(control + stack);

	frames[1] = (struct fxt_frame){UINT64_C(0x1234) << 16 | 2, 0x1000, 100, 130 + number};
	slot->top = CONTROL_AT + stack + 2 * sizeof(*frames);
	slot->committed = committed;
	slot->lost = slot->gap_lost = 3;
	slot->gap_start = 140;
	slot->koid = slot->tid = KOID + number;
	slot->thread_index = 1;
	slot->stack_offset = stack;
	slot->state = FXT_SLOT_LIVE;
}

static uint64_t fuzz_put_names(uint64_t *record, uint64_t words)
{
	static const char function[] = "{{{pc:0x1234:1}}}";
	uint64_t used = fxt_put_initialization(record, words, TICKS);

	used += fxt_put_string(record + used, words - used, 1, "function", 8);
	used += fxt_put_string(record + used, words - used, 2, function, sizeof(function) - 1);
	used += fxt_put_thread(record + used, words - used, 1, KOID, KOID);
	return used * 8;
}

static void fuzz_begin_memory(enum fxt_buffering_mode mode)
{
	struct fxt_buffer_header *header = (struct fxt_buffer_header *)buffer;
	struct fxt_control *c = (struct fxt_control *)control;
	struct fxt_buffer_layout layout;
	uint64_t first;

	fxt_buffer_layout(mode, BUFFER_BYTES, &layout);
	fxt_buffer_clear(header, mode, BUFFER_BYTES);
	c->buffer_address = BUFFER_AT;
	c->control_address = CONTROL_AT;
	if (mode != FXT_ONESHOT)
		header->durable_data_end = fuzz_put_names((uint64_t *)(header + 1), layout.durable_bytes / 8);
	first = layout.rolling_offset[0];
	for (uint32_t i = 0; i < THREADS; i++)
		fuzz_put_thread(i, fuzz_put_chunk(first + i * 256, i, i > 0));
	header->rolling_data_end[0] = THREADS * 256;
	if (mode != FXT_ONESHOT) {
		fuzz_put_chunk(layout.rolling_offset[1], 0, false);
		header->rolling_data_end[1] = 256;
	}
	c->threads = c->slots_used = THREADS;
}

static void fuzz_begin(uint8_t mode, uint8_t flags)
{
	options.buffering_mode = (enum fxt_buffering_mode)(mode % 3);
	options.heap_mode = flags & 1 ? FXT_HEAP_OBJECTS : FXT_HEAP_OFF;
	options.has_min_duration = flags & 8;
	options.limits.min_duration_ns = flags & 8 ? 1000 : 0;
	config.limits = options.limits;
	/* All zeros again; only what was touched takes time. */
	madvise(buffer, BUFFER_BYTES, MADV_DONTNEED);
	madvise(control, FXT_ELIDED_END, MADV_DONTNEED);
	/* A part that is not there must not be read, whatever the program writes. */
	if (mprotect(control + FXT_ELIDED_OFFSET, FXT_ELIDED_END - FXT_ELIDED_OFFSET,
	            options.has_min_duration ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
		abort();
	if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
		abort();
	fxt_archive_begin(&archive, file, "fuzzed", NULL);
	provider = (struct fxt_provider){.archive = &archive,
	        .wakeup = &wakeup,
	        .sched = &sched,
	        .identity = {.id = 1},
	        .pid = KOID,
	        .own_pid = KOID,
	        .process_koid = KOID,
	        .process = {.fd = -1},
	        .memory = {.buffer = buffer,
	                .control = (struct fxt_control *)control,
	                .map = {.control = (struct fxt_control *)control,
	                        .elides_calls = fxt_options_elide_calls(&options),
	                        .ends = {FXT_LARGE_STACKS_OFFSET, FXT_CONTROL_BYTES, FXT_ELIDED_END}},
	                .buffer_bytes = BUFFER_BYTES,
	                .control_bytes = fxt_control_bytes(fxt_options_elide_calls(&options))}};
	fxt_archive_name(&provider.identity, "fuzzed", 6);
	fxt_provider_prepare(&provider, &config);
	snapshots = 0;
	fuzz_begin_memory(options.buffering_mode);
}

/* ---- what it does ---- */

/* Writes up to 255 bytes. */
static void fuzz_write(struct input *input, uint8_t *memory, uint64_t offset, uint64_t room)
{
	size_t bytes = fuzz_take(input, 1);

	offset %= room;
	if (bytes > room - offset)
		bytes = room - offset;
	for (size_t i = 0; i < bytes && input->bytes; i++)
		memory[offset + i] = (uint8_t)fuzz_take(input, 1);
}

static void fuzz_send(struct input *input)
{
	struct fxt_ring *ring = &provider.memory.control->to_manager;
	struct fxt_packet *packet = &ring->packet[ring->written % FXT_FIFO_DEPTH];

	packet->request = (uint16_t)fuzz_take(input, 1);
	packet->reserved = (uint16_t)fuzz_take(input, 1);
	packet->data32 = (uint32_t)fuzz_take(input, 1);
	packet->data64 = fuzz_take(input, 2);
	ring->written++;
}

static int fuzz_drop(void *context, const void *records, uint64_t bytes)
{
	(void)context, (void)records, (void)bytes;
	return 0;
}

/* A provider that changes its chunks all the time is waited for. */
static void fuzz_snapshot(void)
{
	struct fxt_collector collector;
	struct fxt_snapshot snapshot;

	if (snapshots++ >= SNAPSHOTS || load_relaxed(&provider.memory.control->chunk_sequence) & 1 ||
	        fxt_snapshot_take(&snapshot, buffer, BUFFER_BYTES, provider.memory.control,
	                &provider.memory.map, provider.memory.map.elides_calls) != 0)
		return;
	fxt_collector_init(&collector, snapshot.buffer, BUFFER_BYTES, snapshot.map.control, fuzz_drop, NULL);
	collector.elides_calls = provider.collector.elides_calls;
	fxt_collect_rest(&collector, FXT_STILL_RUNNING, snapshot.ticks);
	fxt_collector_free(&collector);
	fxt_snapshot_free(&snapshot);
}

static void fuzz_act(struct input *input)
{
	uint64_t place;

	switch (fuzz_take(input, 1) % 10) {
	case 0: /* a header, then durable records */
		fuzz_write(input, buffer, fuzz_take(input, 2), BUFFER_BYTES);
		break;
	case 1: /* rolling records, in words */
		fuzz_write(input, buffer, fuzz_take(input, 2) * 8, BUFFER_BYTES);
		break;
	case 2:
		fuzz_write(input, control, fuzz_take(input, 2), sizeof(struct fxt_control));
		break;
	case 3: /* a slot */
		place = fuzz_take(input, 2) % FXT_SLOTS * FXT_SLOT_BYTES;
		fuzz_write(input, control, FXT_SLOTS_OFFSET + place + fuzz_take(input, 1), FXT_CONTROL_BYTES);
		break;
	case 4: /* a shadow stack */
		place = fuzz_take(input, 1) * FXT_SMALL_STACK_BYTES + fuzz_take(input, 2);
		fuzz_write(input, control, FXT_STACKS_OFFSET + place, FXT_CONTROL_BYTES);
		break;
	case 5: /* anywhere */
		fuzz_write(input, control, fuzz_take(input, 4), provider.memory.control_bytes);
		break;
	case 6:
		fuzz_send(input);
		break;
	case 7:
		fuzz_send(input);
		fxt_packets_handle(&provider);
		break;
	case 8:
		store_release(&provider.results_wanted, fuzz_take(input, 1) & 1);
		fxt_provider_statistics(&provider);
		break;
	default:
		fuzz_snapshot();
	}
}

/* As its thread ends; a manager stops listening to one that it has aborted. */
static void fuzz_end(uint8_t flags)
{
	struct fxt_heap_counters counters = {0};

	if (fxt_provider_state(&provider) != FXT_STATE_ABORTED)
		fxt_packets_handle(&provider);
	provider.ending = flags & 2 ? FXT_ENDED_NORMALLY : FXT_ENDED_BY_SIGNAL;
	provider.signal = flags & 4 ? 9 : 0;
	provider.end_ticks = TICKS;
	fxt_provider_finish(&provider, &counters);
	fxt_provider_statistics(&provider);
	fxt_collector_free(&provider.collector);
}

/* The archive has whole records, and no metadata record with the number of another
 * provider. */
static void fuzz_check_archive(void)
{
	uint64_t words = archive.bytes / 8, *records = NULL;

	if (archive.bytes % 8 != 0 || archive.error || archive.bytes_lost)
		abort();
	records = malloc(archive.bytes);
	if (!records || pread(file, records, archive.bytes, 0) != (ssize_t)archive.bytes)
		abort();
	for (uint64_t at = 0, size; at < words; at += size) {
		uint64_t header = records[at];

		size = fxt_record_words(header);
		if (size == 0 || size > words - at)
			abort();
		if (at && fxt_record_type(header) == FXT_RECORD_METADATA &&
		        (uint32_t)fxt_field(header, 20, 32) != 1)
			abort();
	}
	free(records);
	fxt_archive_end(&archive);
}

static void fuzz_never(struct fxt_watch *watch, void *context)
{
	(void)watch, (void)context;
}

static void fuzz_prepare(void)
{
	fxt_options_default(&options);
	config = (struct fxt_provider_config){
	        .options = &options, .clock = FXT_CLOCK_MONOTONIC, .ticks_per_second = TICKS};
	file = memfd_create("archive", MFD_CLOEXEC);
	buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	control = mmap(NULL, FXT_ELIDED_END, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (file < 0 || buffer == MAP_FAILED || control == MAP_FAILED ||
	        fxt_wakeup_open(&wakeup, epoll_create1(EPOLL_CLOEXEC), fuzz_never, NULL) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = {data, bytes};
	uint8_t mode = (uint8_t)fuzz_take(&input, 1), flags = (uint8_t)fuzz_take(&input, 1);

	if (!buffer)
		fuzz_prepare();
	fuzz_begin(mode, flags);
	while (input.bytes && fxt_provider_state(&provider) != FXT_STATE_ABORTED)
		fuzz_act(&input);
	fuzz_end(flags);
	fuzz_check_archive();
	return 0;
}
