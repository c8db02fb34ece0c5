#include "provider.h"
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "message.h"
#include "writer/heap.h"
#include "writer/sys.h"

enum {
	STACK_BYTES = 256 * 1024,
	QUIET_STEP_MS = 5,
	QUIET_MAX_MS = 100, /* for a running process to fall quiet */
};

/* How long the thread waits for a packet: shorter while it has pages to allocate ahead of a busy provider. */
#define WAIT_NS          UINT64_C(200000000)
#define WAIT_BUSY_NS     UINT64_C(1000000)
#define WAIT_BUSY_MAX_NS UINT64_C(32000000)

/* Says something of the provider: its name and process stand before it. */
#define say_of(p, format, ...) \
	fxt_say("%.*s[%d] " format, (p)->identity.name_bytes, (p)->identity.name, (p)->pid, ##__VA_ARGS__)

static void abort_provider(struct fxt_provider *p, const char *reason)
{
	p->aborted = true;
	store_release(&p->memory.control->command, FXT_COMMAND_QUIT);
	say_of(p, "is no longer traced: %s", reason);
}

static int emit(void *context, const void *records, uint64_t bytes)
{
	struct fxt_provider *p = context;

	fxt_archive_write(p->archive, &p->identity, records, bytes);
	return 0; /* what the archive cannot take, it counts */
}

/* ---- packets ---- */

static const char *reply_saved(struct fxt_provider *p, const struct fxt_packet *saved)
{
	struct fxt_ring *ring = &p->memory.control->to_provider;
	/* One reply a request, and one request at a time: the number of saves is that of replies before this
	 * one. */
	uint32_t written = p->collector.saves - 1;

	if (written - load_acquire(&ring->read) >= FXT_FIFO_DEPTH)
		return "it does not take the manager's packets";
	ring->packet[written % FXT_FIFO_DEPTH] =
	        (struct fxt_packet){FXT_PROVIDER_BUFFER_SAVED, 0, saved->data32, saved->data64};
	/* Release: pairs with the agent's acquire, the packet stands before it is counted. */
	store_release(&ring->written, written + 1);
	sys_futex_wake(&ring->written, 1);
	return NULL;
}

static void left_out(struct fxt_provider *p, const char *reason)
{
	if (!p->incomplete)
		say_of(p, "left records that were not taken: %s", reason);
	p->incomplete = true;
}

static const char *save_buffer(struct fxt_provider *p, const struct fxt_packet *packet)
{
	if (fxt_collect_saved_buffer(&p->collector, packet) != 0)
		return p->collector.reason;
	if (p->collector.reason)
		left_out(p, p->collector.reason);
	return reply_saved(p, packet);
}

static void ignore(struct fxt_provider *p, const char *packet)
{
	if (!p->scolded)
		say_of(p, "sent %s at the wrong time; it was ignored", packet);
	p->scolded = true;
}

/* Returns NULL, or why the provider is to be aborted. */
static const char *handle(struct fxt_provider *p, const struct fxt_packet *packet)
{
	if (packet->reserved && packet->request != FXT_PROVIDER_ALERT)
		return "it sent a packet whose reserved bits are set";
	switch (packet->request) {
	case FXT_PROVIDER_STARTED:
		if (packet->data32 != FXT_FIFO_PROTOCOL_VERSION)
			return "it speaks another version of the packet protocol";
		if (p->started)
			ignore(p, "STARTED");
		p->started = true;
		return NULL;
	case FXT_PROVIDER_SAVE_BUFFER:
		if (p->started && p->collector.mode == FXT_STREAMING)
			return save_buffer(p, packet);
		ignore(p, "SAVE_BUFFER");
		return NULL;
	case FXT_PROVIDER_STOPPED:
	case FXT_PROVIDER_ALERT:
		if (!p->started)
			ignore(p, packet->request == FXT_PROVIDER_ALERT ? "ALERT" : "STOPPED");
		return NULL;
	default:
		return "it sent a packet of an unknown kind";
	}
}

/* Handles what is in the ring by now. */
static void handle_packets(struct fxt_provider *p)
{
	struct fxt_ring *ring = &p->memory.control->to_manager;
	/* Acquire: pairs with the agent's release, what is counted stands in the ring. */
	uint32_t waiting = load_acquire(&ring->written) - p->packets;

	if (waiting > FXT_FIFO_DEPTH)
		abort_provider(p, "it sent more packets than the ring holds");
	for (; waiting > 0 && !p->aborted; waiting--) {
		struct fxt_packet packet =
		        *(volatile struct fxt_packet *)&ring->packet[p->packets % FXT_FIFO_DEPTH];
		const char *reason;

		p->packets++;
		/* Release: the packet was copied before its place is given back. */
		store_release(&ring->read, p->packets);
		reason = handle(p, &packet);
		if (reason)
			abort_provider(p, reason);
	}
}

/* ---- the end ---- */

/* Grows with every record the provider commits. */
static uint64_t progress(const struct fxt_provider *p)
{
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)p->memory.buffer;
	const struct fxt_thread_slot *slots =
	        (const struct fxt_thread_slot *)((uint8_t *)p->memory.control + FXT_SLOTS_OFFSET);
	uint32_t used = load_acquire(&p->memory.control->slots_used);
	uint64_t sum = load_relaxed(&header->durable_data_end) + load_relaxed(&header->wrapped_count);

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++)
		sum += load_relaxed(&slots[i].committed);
	return sum;
}

/* Waits for a process that was told to quit to fall quiet, or to end after all. */
static enum fxt_ending fall_quiet(const struct fxt_provider *p)
{
	uint64_t before = progress(p), after;

	for (int waited = 0; waited < QUIET_MAX_MS; waited += QUIET_STEP_MS, before = after) {
		struct pollfd process = {.fd = p->process.fd, .events = POLLIN};

		if (poll(&process, 1, QUIET_STEP_MS) > 0)
			return fxt_provider_own_account(p);
		after = progress(p);
		if (after == before)
			break;
	}
	return FXT_STILL_RUNNING;
}

static void collect_rest(struct fxt_provider *p)
{
	int error;

	if (p->ending == FXT_STILL_RUNNING)
		p->ending = fall_quiet(p);
	error = fxt_collect_rest(&p->collector, p->ending, p->end_ticks);
	if (error || p->collector.reason)
		left_out(p, p->collector.reason ? p->collector.reason : strerror(error));
	if (p->collector.lost)
		fxt_archive_write_loss(p->archive, &p->identity);
}

static void write_heap_counters(struct fxt_provider *p, const uint64_t *record, uint64_t words)
{
	if (words)
		fxt_archive_write(p->archive, &p->identity, record, words * 8);
}

static void *run(void *argument)
{
	struct fxt_provider *p = argument;
	const uint32_t *doorbell = &p->memory.control->to_manager.written;
	uint64_t wait = WAIT_BUSY_NS, populated = 0, record[FXT_HEAP_COUNTERS_WORDS];
	struct fxt_heap_counters counters = {0};

	while (!p->aborted && !load_acquire(&p->over)) {
		handle_packets(p);
		if (!fxt_memory_populate(&p->memory))
			wait = WAIT_NS;
		else if (p->memory.populated != populated)
			wait = WAIT_BUSY_NS;
		else if (wait < WAIT_BUSY_MAX_NS)
			wait *= 2;
		populated = p->memory.populated;
		if (p->heap_is_recorded && wait > FXT_HEAP_COUNTERS_NS)
			wait = FXT_HEAP_COUNTERS_NS;
		if (p->heap_is_recorded && p->started)
			write_heap_counters(p, record,
			        fxt_heap_counters_due(&counters, p->memory.control, p->process_koid, record));
		/* The end of the provider rings too. A ring that falls between this look at `over` and the
		 * wait is not heard; the wait then ends by itself. */
		if (!p->aborted && !load_acquire(&p->over))
			sys_futex_wait(doorbell, p->packets, wait);
	}
	if (!p->aborted)
		handle_packets(p);
	if (!p->aborted && p->started)
		collect_rest(p);
	if (p->heap_is_recorded && !p->aborted && p->started)
		write_heap_counters(p, record,
		        fxt_heap_counters_put(
		                &counters, p->memory.control, p->process_koid, p->end_ticks, record));
	store_release(&p->done, 1);
	return NULL;
}

/* ---- the main thread's side ---- */

static void fill_control(struct fxt_provider *p, const struct fxt_provider_terms *terms)
{
	struct fxt_control *control = p->memory.control;
	const struct fxt_options *options = terms->options;

	control->version = FXT_SHARED_VERSION;
	control->buffering_mode = options->buffering_mode;
	control->on_full = options->on_full;
	control->clock_kind = terms->clock;
	control->heap_mode = options->heap_mode;
	p->heap_is_recorded = options->heap_mode != FXT_HEAP_OFF;
	control->heap_stacks = options->heap_stacks;
	control->heap_sample_bytes = options->heap_sample_bytes;
	control->ticks_per_second = terms->ticks_per_second;
	control->process_koid = p->process_koid;
	control->provider_id = p->identity.id;
	control->categories_bytes = options->categories_bytes;
	memcpy(control->categories, options->categories, options->categories_bytes);
	control->heartbeat = 1;
	/* Last: who finds the magic finds the rest. */
	store_release(&control->magic, FXT_CONTROL_MAGIC);
}

int fxt_provider_start(struct fxt_provider *p, const struct fxt_provider_terms *terms)
{
	pthread_attr_t attributes;
	int error;

	fill_control(p, terms);
	fxt_collector_init(
	        &p->collector, p->memory.buffer, p->memory.buffer_bytes, p->memory.control, emit, p);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&p->thread, &attributes, run, p);
	pthread_attr_destroy(&attributes);
	return error;
}

void fxt_provider_beat(struct fxt_provider *p)
{
	add_relaxed(&p->memory.control->heartbeat, 1);
}

bool fxt_provider_is_dead(const struct fxt_provider *p)
{
	struct pollfd process = {.fd = p->process.fd, .events = POLLIN};

	return poll(&process, 1, 0) > 0;
}

enum fxt_ending fxt_provider_own_account(const struct fxt_provider *p)
{
	return load_acquire(&p->memory.control->exiting) == 1 ? FXT_ENDED_NORMALLY : FXT_ENDED_BY_SIGNAL;
}

void fxt_provider_end(struct fxt_provider *p, enum fxt_ending ending, uint64_t ticks)
{
	p->ended = true;
	p->ending = ending;
	p->end_ticks = ticks;
	if (ending == FXT_STILL_RUNNING)
		store_release(&p->memory.control->command, FXT_COMMAND_QUIT);
	store_release(&p->over, 1);
	sys_futex_wake(&p->memory.control->to_manager.written, 1);
}

void fxt_provider_join(struct fxt_provider *p)
{
	pthread_join(p->thread, NULL);
	fxt_memory_free(&p->memory);
}
