#include "provider.h"
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "launcher/message.h"
#include "packets.h"
#include "writer/encode.h"
#include "writer/categories.h"
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

void fxt_provider_say(const struct fxt_provider *p, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fxt_say("%.*s[%d] %s", p->identity.name_bytes, p->identity.name, p->pid, text);
}

void fxt_provider_left_out(struct fxt_provider *p, const char *reason)
{
	if (!p->incomplete)
		fxt_provider_say(p, "left records that were not taken: %s", reason);
	p->incomplete = true;
}

static int emit(void *context, const void *records, uint64_t bytes)
{
	struct fxt_provider *p = context;

	fxt_archive_write(p->archive, &p->identity, records, bytes);
	return 0; /* what the archive cannot take, it counts */
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

void fxt_provider_take_results(struct fxt_provider *p, enum fxt_ending ending, uint64_t ticks)
{
	uint64_t lost = p->collector.lost;
	int error;

	/* From here on a snapshot waits: it may copy all of this from the archive or none of it. */
	pthread_mutex_lock(&p->archive->lock);
	store_relaxed(&p->taking, 1);
	pthread_mutex_unlock(&p->archive->lock);
	error = fxt_collect_rest(&p->collector, ending, ticks);
	if (error || p->collector.reason)
		fxt_provider_left_out(p, p->collector.reason ? p->collector.reason : strerror(error));
	if (p->collector.lost > lost)
		fxt_archive_write_loss(p->archive, &p->identity);
	p->results_taken = true;
	store_release(&p->taking, 0);
}

/* On the row of the main thread: which one the signal came to is not known. */
static void write_killed(struct fxt_provider *p)
{
	struct fxt_argument signal =
	        fxt_argument_int32(fxt_string_inline("signal", strlen("signal")), p->signal);
	struct fxt_string category = fxt_string_inline("process", strlen("process"));
	uint64_t record[16];
	size_t words = fxt_put_event(record, sizeof(record) / 8, FXT_EVENT_INSTANT,
	        fxt_thread_inline(p->process_koid, (uint64_t)p->pid), category,
	        fxt_string_inline("killed", strlen("killed")), p->end_ticks, &signal, 1, 0);

	if (fxt_category_is_enabled(p->memory.control, "process"))
		fxt_archive_write(p->archive, &p->identity, record, words * sizeof(*record));
}

static struct fxt_argument picoseconds(const char *name, uint64_t ps)
{
	return fxt_argument_uint64(fxt_string_inline(name, strlen(name)), ps);
}

void fxt_provider_write_call_cost(const struct fxt_provider *p, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, uint64_t ticks)
{
	struct fxt_argument arguments[] = {picoseconds("within_ps", p->call_cost.within_ps),
	        picoseconds("around_ps", p->call_cost.around_ps),
	        picoseconds("error_ps", p->call_cost.error_ps)};
	uint64_t record[32];
	size_t words = fxt_put_event(record, sizeof(record) / 8, FXT_EVENT_INSTANT,
	        fxt_thread_inline(p->process_koid, (uint64_t)p->pid), fxt_string_inline("fxt", strlen("fxt")),
	        fxt_string_inline(FXT_CALL_COST_EVENT, strlen(FXT_CALL_COST_EVENT)), ticks, arguments,
	        sizeof(arguments) / sizeof(*arguments), 0);

	if (p->call_cost.within_ps)
		fxt_archive_write(archive, identity, record, words * sizeof(*record));
}

/* What a provider left that has ended. Calls that were open when it was stopped ended then, for all we know.
 */
static void take_rest(struct fxt_provider *p)
{
	if (p->ending == FXT_STILL_RUNNING)
		p->ending = fall_quiet(p);
	if (load_relaxed(&p->memory.control->modules_unwritten))
		fxt_provider_say(p,
		        "has functions that appear by address: its buffer has no room for the list of its "
		        "libraries; choose a larger --buffer-size");
	if (p->results_taken)
		return;
	if (p->recording)
		fxt_provider_take_results(p, p->ending, p->end_ticks);
	else
		fxt_provider_take_results(p, FXT_ENDED_NORMALLY, p->stopped_ticks);
	if (p->signal && p->recording && p->collector.threads)
		write_killed(p);
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
		fxt_packets_handle(p);
		if (!fxt_memory_populate(&p->memory))
			wait = WAIT_NS;
		else if (p->memory.populated != populated)
			wait = WAIT_BUSY_NS;
		else if (wait < WAIT_BUSY_MAX_NS)
			wait *= 2;
		populated = p->memory.populated;
		if (p->heap_is_recorded && wait > FXT_HEAP_COUNTERS_NS)
			wait = FXT_HEAP_COUNTERS_NS;
		if (p->heap_is_recorded && p->recording)
			write_heap_counters(p, record,
			        fxt_heap_counters_due(&counters, p->memory.control, p->process_koid, record));
		/* The end of the provider rings too. A ring that falls between this look at `over` and the
		 * wait is not heard; the wait then ends by itself. */
		if (!p->aborted && !load_acquire(&p->over))
			sys_futex_wait(doorbell, p->packets, wait);
	}
	if (!p->aborted)
		fxt_packets_handle(p);
	if (!p->aborted && p->started)
		take_rest(p);
	if (p->collector.threads)
		fxt_provider_write_call_cost(p, p->archive, &p->identity, p->end_ticks);
	if (p->heap_is_recorded && !p->aborted && p->recording)
		write_heap_counters(p, record,
		        fxt_heap_counters_put(
		                &counters, p->memory.control, p->process_koid, p->end_ticks, record));
	fxt_sched_remove(p->sched, p->memory.control);
	store_release(&p->done, 1);
	fxt_wakeup_send(p->wakeup, NULL);
	return NULL;
}

/* ---- the main thread's side ---- */

static void fill_control(struct fxt_provider *p, const struct fxt_provider_terms *terms)
{
	struct fxt_control *control = p->memory.control;
	const struct fxt_options *options = terms->options;

	p->clock = terms->clock;
	p->call_cost = terms->call_cost;

	control->version = FXT_SHARED_VERSION;
	control->buffering_mode = options->buffering_mode;
	control->on_full = options->on_full;
	control->clock_kind = terms->clock;
	control->heap_mode = options->heap_mode;
	p->heap_is_recorded = options->heap_mode != FXT_HEAP_OFF;
	control->heap_stacks = options->heap_stacks;
	control->heap_sample_bytes = options->heap_sample_bytes;
	control->populate = options->populate;
	if (options->populate) /* by the provider, before it begins */
		p->memory.populated = p->memory.buffer_bytes;
	control->ticks_per_second = terms->ticks_per_second;
	control->process_koid = p->process_koid;
	control->provider_id = p->identity.id;
	control->categories_bytes = terms->categories.bytes;
	memcpy(control->categories, terms->categories.names, terms->categories.bytes);
	control->heartbeat = 1;
	if (terms->begin)
		control->session_command = fxt_session_command_next(0, FXT_COMMAND_START, FXT_START_RETAIN);
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
	fxt_sched_add(p->sched, p->pid, p->own_pid, p->memory.control);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&p->thread, &attributes, run, p);
	pthread_attr_destroy(&attributes);
	if (error)
		fxt_sched_remove(p->sched, p->memory.control);
	return error;
}

bool fxt_provider_is_live(const struct fxt_provider *p)
{
	return p->memory.buffer && !p->ended && !load_acquire(&p->done);
}

bool fxt_provider_follows(const struct fxt_provider *p, bool recording)
{
	/* Acquire: its results, if they were asked for, are in the archive. */
	return load_acquire(&p->recording) == recording || load_relaxed(&p->memory.control->commands_ignored);
}

void fxt_provider_begin(
        struct fxt_provider *p, const struct fxt_categories *categories, enum fxt_start_mode mode)
{
	struct fxt_control *control = p->memory.control;

	/* An agent that begins looks at them; one that records does not. */
	memcpy(control->categories, categories->names, categories->bytes);
	control->categories_bytes = categories->bytes;
	fxt_packets_order(p, FXT_COMMAND_START, mode);
}

void fxt_provider_stop(struct fxt_provider *p, bool write_results)
{
	store_release(&p->results_wanted, write_results);
	fxt_packets_order(p, FXT_COMMAND_STOP, 0);
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
		fxt_packets_order(p, FXT_COMMAND_QUIT, 0);
	store_release(&p->over, 1);
	sys_futex_wake(&p->memory.control->to_manager.written, 1);
}

void fxt_provider_join(struct fxt_provider *p)
{
	pthread_join(p->thread, NULL);
	fxt_collector_free(&p->collector);
	fxt_memory_free(&p->memory);
}
