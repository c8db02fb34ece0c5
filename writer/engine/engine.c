/*
 * Sets up, starts, stops and ends an engine, and sets up the engine of a forked child. Runs
 * on the thread that initializes the agent, on its helper thread and, to send packets, on
 * recording threads. Takes the engine's lock for each change. Must never call libc beyond
 * memcpy and the clock, and never print.
 */
#include "engine.h"
#include "valid.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "chunk.h"
#include "closing.h"
#include "decisions.h"
#include "writer/format/digits.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"
#include "writer/format/inherited.h"
#include "elided.h"
#include "local_names.h"
#include "rolling.h"
#include "strings.h"

#define WRITERS_BYTES (FXT_SLOTS * sizeof(struct fxt_thread_writer))
#define TIDS_BYTES    (FXT_TIDS * sizeof(struct fxt_tid))

static bool engine_control_is_valid(const struct fxt_control *control)
{
	return load_acquire(&control->magic) == FXT_CONTROL_MAGIC && control->version == FXT_SHARED_VERSION &&
	       (control->clock_kind == FXT_CLOCK_COUNTER || control->clock_kind == FXT_CLOCK_MONOTONIC) &&
	       control->ticks_per_second != 0;
}

/* The place in a parallel job of this process and of the children that it forks. */
static struct fxt_job engine_job;

void fxt_engine_set_job(const struct fxt_job *job)
{
	engine_job = *job;
}

static size_t engine_job_arguments(struct fxt_argument arguments[4])
{
	const struct fxt_job *job = &engine_job;
	size_t count = 0;

	if (!job->has_rank)
		return 0;
	arguments[count++] = fxt_argument_uint32(fxt_string_text(FXT_JOB_RANK), job->rank);
	if (job->size > 0)
		arguments[count++] = fxt_argument_uint32(fxt_string_text(FXT_JOB_SIZE), job->size);
	arguments[count++] = fxt_argument_string(fxt_string_text(FXT_JOB_HOST), fxt_string_text(job->host));
	if (*job->name)
		arguments[count++] =
		        fxt_argument_string(fxt_string_text(FXT_JOB_NAME), fxt_string_text(job->name));
	return count;
}

/* The smallest durable buffer has no room for the last words of the longest names, nor for
 * the arguments beside them. */
static bool engine_describe_process(struct fxt_engine *e)
{
	uint64_t record[64];
	struct fxt_argument arguments[4];
	size_t count = engine_job_arguments(arguments), bytes = strnlen(e->name, FXT_NAME_BYTES);

	for (;;) {
		size_t words = fxt_put_kernel_object(record, 64, FXT_OBJECT_PROCESS, e->process_koid,
		        fxt_string_inline(e->name, bytes), arguments, count);

		if (words > 0 && fxt_durable_write(e, record, words, true))
			return true;
		if (count > 0)
			count--;
		else if (bytes > 8)
			bytes -= 8;
		else
			return false;
	}
}

/* The names every trace uses, under the indices that the code knows them by. */
static bool engine_register_known(struct fxt_engine *e)
{
	static const char *const known[FXT_KNOWN_STRINGS] = {
	        [FXT_KNOWN_FUNCTION] = "function",
	        [FXT_KNOWN_FXT] = "fxt",
	        [FXT_KNOWN_WAITED] = "fxt: waited",
	        [FXT_KNOWN_ABANDONED] = "abandoned",
	        [FXT_KNOWN_RECORDS] = "records",
	        [FXT_KNOWN_PROCESS] = "process",
	        [FXT_KNOWN_INHERITED] = FXT_INHERITED_CATEGORY,
	};
	uint64_t record[32];
	size_t words = fxt_put_initialization(record, 32, e->control->ticks_per_second);

	if (!fxt_durable_write(e, record, words, false))
		return false;
	for (unsigned i = 1; i < FXT_KNOWN_STRINGS; i++)
		if (fxt_string_register(e, known[i], strlen(known[i])) != i)
			return false;
	return engine_describe_process(e);
}

static void engine_unmap(struct fxt_engine *e)
{
	for (uint32_t i = 0; e->writers && i < e->control->slots_used; i++)
		fxt_local_names_free(&e->writers[i]);
	fxt_reserve_unmap(e->writers, WRITERS_BYTES);
	fxt_reserve_unmap(e->tids, TIDS_BYTES);
	fxt_reserve_unmap(e->alive, sizeof(*e->alive));
	fxt_function_table_free(e);
	memset(e, 0, sizeof(*e));
}

/* In a forked child: the parent's engine, with its memory, which the kernel wiped and the
 * child's own engine takes over. All zeros: there is none. The only number in it that
 * counts is `first_slot`, which is that of the child's own engine. */
static struct fxt_engine engine_of_parent;

bool fxt_engine_reach_slots(struct fxt_engine *e, uint32_t count)
{
	for (int i = 0; i < FXT_BY_SLOT; i++)
		if (!fxt_reserve_reach(&e->by_slot[i], count))
			return false;
	return true;
}

static bool engine_map(struct fxt_engine *e)
{
	const struct fxt_engine parent = engine_of_parent;

	memset(&engine_of_parent, 0, sizeof(engine_of_parent));
	e->writers = parent.writers ?: fxt_reserve_map(WRITERS_BYTES);
	e->tids = parent.tids ?: fxt_reserve_map(TIDS_BYTES);
	e->alive = parent.alive ?: fxt_reserve_map(sizeof(*e->alive));
	e->functions = parent.functions;
	e->first_slot = parent.first_slot;
	e->by_slot[FXT_BY_SLOT_BLOCKS] =
	        (struct fxt_reserve){.memory = e->writers, .entry_bytes = sizeof(struct fxt_thread_writer)};
	e->by_slot[FXT_BY_SLOT_AGENT] = parent.by_slot[FXT_BY_SLOT_AGENT];
	return e->writers && e->tids && e->alive && fxt_reserve_reach_step(e->alive, 0) &&
	       fxt_engine_reach_slots(e, e->first_slot) && fxt_function_table_create(e);
}

/*
 * In a forked child, with memory that is all zeros: reserves the first `count` slots. No
 * thread gets them and nothing is recorded in them. A hook of the parent's that continues
 * in the child may have one of them with its writer; to that hook its shadow stack is
 * empty.
 */
static void engine_reserve_slots(struct fxt_engine *e, uint32_t count)
{
	/* All of them share one stack. It lies outside all other stacks, on a page that the
	 * next slot's stack makes present. */
	uint64_t place = count % 64;
	uint64_t bytes = 2 * sizeof(struct fxt_frame);
	uint64_t offset = FXT_STACKS_OFFSET + place * FXT_SMALL_STACK_BYTES + fxt_stack_color(place) - bytes;
	struct fxt_frame *sentinel = (struct fxt_frame *)((uint8_t *)e->control + offset);

	if (count)
		*sentinel = (struct fxt_frame){.function = 0, .stack_offset = UINT64_MAX};
	for (uint32_t i = 0; i < count; i++) {
		struct fxt_thread_slot *slot = fxt_slot(e, i);

		e->writers[i].number = i;
		slot->stack_offset = offset;
		slot->stack_bytes = bytes;
		store_relaxed(&slot->top, (uint64_t)(uintptr_t)(sentinel + 1));
	}
}

void fxt_engine_wipe(struct fxt_engine *e)
{
	uint64_t mask = fxt_engine_lock(e);

	fxt_function_table_clear(e);
	fxt_reserve_wipe(e->alive, sizeof(*e->alive));
	fxt_reserve_wipe(e->writers, WRITERS_BYTES);
	fxt_reserve_wipe(e->tids, TIDS_BYTES);
	fxt_unlock(&e->lock, mask);
}

void fxt_engine_detach(struct fxt_engine *e)
{
	e->lock = (struct fxt_lock){0}; /* another thread of the parent may have held it */
	e->state = FXT_ENGINE_STOPPED;
	e->run = (e->run | 1) + 1; /* no writer has this run, as writers are zeros */
	e->generation = 0;
	engine_reserve_slots(e, e->control->slots_used);
}

void fxt_engine_forget(struct fxt_engine *e, uint32_t first_slot)
{
	engine_of_parent = *e;
	engine_of_parent.first_slot = first_slot;
	if (first_slot == 0) {
		memset(e, 0, sizeof(*e));
		return;
	}
	/* A hook finds this engine if no other one follows. */
	e->lock = (struct fxt_lock){0};
	e->state = FXT_ENGINE_NONE;
	e->alive = NULL;
	e->first_slot = first_slot;
}

/*
 * Begins a generation on an empty buffer. Slots stay with the threads that have one, since
 * a slot cannot be taken from a running thread. They are not live before the thread comes
 * by, so no collector sees their contents.
 */
static bool engine_begin_generation(struct fxt_engine *e)
{
	static uint32_t generations;
	struct fxt_control *control = e->control;

	store_relaxed(&e->generation, add_relaxed(&generations, 1) + 1);
	for (uint32_t i = 0; i < control->slots_used; i++)
		store_release(&fxt_slot(e, i)->state, FXT_SLOT_FREE);
	control->lost_recycled = control->overwritten_recycled = 0;
	store_relaxed(&control->lost_without_slot, 0);
	store_release(&control->durable_committed, 0);
	store_release(&e->header->durable_data_end, 0);
	store_relaxed(&e->header->num_records_dropped, 0);
	fxt_rolling_clear(e);
	fxt_function_table_clear(e);
	e->durable_end = e->durable_chunk = 0;
	e->next_string = e->next_thread = 1;
	return engine_register_known(e);
}

/* Sets up an empty buffer by the config in the control memory. False: the config are
 * invalid. */
static bool engine_take_config(struct fxt_engine *e)
{
	const struct fxt_control *control = e->control;
	struct fxt_buffer_layout layout;
	enum fxt_buffering_mode mode;

	/* Acquire: pairs with the manager's release. If the config are written anew at this
	 * moment, the number read here is an earlier one, and the next start takes them
	 * again. */
	e->recording = load_acquire(&control->recording);
	mode = (enum fxt_buffering_mode)control->buffering_mode;
	if (fxt_buffer_layout(mode, e->buffer_bytes, &layout) != 0)
		return false;
	e->mode = mode;
	e->layout = layout;
	store_relaxed(&e->filter_changes, load_relaxed(&control->filter_changes));
	memset(e->callers_filter, 0, sizeof(e->callers_filter));
	fxt_decisions_put_in_force(e, e->filter_changes);
	fxt_buffer_clear(e->header, mode, e->buffer_bytes);
	return true;
}

/* In a parallel job the name has the rank: it distinguishes processes of one program. */
static void engine_name(struct fxt_engine *e, const char *name)
{
	static const char between[] = " rank ";
	char rank[sizeof(between) + FXT_DIGITS_BYTES];
	size_t more = 0;

	if (engine_job.has_rank) {
		memcpy(rank, between, sizeof(between) - 1);
		more = sizeof(between) - 1;
		more += fxt_put_digits(rank + more, engine_job.rank, 10);
	}
	size_t bytes = fxt_escape(e->name, sizeof(e->name) - more, name, strnlen(name, sizeof(e->name)));

	memcpy(e->name + bytes, rank, more);
}

int fxt_engine_initialize(struct fxt_engine *e, void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, const char *name)
{
	if (e->state != FXT_ENGINE_NONE)
		return EBUSY;
	if (!engine_control_is_valid(control))
		return EINVAL;
	memset(e, 0, sizeof(*e));
	e->buffer = buffer;
	e->buffer_bytes = buffer_bytes;
	e->header = buffer;
	e->control = control;
	e->clock = (enum fxt_clock_kind)control->clock_kind;
	/* The rate may be refined by less than 10^-4 at the end: a step must stay a whole
	 * nanosecond. */
	e->step = (control->ticks_per_second + control->ticks_per_second / 10000) / 1000000000u + 1;
	e->process_koid = control->process_koid;
	engine_name(e, name);
	e->pid = sys_getpid();
	e->reclaim_at = 64;
	control->slots_used = 0;
	if (!engine_map(e)) {
		engine_unmap(e);
		return ENOMEM;
	}
	engine_reserve_slots(e, e->first_slot);
	control->slots_used = e->first_slot;
	*e->alive = 1;
	control->buffer_address = (uint64_t)(uintptr_t)buffer;
	control->control_address = (uint64_t)(uintptr_t)control;
	if (!engine_take_config(e) || !engine_begin_generation(e)) {
		engine_unmap(e);
		return EINVAL;
	}
	e->state = FXT_ENGINE_STOPPED;
	return 0;
}

/* With the lock held, in state STOPPED: sets up for another recording of the session. */
static int engine_begin_recording(struct fxt_engine *e)
{
	int error = 0;

	FXT_ASSERT_LOCKED(e);
	if ((e->mode == FXT_STREAMING && !fxt_rolling_is_saved(e)) || !fxt_close_forget_stalled(e))
		return EBUSY;
	fxt_engine_change_begin(e);
	e->control->threads = 0;
	e->control->waited_ticks = 0;
	e->control->modules_unwritten = e->control->sites_stuck = 0;
	fxt_elided_clear(e);
	if (!engine_take_config(e) || !engine_begin_generation(e))
		error = EINVAL;
	fxt_engine_change_end(e);
	return error;
}

/* With the lock held, in state STOPPED. */
static int engine_clear(struct fxt_engine *e, enum fxt_start_mode mode)
{
	FXT_ASSERT_LOCKED(e);
	if (mode == FXT_START_RETAIN)
		return 0;
	if (e->mode == FXT_STREAMING && !fxt_rolling_is_saved(e))
		return EBUSY;
	fxt_engine_change_begin(e);
	fxt_elided_clear(e);
	if (mode == FXT_START_CLEAR_NONDURABLE && e->mode != FXT_ONESHOT)
		fxt_rolling_clear(e);
	else
		engine_begin_generation(e);
	fxt_engine_change_end(e);
	return 0;
}

int fxt_engine_start(struct fxt_engine *e, enum fxt_start_mode mode)
{
	uint64_t mask;
	bool is_another = false;
	int error;

	if (mode < FXT_START_CLEAR_ENTIRE || mode > FXT_START_RETAIN)
		return EINVAL;
	mask = fxt_engine_lock(e);
	if (e->state == FXT_ENGINE_NONE)
		error = EINVAL;
	else if (e->state == FXT_ENGINE_STARTED)
		error = EBUSY;
	/* Acquire: pairs with the manager's release; the config are complete. */
	else if (load_acquire(&e->control->recording) != e->recording)
		is_another = (error = engine_begin_recording(e)) == 0;
	else
		error = engine_clear(e, mode);
	if (e->broken)
		error = EPROTO;
	if (error == 0) {
		e->state = FXT_ENGINE_STARTED;
		store_relaxed(&e->full, false);
		store_release(&e->run, e->run + 1);
		if (is_another)
			e->recording_run = e->run;
		if (is_another || mode != FXT_START_RETAIN)
			e->cleared_run = e->run;
	}
	fxt_engine_unlock(e, mask);
	return error;
}

void fxt_engine_send_started(struct fxt_engine *e)
{
	struct fxt_packet started = {.request = FXT_PROVIDER_STARTED, .data32 = FXT_FIFO_PROTOCOL_VERSION};
	uint64_t mask = fxt_engine_lock(e);

	fxt_ring_send(&e->control->to_manager, &started);
	fxt_engine_unlock(e, mask);
}

/* With the lock held. */
static bool engine_send_other(struct fxt_engine *e, const struct fxt_packet *packet)
{
	struct fxt_ring *ring = &e->control->to_manager;

	FXT_ASSERT_LOCKED(e);
	return fxt_ring_has_room_for_others(ring) && fxt_ring_send(ring, packet);
}

void fxt_engine_send_triggered(struct fxt_engine *e)
{
	struct fxt_packet packet = {.request = FXT_PROVIDER_TRIGGERED};
	uint64_t mask = fxt_engine_lock(e);

	engine_send_other(e, &packet);
	fxt_engine_unlock(e, mask);
}

bool fxt_engine_send_alert(struct fxt_engine *e, const char *name)
{
	struct fxt_packet packet = {.request = FXT_PROVIDER_ALERT};
	uint64_t mask = fxt_engine_lock(e);
	bool is_sent;

	memcpy((uint8_t *)&packet + offsetof(struct fxt_packet, reserved), name,
	        strnlen(name, FXT_ALERT_NAME_BYTES - 1));
	is_sent = engine_send_other(e, &packet);
	fxt_engine_unlock(e, mask);
	return is_sent;
}

int fxt_engine_stop(struct fxt_engine *e)
{
	struct fxt_packet stopped = {.request = FXT_PROVIDER_STOPPED};
	uint64_t mask = fxt_engine_lock(e);
	int error = EINVAL;

	if (e->state == FXT_ENGINE_STARTED) {
		e->state = FXT_ENGINE_STOPPED;
		store_relaxed(&e->run, e->run + 1);
		e->stopped_ticks = fxt_clock_ticks(e->clock);
		fxt_engine_change_begin(e);
		fxt_close_all(e);
		fxt_engine_change_end(e);
		/* This comes after the closer's membarrier. A thread that restores its
		 * limit at this moment (fxt_stack_restore_limit) either sees the new run,
		 * or stores its limit before this overwrites it. */
		for (uint32_t i = 0; i < e->control->slots_used; i++)
			store_relaxed(&e->writers[i].top_limit, 0);
		/* A thread needs no chunk to elide a call. The call either is in the sums
		 * before they are taken, or stays open. */
		if (fxt_elides_calls(e->control))
			fxt_close_await_writers(e);
		fxt_ring_send(&e->control->to_manager, &stopped);
	}
	if (e->state != FXT_ENGINE_NONE)
		error = e->header->num_records_dropped ? ENOMEM : 0;
	fxt_engine_unlock(e, mask);
	return error;
}

int fxt_engine_terminate(struct fxt_engine *e)
{
	if (fxt_engine_stop(e) == EINVAL)
		return EINVAL;
	engine_unmap(e);
	return 0;
}
