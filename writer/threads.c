#include "threads.h"
#include <string.h>
#include <sys/prctl.h>
#include "chunk.h"
#include "encode.h"
#include "strings.h"

#define COMM_BYTES   16 /* the kernel's limit of a thread's name */
#define OBJECT_WORDS 16
#define RECLAIM_NS   UINT64_C(100000000)

uint64_t fxt_thread_object(
        const struct fxt_engine *e, const struct fxt_thread_slot *slot, uint64_t *record, uint64_t capacity)
{
	struct fxt_argument process = fxt_argument_koid(fxt_string_index(FXT_KNOWN_PROCESS), e->process_koid);

	return fxt_put_kernel_object(record, capacity, FXT_OBJECT_THREAD, slot->koid,
	        fxt_string_inline(slot->name, strnlen(slot->name, sizeof(slot->name))), &process, 1);
}

/* With the lock held: the index another slot of the same thread has; 0 = there is none. */
static uint32_t shared_index(const struct fxt_engine *e, uint64_t koid)
{
	for (uint32_t i = 0; i < e->control->slots_used; i++)
		if (fxt_slot(e, i)->state == FXT_SLOT_LIVE && fxt_slot(e, i)->koid == koid)
			return fxt_slot(e, i)->thread_index;
	return 0;
}

/* With the lock held: writes the records of a new thread, or leaves them to its chunks where the tables are
 * full. */
static void register_thread(struct fxt_engine *e, struct fxt_thread_slot *slot)
{
	uint64_t record[OBJECT_WORDS];
	uint64_t words;

	slot->thread_index = FXT_THREAD_LOCAL_INDEX;
	if (e->next_thread >= FXT_THREAD_LOCAL_INDEX)
		return;
	words = fxt_thread_object(e, slot, record, OBJECT_WORDS);
	if (!words || !fxt_durable_write(e, record, words, false))
		return;
	words = fxt_put_thread(record, OBJECT_WORDS, (uint8_t)e->next_thread, e->process_koid, slot->koid);
	if (fxt_durable_write(e, record, words, false))
		slot->thread_index = e->next_thread++;
}

static uint64_t open_calls(const struct fxt_engine *e, const struct fxt_thread_slot *slot)
{
	return (slot->top - (uint64_t)(uintptr_t)fxt_slot_frames(e, slot)) / sizeof(struct fxt_frame);
}

/*
 * Whether a collector needs the slot of a dead thread, to show a loss the thread did not come to show, or
 * what was overwritten before the calls that are still there.
 */
static bool has_more_to_show(const struct fxt_engine *e, const struct fxt_thread_slot *slot)
{
	return slot->gap_lost || (e->mode == FXT_CIRCULAR && (slot->calls[0] || slot->calls[1]));
}

/* With the lock held: what a dead thread left becomes the engine's. */
static void reclaim(struct fxt_engine *e, uint32_t number, bool is_slot_needed)
{
	struct fxt_block *block = &e->blocks[number];
	struct fxt_thread_slot *slot = fxt_slot(e, number);

	/* Acquire: pairs with the release that ended the thread's last hook. */
	(void)load_acquire(&block->busy);
	fxt_chunk_close_dead(e, block);
	if (slot->state == FXT_SLOT_LIVE) {
		if (!is_slot_needed && has_more_to_show(e, slot))
			return;
		/* First, so that a collector counts nothing twice. */
		store_release(&slot->state, FXT_SLOT_FREE);
		e->control->lost_recycled += slot->lost + slot->nested_lost + open_calls(e, slot);
		e->control->unshown_recycled +=
		        slot->gap_lost + slot->nested_lost - slot->nested_shown + open_calls(e, slot);
		e->control->overwritten_recycled += slot->overwritten;
		e->recycled_calls[0] += slot->calls[0];
		e->recycled_calls[1] += slot->calls[1];
		slot->overwritten = slot->calls[0] = slot->calls[1] = 0;
	}
	block->generation = 0;
	block->next = e->free_slot;
	e->free_slot = number + 1;
	e->live_slots--;
}

/* Whether to look for dead threads: when the number of live slots has doubled, so that the cost is spread
 * over as many births; when all are in use, now and then. */
static bool is_time_to_reclaim(struct fxt_engine *e)
{
	uint64_t now;

	if (e->live_slots < e->reclaim_at)
		return false;
	now = fxt_monotonic_ns();
	if (e->live_slots == FXT_SLOTS && now - e->reclaimed_ns < RECLAIM_NS)
		return false;
	e->reclaimed_ns = now;
	return true;
}

static bool is_of(const struct fxt_engine *e, uint32_t number, int tid)
{
	return e->blocks[number].generation && (int)fxt_slot(e, number)->tid == tid;
}

/* With the lock held: puts a slot where a later thread of the same id finds it. */
static void chain(struct fxt_engine *e, struct fxt_block *block, int tid)
{
	block->next = e->tids[tid].slot;
	e->tids[tid].slot = block->number + 1;
}

/* With the lock held: finds threads that ended. `tid` has just been given to a new thread. */
static void reclaim_dead(struct fxt_engine *e, int tid)
{
	bool is_slot_needed = e->live_slots == FXT_SLOTS;
	uint32_t earlier = e->tids[tid].slot;
	uint64_t next;

	e->tids[tid].slot = 0;
	while (earlier && is_of(e, earlier - 1, tid)) {
		struct fxt_block *block = &e->blocks[earlier - 1];

		earlier = block->next;
		reclaim(e, block->number, is_slot_needed);
		if (block->generation) /* kept */
			chain(e, block, tid);
	}
	if (!is_time_to_reclaim(e))
		return;
	for (uint32_t i = 0; i < e->control->slots_used; i++)
		if (e->blocks[i].generation && !sys_thread_is_alive(e->pid, (int)fxt_slot(e, i)->tid))
			reclaim(e, i, is_slot_needed);
	next = (uint64_t)e->live_slots * 2;
	e->reclaim_at = (uint32_t)(next < 64 ? 64 : next > FXT_SLOTS ? FXT_SLOTS : next);
}

static void set_stack(struct fxt_engine *e, struct fxt_block *block, struct fxt_thread_slot *slot,
        uint64_t offset, uint64_t bytes)
{
	struct fxt_frame *sentinel = (struct fxt_frame *)((uint8_t *)e->control + offset);

	/* Frame 0 lies above every stack and is no function: no entry finds it dead, no exit finds it its
	 * own. */
	*sentinel = (struct fxt_frame){.function = 0, .stack_pointer = UINT64_MAX};
	slot->stack_offset = offset;
	slot->stack_bytes = bytes;
	fxt_thread_restore_limit(e, block);
}

/* What a slot and its block keep when they begin anew: memory of ours, and what the thread itself is in the
 * midst of. */
static void reset(struct fxt_engine *e, struct fxt_block *block, struct fxt_thread_slot *slot)
{
	uint64_t stack_offset = slot->stack_offset, stack_bytes = slot->stack_bytes;

	if (!stack_bytes) {
		stack_offset = FXT_STACKS_OFFSET + block->number * FXT_SMALL_STACK_BYTES +
		               fxt_stack_color(block->number);
		stack_bytes = FXT_SMALL_STACK_BYTES - fxt_stack_color(block->number);
	}
	*block = (struct fxt_block){.number = block->number,
	        .generation = e->generation,
	        .run = e->run,
	        .local_names = block->local_names,
	        .chunk_serial = block->chunk_serial + 1, /* never 0: that is the mark of no local name */
	        .pthread = block->pthread,
	        .next = block->next,
	        .busy = block->busy};
	memset(slot, 0, sizeof(*slot));
	set_stack(e, block, slot, stack_offset, stack_bytes);
	store_relaxed(&slot->top, (uint64_t)(uintptr_t)fxt_slot_frames(e, slot));
}

/* With the lock held: an empty slot, with its block and a shadow stack, or NULL. */
static struct fxt_block *take_slot(struct fxt_engine *e)
{
	uint32_t number = e->control->slots_used;
	struct fxt_block *block;

	if (e->free_slot) {
		number = e->free_slot - 1;
		e->free_slot = e->blocks[number].next;
	}
	if (number == FXT_SLOTS) {
		add_relaxed(&e->control->lost_without_slot, 1);
		return NULL;
	}
	block = &e->blocks[number];
	block->number = number;
	block->pthread = block->busy = block->next = 0;
	reset(e, block, fxt_slot(e, number));
	return block;
}

/* With the lock held: puts a slot to use, once its identity stands. */
static void open_slot(struct fxt_engine *e, struct fxt_block *block, struct fxt_thread_slot *slot)
{
	if (!slot->thread_index)
		register_thread(e, slot);
	block->header = fxt_duration_complete_header((uint8_t)slot->thread_index, FXT_KNOWN_FUNCTION);
	block->last = slot->began = fxt_clock_ticks(e->clock);
	/* Release: a collector that sees the slot live sees all of it. */
	store_release(&slot->state, FXT_SLOT_LIVE);
	if (block->number == e->control->slots_used)
		store_release(&e->control->slots_used, block->number + 1);
}

/*
 * In a PID namespace of its own a process goes by another number than outside. For its main thread that one
 * is known; the numbers of the other threads may be those of others outside, so the number of the process
 * makes them different. Viewers keep 32 bits: there a bit does that no thread outside has before its 512th
 * reuse.
 */
static void set_koid(struct fxt_engine *e, struct fxt_thread_slot *slot, int tid)
{
	uint64_t process = e->process_koid & ((1u << FXT_TID_BITS) - 1);
	bool is_main = tid == e->pid;

	slot->koid = fxt_thread_koid(is_main ? (uint32_t)process : (uint32_t)tid, ++e->tids[tid].uses);
	if (!is_main && process != (uint64_t)e->pid)
		slot->koid ^= process << 40 | UINT64_C(1) << 31;
}

struct fxt_block *fxt_thread_attach(struct fxt_engine *e)
{
	int tid = sys_gettid();
	uint64_t mask = fxt_lock(&e->lock);
	struct fxt_block *block = NULL;

	if (e->state == FXT_ENGINE_STARTED && !e->broken) {
		fxt_engine_change_begin(e);
		reclaim_dead(e, tid);
		block = take_slot(e);
		fxt_engine_change_end(e);
	}
	if (block) {
		struct fxt_thread_slot *slot = fxt_slot(e, block->number);

		slot->tid = (uint32_t)tid;
		set_koid(e, slot, tid);
		store_relaxed(fxt_tid_uses(e->control, slot->tid), e->tids[tid].uses);
		chain(e, block, tid);
		sys_call(SYS_prctl, PR_GET_NAME, slot->name, 0, 0);
		open_slot(e, block, slot);
		store_relaxed(&e->control->threads, e->control->threads + 1);
		e->live_slots++;
	}
	fxt_unlock(&e->lock, mask);
	return block;
}

struct fxt_block *fxt_thread_attach_nested(struct fxt_engine *e, uint32_t first)
{
	const struct fxt_thread_slot *thread = fxt_slot(e, first);
	uint64_t mask = fxt_lock(&e->lock);
	struct fxt_block *block = NULL;

	if (e->state == FXT_ENGINE_STARTED && !e->broken)
		block = take_slot(e);
	if (block) {
		struct fxt_thread_slot *slot = fxt_slot(e, block->number);

		slot->tid = thread->tid;
		slot->koid = thread->koid;
		slot->is_nested = 1;
		chain(e, block, (int)slot->tid);
		slot->thread_index = shared_index(e, slot->koid);
		memcpy(slot->name, thread->name, sizeof(slot->name));
		open_slot(e, block, slot);
		e->live_slots++;
	}
	fxt_unlock(&e->lock, mask);
	return block;
}

struct fxt_block *fxt_thread_attach_coroutine(struct fxt_engine *e, uint32_t first, const char *name)
{
	const struct fxt_thread_slot *thread = fxt_slot(e, first);
	uint64_t mask = fxt_lock(&e->lock);
	struct fxt_block *block = NULL;

	if (e->state == FXT_ENGINE_STARTED && !e->broken)
		block = take_slot(e);
	if (block) {
		struct fxt_thread_slot *slot = fxt_slot(e, block->number);

		/* Its tid stays 0, which is never found dead: a coroutine may outlive its thread. */
		set_koid(e, slot, (int)thread->tid);
		store_relaxed(&e->control->threads, e->control->threads + 1);
		memcpy(slot->name, name, strnlen(name, sizeof(slot->name) - 1));
		open_slot(e, block, slot);
		e->live_slots++;
	}
	fxt_unlock(&e->lock, mask);
	return block;
}

/* With the lock held: the same thread in a new generation. */
static void renew(struct fxt_engine *e, struct fxt_block *block)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	struct fxt_thread_slot old = *slot;
	uint64_t bottom = fxt_slot_frames(e, slot)[-1].stack_pointer;

	e->stalled -= block->stalled;
	reset(e, block, slot);
	slot->tid = old.tid;
	slot->koid = old.koid;
	slot->is_nested = old.is_nested;
	slot->thread_index = shared_index(e, slot->koid);
	if (old.tid)
		sys_call(SYS_prctl, PR_GET_NAME, slot->name, 0, 0); /* it may have been renamed meanwhile */
	else
		memcpy(slot->name, old.name, sizeof(slot->name));
	fxt_slot_frames(e, slot)[-1].stack_pointer = bottom;
	open_slot(e, block, slot);
}

/* With the lock held: the same thread, registered as it is, without what was cleared. */
static void forget_calls(struct fxt_engine *e, struct fxt_block *block)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);

	store_release(&slot->top, (uint64_t)(uintptr_t)fxt_slot_frames(e, slot));
	store_relaxed(&slot->gap_lost, 0);
	store_relaxed(&slot->gap_start, 0);
	block->frameless_calls = 0;
}

enum fxt_thread_status fxt_thread_check(struct fxt_engine *e, struct fxt_block *block)
{
	enum fxt_thread_status status;
	uint64_t mask;

	if (likely(block->run == load_relaxed(&e->run)))
		return FXT_THREAD_CURRENT;
	mask = fxt_lock(&e->lock);
	if (e->state != FXT_ENGINE_STARTED || e->broken) {
		status = FXT_THREAD_STOPPED;
	} else if (block->generation != e->generation) {
		status = FXT_THREAD_RENEWED;
		renew(e, block);
	} else if (block->run < e->cleared_run) {
		status = FXT_THREAD_RENEWED;
		forget_calls(e, block);
	} else {
		status = FXT_THREAD_RESUMED;
	}
	if (status != FXT_THREAD_STOPPED)
		block->run = e->run;
	fxt_unlock(&e->lock, mask);
	return status;
}

void fxt_thread_rename(struct fxt_engine *e, struct fxt_block *self, uint32_t number, const char *name)
{
	struct fxt_thread_slot *slot = fxt_slot(e, number);
	uint64_t record[OBJECT_WORDS];
	uint64_t mask = fxt_lock(&e->lock);

	for (uint32_t i = 0; i < e->control->slots_used; i++) {
		struct fxt_thread_slot *same = fxt_slot(e, i);

		if (same->koid != slot->koid || same->state != FXT_SLOT_LIVE)
			continue;
		memset(same->name, 0, sizeof(same->name));
		memcpy(same->name, name, strnlen(name, COMM_BYTES - 1));
	}
	/* A slot of an older generation is registered when its thread comes by. */
	uint64_t words = slot->state == FXT_SLOT_LIVE ? fxt_thread_object(e, slot, record, OBJECT_WORDS) : 0;
	bool written = words && fxt_durable_write(e, record, words, false);

	fxt_unlock(&e->lock, mask);
	/* What is durable comes first in the trace; a chunk that told the old name already is to tell the new
	 * one too. */
	if (self && words && (!written || slot->thread_index == FXT_THREAD_LOCAL_INDEX))
		fxt_chunk_write(e, self, record, words);
}

void fxt_thread_restore_limit(struct fxt_engine *e, struct fxt_block *block)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);

	store_relaxed(
	        &block->top_limit, (uint64_t)(uintptr_t)e->control + slot->stack_offset + slot->stack_bytes);
	compiler_barrier(); /* pairs with the membarrier of fxt_engine_stop() */
	if (block->run != load_relaxed(&e->run))
		store_relaxed(&block->top_limit, 0);
}

bool fxt_thread_grow_stack(struct fxt_engine *e, struct fxt_block *block)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	struct fxt_frame *frames = fxt_slot_frames(e, slot);
	uint64_t open = slot->top - (uint64_t)(uintptr_t)frames;
	uint64_t mask;
	bool grown = false;

	if (slot->stack_offset >= FXT_LARGE_STACKS_OFFSET)
		return false;
	mask = fxt_lock(&e->lock);
	if (e->large_stacks_used < FXT_LARGE_STACKS && block->run == e->run) {
		uint64_t color = fxt_stack_color(block->number);
		uint64_t offset =
		        FXT_LARGE_STACKS_OFFSET + e->large_stacks_used++ * FXT_LARGE_STACK_BYTES + color;
		struct fxt_frame *larger = (struct fxt_frame *)((uint8_t *)e->control + offset) + 1;

		memcpy(larger, frames, open);
		set_stack(e, block, slot, offset, FXT_LARGE_STACK_BYTES - color);
		store_release(&slot->top, (uint64_t)(uintptr_t)larger + open);
		grown = true;
	}
	fxt_unlock(&e->lock, mask);
	return grown;
}
