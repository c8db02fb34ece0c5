/*
 * What the tests of the engine share: an engine on memory of its own, between pages that fault; a manager
 * that takes its buffers; threads that call functions; and a decoder of the records, with a few lines of its
 * own.
 */
#ifndef FXT_TESTS_UNIT_RIG_H
#define FXT_TESTS_UNIT_RIG_H

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "writer/chunk.h"
#include "writer/collect/collect.h"
#include "writer/encode.h"
#include "writer/engine.h"
#include "writer/local_names.h"
#include "writer/shadow_stack.h"
#include "writer/strings.h"
#include "writer/threads.h"

#define UNUSED __attribute__((unused))

#define RIG_RATE    UINT64_C(3000000000) /* ticks a second: three a nanosecond, so that starts can collide */
#define RIG_PROCESS UINT64_C(4242)

#define STRINGS_BYTES (sizeof(char[32768][48]))

/* ---- the trace that comes out ---- */

enum event_kind { EVENT_CALL, EVENT_OPEN_CALL, EVENT_LOSS, EVENT_OVERWRITTEN, EVENT_WAIT };

struct event {
	uint64_t koid, function, start, end;
	uint64_t records; /* of a loss */
	enum event_kind kind;
	bool is_abandoned;
};

struct trace {
	struct event *events;
	size_t count, room;
	char (*strings)[48]; /* by index */
	uint64_t threads[256];
	uint64_t *named; /* koids that have a kernel object */
	size_t named_count, named_room;
	unsigned initializations;
	uint64_t rate;
	uint64_t bytes;
	bool is_bad; /* something in it refers to nothing, or is not known here */
};

static inline UNUSED void trace_reset(struct trace *t)
{
	free(t->events);
	free(t->named);
	free(t->strings);
	memset(t, 0, sizeof(*t));
}

static inline UNUSED const char *trace_text(
        struct trace *t, uint64_t ref, const uint64_t **at, char buffer[64])
{
	size_t bytes = ref & 0x7fff;

	buffer[0] = 0;
	if (ref & 0x8000) {
		memcpy(buffer, *at, bytes < 63 ? bytes : 63);
		buffer[bytes < 63 ? bytes : 63] = 0;
		*at += (bytes + 7) / 8;
		return buffer;
	}
	if (ref && !t->strings[ref][0])
		t->is_bad = true;
	return ref ? t->strings[ref] : "";
}

static inline UNUSED void trace_event(struct trace *t, const uint64_t *record)
{
	struct event event = {.start = record[1]};
	uint64_t header = record[0], type = header >> 16 & 15, thread = header >> 24 & 255;
	const uint64_t *at = record + 2;
	char buffer[2][64], fate[16];

	event.koid = thread ? t->threads[thread] : at[1];
	at += thread ? 0 : 2;
	const char *category = trace_text(t, header >> 32 & 0xffff, &at, buffer[0]);
	const char *name = trace_text(t, header >> 48, &at, buffer[1]);

	if (!event.koid)
		t->is_bad = true;
	if (strcmp(category, "function") == 0) {
		event.kind = type == 2 ? EVENT_OPEN_CALL : EVENT_CALL;
		event.is_abandoned = (header >> 20 & 15) == 1;
		if (sscanf(name, "{{{pc:%" SCNx64 ":", &event.function) != 1)
			t->is_bad = true;
	} else if (strcmp(category, "fxt") == 0 && strcmp(name, "fxt: waited") == 0) {
		event.kind = EVENT_WAIT;
	} else if (strcmp(category, "fxt") == 0 &&
	           sscanf(name, "fxt: %" SCNu64 " records %15s", &event.records, fate) == 2) {
		event.kind = strcmp(fate, "lost") == 0 ? EVENT_LOSS : EVENT_OVERWRITTEN;
		if (at[1] != event.records) /* its argument */
			t->is_bad = true;
	} else {
		t->is_bad = true;
	}
	if (type == 0)
		event.end = event.start;
	else if (type != 2)
		event.end = record[(header >> 4 & 0xfff) - 1];
	if (t->count == t->room)
		t->events = realloc(t->events, (t->room = t->room * 2 + 1024) * sizeof(event));
	t->events[t->count++] = event;
}

static inline UNUSED int trace_take(void *context, const void *records, uint64_t bytes)
{
	struct trace *t = context;
	const uint64_t *record = records, *end = record + bytes / 8;
	char buffer[64];

	if (!t->strings)
		t->strings = calloc(1, STRINGS_BYTES);
	t->bytes += bytes;
	for (; record < end; record += record[0] >> 4 & 0xfff) {
		const uint64_t *at = record + 2;
		uint64_t header = record[0];

		if ((header >> 4 & 0xfff) == 0 || (header >> 4 & 0xfff) > (uint64_t)(end - record)) {
			t->is_bad = true;
			break;
		}
		switch (header & 15) {
		case 1:
			t->initializations++;
			t->rate = record[1];
			break;
		case 2:
			memset(t->strings[header >> 16 & 0x7fff], 0, 48);
			memcpy(t->strings[header >> 16 & 0x7fff], record + 1, header >> 32 & 0x7fff);
			break;
		case 3:
			t->threads[header >> 16 & 255] = record[1] == RIG_PROCESS ? record[2] : 0;
			break;
		case 4:
			trace_event(t, record);
			break;
		case 7:
			if (!trace_text(t, header >> 24 & 0xffff, &at, buffer)[0])
				t->is_bad = true;
			if (t->named_count == t->named_room)
				t->named = realloc(t->named, (t->named_room = t->named_room * 2 + 64) * 8);
			t->named[t->named_count++] = record[1];
			break;
		default:
			t->is_bad = true;
		}
	}
	return 0;
}

static inline UNUSED bool trace_names(const struct trace *t, uint64_t koid)
{
	for (size_t i = 0; i < t->named_count; i++)
		if (t->named[i] == koid)
			return true;
	return false;
}

/* Events of a kind of a thread, 0 = of all; losses count their records. */
static inline UNUSED uint64_t trace_count(const struct trace *t, enum event_kind kind, uint64_t koid)
{
	uint64_t count = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->events[i].kind == kind && (!koid || t->events[i].koid == koid))
			count += t->events[i].records ? t->events[i].records : 1;
	return count;
}

static inline UNUSED int by_thread_and_start(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->koid != y->koid)
		return x->koid < y->koid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/*
 * Whatever a viewer needs: on each thread starts differ by whole nanoseconds (so no call is there twice),
 * nothing ends before it starts, and no two slices overlap in part. Sorts the events.
 */
static inline UNUSED void trace_check_nesting(struct trace *t)
{
	size_t depth = 0;
	uint64_t *ends = malloc((t->count + 1) * sizeof(*ends));

	assert_false(t->is_bad);
	if (t->count)
		qsort(t->events, t->count, sizeof(*t->events), by_thread_and_start);
	for (size_t i = 0; i < t->count; i++) {
		const struct event *event = &t->events[i], *before = event - 1;
		uint64_t end = event->kind == EVENT_OPEN_CALL ? UINT64_MAX : event->end;

		if (i == 0 || event->koid != before->koid)
			depth = 0;
		else if (event->start * 1000 / (t->rate / 1000000) <=
		         before->start * 1000 / (t->rate / 1000000))
			fail_msg("two slices start in the same nanosecond: kinds %d, %d", before->kind,
			        event->kind);
		if (end < event->start)
			fail_msg("a slice of kind %d ends before it starts", event->kind);
		while (depth && ends[depth - 1] <= event->start)
			depth--;
		if (depth && end > ends[depth - 1])
			fail_msg("a slice of kind %d overlaps another in part", event->kind);
		ends[depth++] = end;
	}
	free(ends);
}

/* ---- the engine and its manager ---- */

struct rig {
	struct fxt_engine e;
	uint8_t *buffer;
	uint64_t buffer_bytes;
	struct fxt_control *control;
	struct fxt_collector collector;
	struct trace trace;
	uint32_t packets; /* of the provider, taken so far */
	pthread_t manager;
	uint32_t over;
};

/* Memory between two pages that fault. */
static inline UNUSED void *guarded_map(size_t bytes)
{
	uint8_t *memory =
	        mmap(NULL, bytes + 8192, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + 4096, bytes, PROT_READ | PROT_WRITE), 0);
	return memory + 4096;
}

static inline UNUSED void guarded_unmap(void *memory, size_t bytes)
{
	munmap((uint8_t *)memory - 4096, bytes + 8192);
}

static inline UNUSED void rig_map(
        struct rig *rig, enum fxt_buffering_mode mode, uint64_t bytes, enum fxt_on_full on_full)
{
	memset(rig, 0, sizeof(*rig));
	assert_int_equal(sys_membarrier_register(), 0);
	rig->buffer_bytes = bytes;
	rig->buffer = guarded_map(bytes);
	rig->control = guarded_map(FXT_CONTROL_BYTES);
	rig->control->version = FXT_SHARED_VERSION;
	rig->control->buffering_mode = mode;
	rig->control->on_full = on_full;
	rig->control->clock_kind = FXT_CLOCK_COUNTER;
	rig->control->ticks_per_second = RIG_RATE;
	rig->control->process_koid = RIG_PROCESS;
	rig->control->heartbeat = 1;
	store_release(&rig->control->magic, FXT_CONTROL_MAGIC);
	fxt_collector_init(&rig->collector, rig->buffer, bytes, rig->control, trace_take, &rig->trace);
}

static inline UNUSED void rig_begin(
        struct rig *rig, enum fxt_buffering_mode mode, uint64_t bytes, enum fxt_on_full on_full)
{
	rig_map(rig, mode, bytes, on_full);
	assert_int_equal(fxt_engine_initialize(&rig->e, rig->buffer, bytes, rig->control, "rig"), 0);
	assert_int_equal(fxt_engine_start(&rig->e, FXT_START_RETAIN), 0);
	fxt_engine_send_started(&rig->e);
}

static inline UNUSED void rig_end(struct rig *rig)
{
	if (rig->e.state != FXT_ENGINE_NONE)
		assert_int_equal(fxt_engine_terminate(&rig->e), 0);
	guarded_unmap(rig->buffer, rig->buffer_bytes);
	guarded_unmap(rig->control, FXT_CONTROL_BYTES);
	trace_reset(&rig->trace);
}

static inline UNUSED void rig_reply(struct rig *rig, struct fxt_packet packet)
{
	struct fxt_ring *ring = &rig->control->to_provider;

	ring->packet[ring->written % FXT_FIFO_DEPTH] = packet;
	store_release(&ring->written, ring->written + 1);
	sys_futex_wake(&ring->written, 1000);
}

/* The provider's next packet; false: there is none. */
static inline UNUSED bool rig_receive(struct rig *rig, struct fxt_packet *packet)
{
	struct fxt_ring *ring = &rig->control->to_manager;

	if (load_acquire(&ring->written) == rig->packets)
		return false;
	*packet = ring->packet[rig->packets++ % FXT_FIFO_DEPTH];
	store_release(&ring->read, rig->packets);
	return true;
}

/* Saves what was handed over, and says so. */
static inline UNUSED unsigned rig_save(struct rig *rig)
{
	struct fxt_packet packet;
	unsigned saved = 0;

	while (rig_receive(rig, &packet)) {
		if (packet.request != FXT_PROVIDER_SAVE_BUFFER)
			continue;
		assert_int_equal(fxt_collect_saved_buffer(&rig->collector, &packet), 0);
		assert_null(rig->collector.reason);
		packet.request = FXT_PROVIDER_BUFFER_SAVED;
		rig_reply(rig, packet);
		saved++;
	}
	return saved;
}

static inline UNUSED void *rig_manage(void *argument)
{
	struct rig *rig = argument;

	while (!load_acquire(&rig->over)) {
		uint32_t seen = load_acquire(&rig->control->to_manager.written);

		add_relaxed(&rig->control->heartbeat, 1);
		if (!rig_save(rig) && !load_acquire(&rig->over))
			sys_futex_wait(&rig->control->to_manager.written, seen, 10000000);
	}
	return NULL;
}

static inline UNUSED void rig_start_manager(struct rig *rig)
{
	rig->over = 0;
	assert_int_equal(pthread_create(&rig->manager, NULL, rig_manage, rig), 0);
}

static inline UNUSED void rig_stop_manager(struct rig *rig)
{
	store_release(&rig->over, 1);
	sys_futex_wake(&rig->control->to_manager.written, 1000);
	pthread_join(rig->manager, NULL);
	rig_save(rig);
}

/* The end of the process. */
static inline UNUSED void rig_collect(struct rig *rig, enum fxt_ending ending)
{
	assert_int_equal(fxt_collect_rest(&rig->collector, ending, fxt_counter_ticks()), 0);
	assert_null(rig->collector.reason);
	assert_false(rig->trace.is_bad);
}

/* ---- a thread that calls functions, as the hooks do ---- */

struct caller {
	struct fxt_engine *e;
	struct fxt_block *block;
	struct fxt_thread_slot *slot;
	uint64_t koid;
};

static inline UNUSED void caller_attach(struct caller *caller, struct fxt_engine *e)
{
	caller->e = e;
	caller->block = fxt_thread_attach(e);
	assert_non_null(caller->block);
	caller->slot = fxt_slot(e, caller->block->number);
	caller->koid = caller->slot->koid;
}

static inline UNUSED uint64_t caller_word(struct caller *caller, uint64_t function)
{
	uint64_t word = fxt_function_find(&caller->e->functions, function), mask;

	if (word)
		return word;
	mask = fxt_lock(&caller->e->lock);
	word = fxt_function_register(caller->e, function, 1);
	fxt_unlock(&caller->e->lock, mask);
	return word;
}

static inline UNUSED void caller_nested(struct caller *caller)
{
	add_relaxed(&caller->slot->nested_lost, 1);
	store_relaxed(&caller->block->limit, 0);
	store_relaxed(&caller->block->top_limit, 0);
}

static inline UNUSED uint64_t caller_now(const struct caller *caller, uint64_t at_least)
{
	uint64_t now = fxt_counter_ticks();

	(void)caller;
	return now > at_least ? now : at_least;
}

static inline UNUSED void enter(struct caller *caller, uint64_t function)
{
	struct fxt_block *block = caller->block;

	if (load_relaxed(&block->busy) != FXT_IDLE) {
		caller_nested(caller);
		return;
	}
	store_relaxed(&block->busy, FXT_SLOW_PATH);
	compiler_barrier();
	struct fxt_frame *top = (struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top);

	if ((uint64_t)(uintptr_t)top >= load_relaxed(&block->top_limit)) {
		if (!load_relaxed(&block->top_limit)) {
			fxt_thread_check(caller->e, block);
			fxt_stack_restore_limit(caller->e, block);
		}
		top = (struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top);
		if ((uint64_t)(uintptr_t)top >= load_relaxed(&block->top_limit)) {
			if (!fxt_stack_grow(caller->e, block)) {
				fxt_chunk_count_lost(caller->e, block, 1, fxt_counter_ticks());
				block->frameless_calls++;
				store_relaxed(&block->limit, 0);
				store_release(&block->busy, FXT_IDLE);
				return;
			}
			top = (struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top);
		}
	}
	*top = (struct fxt_frame){.function = caller_word(caller, function),
	        .start = caller_now(caller, block->last + caller->e->step)};
	block->last = top->start;
	store_release(&caller->slot->top, (uint64_t)(uintptr_t)(top + 1));
	store_release(&block->busy, FXT_IDLE);
}

static inline UNUSED void leave_out_of_line(struct caller *caller, uint64_t now)
{
	struct fxt_block *block = caller->block;
	const struct fxt_frame *frame;
	uint64_t record[4], end;

	store_release(&block->busy, FXT_SLOW_PATH);
	if (fxt_thread_check(caller->e, block) == FXT_THREAD_RENEWED)
		goto out;
	if (!block->top_limit)
		fxt_stack_restore_limit(caller->e, block);
	if (block->frameless_calls) {
		block->frameless_calls--;
		goto out;
	}
	frame = (const struct fxt_frame *)(uintptr_t)caller->slot->top - 1;
	if (frame->function == 0)
		goto out;
	end = now > block->last ? now : block->last;
	for (;;) {
		uint64_t index = frame->function & FXT_INDEX_LOCAL;

		if (index == FXT_INDEX_LOCAL)
			index = fxt_local_index(
			        caller->e, block, frame->function >> FXT_FRAME_INDEX_BITS, 1, 3);
		if (index) {
			size_t words = fxt_put_event(record, 4, FXT_EVENT_DURATION_COMPLETE,
			        fxt_thread_index(caller->slot->thread_index),
			        fxt_string_index(FXT_KNOWN_FUNCTION), fxt_string_index((uint32_t)index),
			        frame->start, NULL, 0, end);

			if (fxt_chunk_try_write(caller->e, block, record, words, 1))
				break;
		}
		if (!index || ((frame->function & FXT_INDEX_LOCAL) != FXT_INDEX_LOCAL &&
		                      !fxt_chunk_reserve(caller->e, block, 3))) {
			fxt_chunk_count_lost(caller->e, block, 1, end);
			break;
		}
	}
	block->last = end > block->last ? end : block->last;
	store_release(&caller->slot->top, (uint64_t)(uintptr_t)frame);
out:
	store_release(&block->busy, FXT_IDLE);
}

static inline UNUSED void leave(struct caller *caller)
{
	struct fxt_block *block = caller->block;

	if (load_relaxed(&block->busy) != FXT_IDLE)
		return;
	uint64_t now = fxt_counter_ticks();

	store_relaxed(&block->busy, FXT_WRITING);
	compiler_barrier();
	const struct fxt_frame *frame =
	        (const struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top) - 1;
	uint64_t end = now > block->last ? now : block->last;

	if (frame->function == 0 || (frame->function & FXT_INDEX_LOCAL) == FXT_INDEX_LOCAL ||
	        !fxt_chunk_record_call(block, caller->slot, frame->function, frame->start, end)) {
		leave_out_of_line(caller, now);
		return;
	}
	store_release(&caller->slot->top, (uint64_t)(uintptr_t)frame);
	block->last = end;
	store_release(&block->busy, FXT_IDLE);
}

static inline UNUSED void call(struct caller *caller, uint64_t function)
{
	enter(caller, function);
	leave(caller);
}

/* ---- threads that do so ---- */

struct worker {
	struct rig *rig;
	uint64_t calls;     /* to make */
	uint64_t functions; /* to choose from */
	unsigned depth;     /* at most */
	uint64_t seed;
	bool leaves_open; /* ends inside of its calls */
	struct caller caller;
	pthread_t thread;
};

static inline UNUSED uint64_t xorshift(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

#define FUNCTION(n) (UINT64_C(0x550000001000) + (uint64_t)(n)*16)

/* Makes calls, nested at random. */
static inline UNUSED void *work(void *argument)
{
	struct worker *w = argument;
	uint64_t random = w->seed * 2 + 1;
	unsigned depth = 0;

	caller_attach(&w->caller, &w->rig->e);
	for (uint64_t made = 0; made < w->calls;) {
		bool up = xorshift(&random) >> 60 & 1;

		if (depth == 0 || (up && depth < w->depth)) {
			enter(&w->caller, FUNCTION(xorshift(&random) % w->functions));
			depth++;
			made++;
		} else {
			leave(&w->caller);
			depth--;
		}
	}
	while (depth-- && !w->leaves_open)
		leave(&w->caller);
	return NULL;
}

static inline UNUSED void start_worker(struct worker *w, struct rig *rig, uint64_t seed)
{
	w->rig = rig;
	w->seed = seed;
	w->functions = w->functions ? w->functions : 50;
	w->depth = w->depth ? w->depth : 20;
	assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
}

/* Every call of the thread is in the trace, or counted as lost: once. `shown`: each loss is in a slice of its
 * own too; together with what was overwritten it always is. */
static inline UNUSED void check_worker(const struct worker *w, bool shown)
{
	const struct trace *t = &w->rig->trace;
	const struct fxt_thread_slot *slot = w->caller.slot;
	uint64_t koid = w->caller.koid, lost = slot->lost + slot->nested_lost;

	assert_true(slot->state == FXT_SLOT_LIVE && slot->koid == koid);
	assert_true(trace_names(t, koid));
	assert_int_equal(trace_count(t, EVENT_CALL, koid) + trace_count(t, EVENT_OPEN_CALL, koid) + lost +
	                         slot->overwritten,
	        w->calls);
	if (shown)
		assert_int_equal(trace_count(t, EVENT_LOSS, koid), lost);
	assert_int_equal(trace_count(t, EVENT_LOSS, koid) + trace_count(t, EVENT_OVERWRITTEN, koid),
	        lost + slot->overwritten);
}

#endif
