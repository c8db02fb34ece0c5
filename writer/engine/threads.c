/*
 * Attaches threads and coroutines to slots, renews them after a stop or a clearing, and
 * registers their names. Runs on the recording threads' slow path, and takes the engine's
 * lock itself. Must never give back the slot of a thread that may still record.
 */
#include "threads.h"
#include <string.h>
#include <sys/prctl.h>
#include "chunk.h"
#include "valid.h"
#include "writer/format/encode.h"
#include "slots.h"
#include "strings.h"
#include "writer/format/thread_object.h"

#define COMM_BYTES 16 /* the kernel's limit of a thread's name */

/* Heap tracks get thread indices up to this one. Threads keep the others: without an index
 * a thread's calls would need a thread record in each chunk. */
#define HEAP_TRACK_INDICES (FXT_THREAD_LOCAL_INDEX / 2)

/*
 * Sets the thread's koid. In a PID namespace of its own a process has another number than
 * outside, where the manager is. The manager knows the outer number of its main thread. The
 * numbers of its other threads are known inside only, and a thread of another process may
 * have the same one. Therefore the koid of such a thread gets the number of the process
 * too, in its upper half. Viewers cut koids to 32 bits, where bit 31 makes the difference:
 * a thread outside has that bit only once the kernel has given its number out for the 512th
 * time (fxt_thread_koid).
 */
static void thread_set_koid(struct fxt_engine *e, struct fxt_thread_slot *slot, int tid)
{
	uint64_t process = e->process_koid & ((1u << FXT_TID_BITS) - 1);
	bool is_main = tid == e->pid;

	slot->koid = fxt_thread_koid(is_main ? (uint32_t)process : (uint32_t)tid, ++e->tids[tid].uses);
	if (!is_main && process != (uint64_t)e->pid)
		slot->koid ^= process << 40 | UINT64_C(1) << 31;
}

uint64_t fxt_koid_of_tid(const struct fxt_engine *e, uint32_t tid)
{
	uint64_t process = e->process_koid & ((1u << FXT_TID_BITS) - 1);
	uint32_t newest = tid < FXT_TIDS ? load_relaxed(&e->tids[tid].slot) : 0;
	const struct fxt_thread_slot *slot = newest ? fxt_slot(e, newest - 1) : NULL;

	if (slot && load_relaxed(&slot->tid) == tid)
		return load_relaxed(&slot->koid);
	if (tid == (uint32_t)e->pid)
		return process;
	return tid < FXT_TIDS && process == (uint64_t)e->pid ? tid : 0;
}

uint64_t fxt_koid_of_pthread(const struct fxt_engine *e, uint64_t handle)
{
	uint32_t used = load_acquire(&e->control->slots_used);

	for (uint32_t i = 0; i < used; i++)
		if (load_relaxed(&e->writers[i].pthread) == handle &&
		        load_acquire(&fxt_slot(e, i)->state) == FXT_SLOT_LIVE)
			return load_relaxed(&fxt_slot(e, i)->koid);
	return 0;
}

/* With the lock held: whether threads are to record now. */
static bool thread_is_to_record(const struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	return e->state == FXT_ENGINE_STARTED && !e->broken;
}

struct fxt_thread_writer *fxt_thread_attach(struct fxt_engine *e)
{
	int tid = sys_gettid();
	uint64_t mask = fxt_engine_lock(e);
	struct fxt_thread_writer *writer = NULL;

	if (thread_is_to_record(e) && fxt_slot_reach_tid(e, tid)) {
		fxt_engine_change_begin(e);
		fxt_slot_reclaim_dead(e, tid);
		writer = fxt_slot_take(e);
		fxt_engine_change_end(e);
	}
	if (writer) {
		struct fxt_thread_slot *slot = fxt_slot(e, writer->number);

		slot->tid = (uint32_t)tid;
		thread_set_koid(e, slot, tid);
		store_relaxed(fxt_tid_uses(e->control, slot->tid), e->tids[tid].uses);
		fxt_slot_chain(e, writer, tid);
		sys_call(SYS_prctl, PR_GET_NAME, slot->name, 0, 0);
		fxt_slot_open(e, writer, slot);
		store_relaxed(&e->control->threads, e->control->threads + 1);
	}
	fxt_engine_unlock(e, mask);
	return writer;
}

/* Attaches a second slot beside a thread's own: for its signal handlers, or, with a name,
 * for a coroutine. */
static struct fxt_thread_writer *thread_attach_beside(
        struct fxt_engine *e, uint32_t first, const char *coroutine)
{
	const struct fxt_thread_slot *thread = fxt_slot(e, first);
	uint64_t mask = fxt_engine_lock(e);
	struct fxt_thread_writer *writer = thread_is_to_record(e) ? fxt_slot_take(e) : NULL;

	if (writer) {
		struct fxt_thread_slot *slot = fxt_slot(e, writer->number);

		if (coroutine) {
			/* Its tid stays 0, which is never found dead: a coroutine may
			 * outlive its thread. */
			thread_set_koid(e, slot, (int)thread->tid);
			store_relaxed(&e->control->threads, e->control->threads + 1);
			memcpy(slot->name, coroutine, strnlen(coroutine, sizeof(slot->name) - 1));
		} else {
			slot->tid = thread->tid;
			slot->koid = thread->koid;
			slot->is_nested = 1;
			fxt_slot_chain(e, writer, (int)slot->tid);
			slot->thread_index = fxt_slot_thread_index(e, slot->koid);
			memcpy(slot->name, thread->name, sizeof(slot->name));
		}
		fxt_slot_open(e, writer, slot);
	}
	fxt_engine_unlock(e, mask);
	return writer;
}

struct fxt_thread_writer *fxt_thread_attach_nested(struct fxt_engine *e, uint32_t first)
{
	return thread_attach_beside(e, first, NULL);
}

struct fxt_thread_writer *fxt_thread_attach_coroutine(struct fxt_engine *e, uint32_t first, const char *name)
{
	return thread_attach_beside(e, first, name);
}

/* With the lock held: registers the same thread in a new generation. */
static void thread_renew(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	FXT_ASSERT_LOCKED(e);
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	struct fxt_thread_slot old = *slot;
	uint64_t bottom = fxt_slot_frames(e, slot)[-1].stack_offset;
	/* the thread's first slow path in this recording */
	bool is_first = writer->run < e->recording_run;

	e->stalled -= writer->state == FXT_WRITER_STALLED;
	fxt_slot_reset(e, writer, slot);
	slot->tid = old.tid;
	slot->koid = old.koid;
	slot->is_nested = old.is_nested;
	slot->thread_index = fxt_slot_thread_index(e, slot->koid);
	/* it may have been renamed since */
	if (old.tid)
		sys_call(SYS_prctl, PR_GET_NAME, slot->name, 0, 0);
	else
		memcpy(slot->name, old.name, sizeof(slot->name));
	fxt_slot_frames(e, slot)[-1].stack_offset = bottom;
	if (is_first && !slot->is_nested)
		store_relaxed(&e->control->threads, e->control->threads + 1);
	fxt_slot_open(e, writer, slot);
}

/* With the lock held: keeps the thread's registration, and forgets the calls that were
 * cleared. */
static void thread_forget_calls(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);

	FXT_ASSERT_LOCKED(e);
	store_release(&slot->top, (uint64_t)(uintptr_t)fxt_slot_frames(e, slot));
	store_relaxed(&slot->gap_lost, 0);
	store_relaxed(&slot->gap_start, 0);
	writer->frameless_calls = 0;
	writer->run_last = 0;
}

enum fxt_thread_status fxt_thread_check(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	enum fxt_thread_status status;
	uint64_t mask;

	if (likely(writer->run == load_relaxed(&e->run)))
		return FXT_THREAD_CURRENT;
	/* forked by a handler that ran before the writer was SLOW_PATH */
	if (fxt_engine_was_forked(e))
		return FXT_THREAD_STOPPED;
	mask = fxt_engine_lock(e);
	if (!thread_is_to_record(e) || writer->number < e->first_slot) {
		status = FXT_THREAD_STOPPED;
	} else if (writer->generation != e->generation) {
		status = FXT_THREAD_RENEWED;
		thread_renew(e, writer);
	} else if (writer->run < e->cleared_run) {
		status = FXT_THREAD_RENEWED;
		thread_forget_calls(e, writer);
	} else {
		status = FXT_THREAD_RESUMED;
	}
	if (status != FXT_THREAD_STOPPED)
		writer->run = e->run;
	fxt_engine_unlock(e, mask);
	return status;
}

/* With the lock held: returns the thread index of a heap track for the slot; 0 = there is
 * no room. */
static uint32_t thread_register_heap_track(struct fxt_engine *e, const struct fxt_thread_slot *slot)
{
	uint64_t record[FXT_THREAD_OBJECT_WORDS];
	uint64_t words;

	FXT_ASSERT_LOCKED(e);
	if (e->next_thread >= HEAP_TRACK_INDICES)
		return 0;
	words = fxt_heap_track_object(
	        slot->koid, slot->name, e->process_koid, record, FXT_THREAD_OBJECT_WORDS);
	if (!words || !fxt_durable_write(e, record, words, false))
		return 0;
	words = fxt_put_thread(record, FXT_THREAD_OBJECT_WORDS, (uint8_t)e->next_thread, e->process_koid,
	        fxt_heap_track_koid(slot->koid));
	return fxt_durable_write(e, record, words, false) ? e->next_thread++ : 0;
}

void fxt_thread_take_heap_track(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	const struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t mask = fxt_engine_lock(e);
	uint32_t row = thread_register_heap_track(e, slot);

	writer->heap_track = (row ? row : slot->thread_index) << 24;
	fxt_engine_unlock(e, mask);
}

/* With the lock held: whether the slot's thread has a heap track. */
static bool thread_has_heap_track(const struct fxt_engine *e, uint32_t number)
{
	uint32_t row = e->writers[number].heap_track >> 24;

	FXT_ASSERT_LOCKED(e);
	return row && row != fxt_slot(e, number)->thread_index;
}

void fxt_thread_rename(
        struct fxt_engine *e, struct fxt_thread_writer *self, uint32_t number, const char *name)
{
	struct fxt_thread_slot *slot = fxt_slot(e, number);
	uint64_t record[FXT_THREAD_OBJECT_WORDS];
	uint64_t mask = fxt_engine_lock(e);

	for (uint32_t i = 0; i < e->control->slots_used; i++) {
		struct fxt_thread_slot *same = fxt_slot(e, i);

		if (same->koid != slot->koid || same->state != FXT_SLOT_LIVE)
			continue;
		memset(same->name, 0, sizeof(same->name));
		memcpy(same->name, name, strnlen(name, COMM_BYTES - 1));
	}
	/* A slot of an older generation is registered when its thread comes by. */
	uint64_t words = slot->state == FXT_SLOT_LIVE
	                         ? fxt_thread_object(slot->koid, slot->name, e->process_koid, record,
	                                   FXT_THREAD_OBJECT_WORDS)
	                         : 0;
	bool written = words && fxt_durable_write(e, record, words, false);

	if (written && thread_has_heap_track(e, number)) {
		uint64_t row[FXT_THREAD_OBJECT_WORDS];

		fxt_durable_write(e, row,
		        fxt_heap_track_object(
		                slot->koid, slot->name, e->process_koid, row, FXT_THREAD_OBJECT_WORDS),
		        false);
	}
	fxt_engine_unlock(e, mask);
	/* Durable records come first in the trace. A chunk that already has the old name
	 * must get the new one too. */
	if (self && words && (!written || slot->thread_index == FXT_THREAD_LOCAL_INDEX))
		fxt_chunk_write(e, self, record, words);
}
