/*
 * The thread of a provider: waits for packets and timeouts, and saves the rest after the
 * end. It must not wait for another provider, except for the archive's lock.
 */
#include "provider_thread.h"
#include <errno.h>
#include "ahead.h"
#include "description.h"
#include "packets.h"
#include "results.h"
#include "threads.h"
#include "writer/shared/atomics.h"
#include "writer/shared/clock.h"
#include "writer/engine/heap.h"
#include "writer/shared/sys.h"

enum { STACK_BYTES = 256 * 1024 };

/* The thread's wait for a packet, and the shorter one while it allocates pages ahead of a
 * busy provider. */
#define WAIT_NS          UINT64_C(200000000)
#define WAIT_BUSY_NS     UINT64_C(1000000)
#define WAIT_BUSY_MAX_NS UINT64_C(32000000)

/* True if the thread must go on waiting for packets. */
static bool provider_goes_on(const struct fxt_provider *p)
{
	return fxt_provider_state(p) != FXT_STATE_ABORTED && load_acquire(&p->end) != FXT_END_SENT;
}

/* Allocates pages ahead of the provider. Returns the next waiting time; `wait` was the last
 * one. */
static uint64_t provider_populate(struct fxt_provider *p, uint64_t wait)
{
	uint64_t populated = p->memory.populated;

	if (!fxt_memory_populate(&p->memory))
		wait = WAIT_NS;
	else if (p->memory.populated != populated)
		wait = WAIT_BUSY_NS;
	else if (wait < WAIT_BUSY_MAX_NS)
		wait *= 2;
	return p->heap_is_recorded && wait > FXT_HEAP_COUNTERS_NS ? FXT_HEAP_COUNTERS_NS : wait;
}

/* Writes the counters that are due, or the last ones, with the ticks of the end. */
static void provider_write_heap_counters(
        struct fxt_provider *p, struct fxt_heap_counters *counters, uint64_t end_ticks)
{
	const struct fxt_control *control = p->memory.control;
	uint64_t record[FXT_HEAP_COUNTERS_WORDS], words;

	words = end_ticks ? fxt_heap_counters_put(counters, control, p->process_koid, end_ticks, record)
	                  : fxt_heap_counters_due(counters, control, p->process_koid, record);
	if (words)
		fxt_archive_write(p->archive, &p->identity, record, words * 8);
}

void fxt_provider_describe(const struct fxt_provider *p, struct fxt_archive_writer *archive)
{
	if (p->description.bytes)
		fxt_archive_write_blob(archive, FXT_DESCRIPTION_BLOB, FXT_BLOB_PERFETTO, p->description.data,
		        p->description.bytes);
}

/* Sends further records to the place for the rest of processes that end during the
 * session. */
static void provider_move(struct fxt_provider *p)
{
	uint64_t promised_bytes = fxt_provider_rest_bytes(p);
	struct fxt_archive_writer *archive = fxt_ended_begin(p->ended, p->ledger, promised_bytes);

	if (!archive)
		return;
	p->rest_promised_bytes = promised_bytes;
	p->archive = archive;
	p->identity.announced = false;
	fxt_record_writer_move(&p->records, archive);
}

/* The rest is written: returns to the archive. */
static void provider_move_back(struct fxt_provider *p, struct fxt_archive_writer *own, uint64_t events_before)
{
	const struct fxt_collector *c = &p->collector;
	const struct fxt_ended_sum sum = {.processes = !p->is_replaced,
	        .events = c->copy.events - events_before,
	        .losses = {c->losses.lost - c->earlier_losses.lost,
	                c->losses.overwritten - c->earlier_losses.overwritten}};

	if (p->archive != own)
		fxt_ended_finish(p->ended, p->archive, p->rest_promised_bytes, &sum);
	p->archive = own;
}

/* Counts the provider's events in its archive, which is one of several. */
static void provider_count_events(struct fxt_provider *p, bool lacks_names)
{
	pthread_mutex_lock(&p->archive->lock);
	p->archive->events += p->collector.copy.events - p->events_counted;
	p->archive->lacks_names |= lacks_names;
	pthread_mutex_unlock(&p->archive->lock);
	p->events_counted = p->collector.copy.events;
}

/* Turns to the session's new archive, between two calls of the collector. Each archive is
 * a whole trace, so the new one gets the names and the description again. A call that is
 * open now will be in the archive in which it ends. */
static void provider_turn(struct fxt_provider *p, struct fxt_archive_writer *archive)
{
	fxt_record_writer_flush(&p->records);
	if (p->runs) {
		p->filter_change =
		        fxt_results_write_changes(p, p->archive, &p->identity, &p->records.counter);
		fxt_results_write_call_cost(p, p->archive, &p->identity, fxt_clock_ticks(p->clock));
	}
	provider_count_events(p, fxt_record_writer_turn(&p->records, archive));
	fxt_collector_repeat_names(&p->collector);
	p->ahead_from = 0;
	p->ahead_events = p->collector.copy.events;
	/* Release: pairs with the acquire of fxt_session_has_left(). */
	store_release(&p->archive, archive);
	fxt_provider_describe(p, archive);
	fxt_provider_note_progress(p);
}

static void provider_look_at_archive(struct fxt_provider *p)
{
	/* Acquire: pairs with the main thread's release; the archive has begun. */
	struct fxt_archive_writer *archive = load_acquire(p->session_archive);

	if (archive != p->archive)
		provider_turn(p, archive);
	else if (p->rotate_bytes && fxt_archive_bytes(archive) >= p->rotate_bytes)
		fxt_wakeup_send(p->wakeup, NULL);
}

void fxt_provider_finish(struct fxt_provider *p, struct fxt_heap_counters *counters)
{
	bool is_aborted = fxt_provider_state(p) == FXT_STATE_ABORTED;
	bool was_recording = fxt_provider_state(p) == FXT_STATE_RECORDING;
	struct fxt_archive_writer *own = p->archive;
	uint64_t events_before = p->collector.copy.events;

	if (!is_aborted && p->ended && p->runs)
		provider_move(p);
	if (p->runs && !p->session_archive)
		fxt_provider_describe(p, p->archive);
	if (!is_aborted && p->runs)
		fxt_results_save_rest(p);
	uint64_t ticks = is_aborted ? fxt_clock_ticks(p->clock) : p->end_ticks;

	if (p->collector.threads)
		fxt_results_write_call_cost(p, p->archive, &p->identity, ticks);
	if (p->heap_is_recorded && was_recording)
		provider_write_heap_counters(p, counters, ticks);
	fxt_record_writer_end(&p->records);
	if (p->session_archive)
		provider_count_events(p, p->records.left_placeholders);
	fxt_sched_remove(p->sched, p->memory.control);
	provider_move_back(p, own, events_before);
	fxt_provider_enter(p, FXT_STATE_DONE);
	fxt_provider_note_progress(p);
}

static void *provider_run(void *argument)
{
	struct fxt_provider *p = argument;
	struct fxt_heap_counters counters = {0};
	struct fxt_ahead ahead = {0};
	uint64_t wait = WAIT_BUSY_NS, next;

	while (provider_goes_on(p)) {
		fxt_packets_handle(p);
		if (p->session_archive && provider_goes_on(p))
			provider_look_at_archive(p);
		wait = provider_populate(p, wait);
		next = fxt_ahead_look(&ahead, p, wait);
		if (p->heap_is_recorded && fxt_provider_state(p) == FXT_STATE_RECORDING)
			provider_write_heap_counters(p, &counters, 0);
		if (p->records.late_count) {
			fxt_record_writer_flush(&p->records);
			wait = next = WAIT_BUSY_NS;
		}
		/* fxt_provider_send_end() wakes this futex too. If it does so between this
		 * check of `end` and the wait, the thread sleeps until the timeout. */
		if (provider_goes_on(p))
			sys_futex_wait(&p->memory.control->to_manager.written, p->packets, next);
	}
	if (fxt_provider_state(p) != FXT_STATE_ABORTED)
		fxt_packets_handle(p); /* packets that came before the end */
	fxt_provider_finish(p, &counters);
	return NULL;
}

int fxt_provider_start(struct fxt_provider *p, const struct fxt_provider_config *config)
{
	int error;

	fxt_provider_prepare(p, config);
	p->records.is_moved = p->session_archive != NULL;
	fxt_sched_add(p->sched, p->pid, p->own_pid, p->process_koid, p->memory.control);
	/* Without names there are no decisions, and the first call of each function would
	 * wait for one. */
	error = config->awaits_decisions && p->resolver && !p->records.names
	                ? ENOMEM
	                : fxt_thread_start(&p->thread, STACK_BYTES, provider_run, p);
	if (error) {
		fxt_record_writer_end(&p->records);
		fxt_sched_remove(p->sched, p->memory.control);
	}
	return error;
}
