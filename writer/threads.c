#include "threads.h"
#include <string.h>
#include <sys/prctl.h>
#include "chunk.h"
#include "encode.h"
#include "strings.h"

#define COMM_BYTES    16 /* the kernel's limit of a thread's name */
#define OBJECT_WORDS  16
#define TID_REUSE_BIT 22 /* the kernel's largest pid; koids beyond it are reuses of a number */

uint64_t fxt_thread_object(
        const struct fxt_engine *e, const struct fxt_thread_slot *slot, uint64_t *record, uint64_t capacity)
{
	struct fxt_argument process = fxt_argument_koid(fxt_string_index(FXT_KNOWN_PROCESS), e->process_koid);

	return fxt_put_kernel_object(record, capacity, FXT_OBJECT_THREAD, slot->koid,
	        fxt_string_inline(slot->name, strnlen(slot->name, sizeof(slot->name))), &process, 1);
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

/* With the lock held: what a dead thread left becomes the engine's. */
static void reclaim(struct fxt_engine *e, uint32_t number)
{
	struct fxt_block *block = &e->blocks[number];
	struct fxt_thread_slot *slot = fxt_slot(e, number);

	if (block->parked) /* its chunk stays where it is until the buffer was handed over; keep the slot */
		return;
	fxt_chunk_retire(e, block);
	if (slot->gap_lost) /* a loss the thread never came to show; the manager shows those of slots in use
	                     */
		return;
	e->control->lost_recycled += slot->lost;
	e->control->overwritten_recycled += slot->overwritten;
	e->recycled_calls[0] += slot->calls[0];
	e->recycled_calls[1] += slot->calls[1];
	store_release(&slot->state, FXT_SLOT_FREE);
	block->next_free = e->free_slot;
	e->free_slot = number + 1;
	e->live_slots--;
}

/* With the lock held: finds threads that ended. Asked for only when the number of live slots has doubled, so
 * that its cost is spread over as many thread births. `tid` has just been given to a new thread. */
static void reclaim_dead(struct fxt_engine *e, int tid)
{
	bool all = e->live_slots >= e->reclaim_at;

	if (!all && e->tid_uses[tid] == 0)
		return;
	for (uint32_t i = 0; i < e->control->slots_used; i++) {
		struct fxt_thread_slot *slot = fxt_slot(e, i);

		if (slot->state != FXT_SLOT_LIVE)
			continue;
		if ((int)slot->tid == tid || (all && !sys_thread_is_alive(e->pid, (int)slot->tid)))
			reclaim(e, i);
	}
	if (all)
		e->reclaim_at = e->live_slots * 2 < 64 ? 64 : e->live_slots * 2;
}

/*
 * A load that follows a store to an address with the same low 12 bits waits for that store. Slots lie at
 * multiples of 256, the first line of a block 64 behind one, and a shadow stack begins 128 behind the one of
 * its slot: so no two of a thread's hot lines alias until calls nest 120 deep [leaf calls: 29.6 ns without,
 * 26 with; 20 is the clock's part].
 */
static uint64_t stack_color(uint32_t number)
{
	return ((number * FXT_SLOT_BYTES) & 4095) + 128;
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

/* With the lock held: an empty slot, with its block and a shadow stack, or NULL. */
static struct fxt_block *take_slot(struct fxt_engine *e)
{
	uint32_t number;

	if (e->free_slot) {
		number = e->free_slot - 1;
		e->free_slot = e->blocks[number].next_free;
	} else if (e->control->slots_used < FXT_SLOTS) {
		number = e->control->slots_used;
	} else {
		add_relaxed(&e->control->lost_without_slot, 1);
		return NULL;
	}
	struct fxt_block *block = &e->blocks[number];
	struct fxt_thread_slot *slot = fxt_slot(e, number);
	uint64_t stack_offset = slot->stack_offset, stack_bytes = slot->stack_bytes;
	struct fxt_local_name *local = block->local; /* kept: memory of ours that the next thread can use */
	uint64_t serial = block->chunk_serial;

	memset(block, 0, sizeof(*block));
	block->number = number;
	block->local = local;
	block->chunk_serial = serial;
	memset(slot, 0, sizeof(*slot));
	if (!stack_bytes) {
		stack_offset = FXT_STACKS_OFFSET + number * FXT_SMALL_STACK_BYTES + stack_color(number);
		stack_bytes = FXT_SMALL_STACK_BYTES - stack_color(number);
	}
	set_stack(e, block, slot, stack_offset, stack_bytes);
	slot->top = (uint64_t)(uintptr_t)fxt_slot_frames(e, slot);
	return block;
}

/* With the lock held: puts a slot to use, once its identity stands. */
static void open_slot(struct fxt_engine *e, struct fxt_block *block, struct fxt_thread_slot *slot)
{
	block->header = fxt_duration_complete_header((uint8_t)slot->thread_index, FXT_KNOWN_FUNCTION);
	block->last = fxt_clock_ticks(e->clock);
	/* Release: a collector that sees the slot live sees all of it. */
	store_release(&slot->state, FXT_SLOT_LIVE);
	if (block->number == e->control->slots_used)
		store_release(&e->control->slots_used, block->number + 1);
	e->live_slots++;
}

static void set_koid(struct fxt_engine *e, struct fxt_thread_slot *slot, int tid)
{
	slot->koid = (uint64_t)tid + ((uint64_t)e->tid_uses[tid]++ << TID_REUSE_BIT);
}

struct fxt_block *fxt_thread_attach(struct fxt_engine *e)
{
	int tid = sys_gettid();
	uint64_t mask = fxt_lock(&e->lock);
	struct fxt_block *block = NULL;

	if (e->state == FXT_ENGINE_STARTED && !e->broken) {
		reclaim_dead(e, tid);
		block = take_slot(e);
	}
	if (block) {
		struct fxt_thread_slot *slot = fxt_slot(e, block->number);

		slot->tid = (uint32_t)tid;
		set_koid(e, slot, tid);
		sys_call(SYS_prctl, PR_GET_NAME, slot->name, 0, 0);
		register_thread(e, slot);
		open_slot(e, block, slot);
		store_release(&e->control->threads, e->control->threads + 1);
	}
	fxt_unlock(&e->lock, mask);
	return block;
}

struct fxt_block *fxt_thread_attach_further(struct fxt_engine *e, uint32_t first, const char *name)
{
	const struct fxt_thread_slot *thread = fxt_slot(e, first);
	uint64_t mask = fxt_lock(&e->lock);
	struct fxt_block *block = NULL;

	if (e->state == FXT_ENGINE_STARTED && !e->broken)
		block = take_slot(e);
	if (block) {
		struct fxt_thread_slot *slot = fxt_slot(e, block->number);

		if (name) { /* tid 0 is never found dead: such a row may outlive its thread */
			set_koid(e, slot, (int)thread->tid);
			memcpy(slot->name, name, strnlen(name, sizeof(slot->name) - 1));
			register_thread(e, slot);
		} else {
			slot->tid = thread->tid;
			slot->koid = thread->koid;
			slot->thread_index = thread->thread_index;
			memcpy(slot->name, thread->name, sizeof(slot->name));
		}
		open_slot(e, block, slot);
	}
	fxt_unlock(&e->lock, mask);
	return block;
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
	uint64_t words = fxt_thread_object(e, slot, record, OBJECT_WORDS);
	bool written = words && fxt_durable_write(e, record, words, false);

	fxt_unlock(&e->lock, mask);
	if (self && words && !written)
		fxt_chunk_write(e, self, record, words);
}

void fxt_thread_restore_limit(struct fxt_engine *e, struct fxt_block *block)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);

	store_relaxed(
	        &block->top_limit, (uint64_t)(uintptr_t)e->control + slot->stack_offset + slot->stack_bytes);
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
	if (e->large_stacks_used < FXT_LARGE_STACKS) {
		uint64_t color = stack_color(block->number);
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
