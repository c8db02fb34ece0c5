/*
 * Gives slots to threads, puts them to use, and takes them back from threads that ended.
 * Runs on the recording threads' slow path, with the engine's lock held. Must never free a
 * slot of a live thread, nor one that a collector still needs to show a loss.
 */
#include "slots.h"
#include <string.h>
#include "chunk.h"
#include "valid.h"
#include "writer/format/encode.h"
#include "elided.h"
#include "shadow_stack.h"
#include "strings.h"
#include "writer/format/thread_object.h"
#include "waits.h"

#define RECLAIM_NS UINT64_C(100000000)

uint32_t fxt_slot_thread_index(const struct fxt_engine *e, uint64_t koid)
{
	FXT_ASSERT_LOCKED(e);
	for (uint32_t i = 0; i < e->control->slots_used; i++)
		if (fxt_slot(e, i)->state == FXT_SLOT_LIVE && fxt_slot(e, i)->koid == koid)
			return fxt_slot(e, i)->thread_index;
	return 0;
}

/* With the lock held: writes the records of a new thread, or leaves them to its chunks if
 * the tables are full. */
static void slot_register(struct fxt_engine *e, struct fxt_thread_slot *slot)
{
	uint64_t record[FXT_THREAD_OBJECT_WORDS];
	uint64_t words;

	FXT_ASSERT_LOCKED(e);
	slot->thread_index = FXT_THREAD_LOCAL_INDEX;
	if (e->next_thread >= FXT_THREAD_LOCAL_INDEX)
		return;
	words = fxt_thread_object(slot->koid, slot->name, e->process_koid, record, FXT_THREAD_OBJECT_WORDS);
	if (!words || !fxt_durable_write(e, record, words, false))
		return;
	words = fxt_put_thread(
	        record, FXT_THREAD_OBJECT_WORDS, (uint8_t)e->next_thread, e->process_koid, slot->koid);
	if (fxt_durable_write(e, record, words, false))
		slot->thread_index = e->next_thread++;
}

/* The number of open calls, without the mark of a full buffer, which is no call. */
static uint64_t slot_open_calls(const struct fxt_engine *e, const struct fxt_thread_slot *slot)
{
	const struct fxt_frame *frames = fxt_slot_frames(e, slot);

	return fxt_count_calls(frames, (slot->top - (uint64_t)(uintptr_t)frames) / sizeof(*frames)) -
	       e->writers[slot - fxt_slot(e, 0)].is_full;
}

/*
 * Whether a collector still needs the slot of a dead thread: to show a loss that the thread
 * did not show, the calls around it, or the calls overwritten before those that are still
 * there.
 */
static bool slot_has_more_to_show(const struct fxt_engine *e, const struct fxt_thread_slot *slot)
{
	return slot->gap_lost || e->writers[slot - fxt_slot(e, 0)].is_full ||
	       (e->mode == FXT_CIRCULAR && (slot->calls[0] || slot->calls[1]));
}

/* With the lock held: moves the counts of a dead thread to the engine. */
static void slot_reclaim(struct fxt_engine *e, uint32_t number, bool is_slot_needed)
{
	struct fxt_thread_writer *writer = &e->writers[number];
	struct fxt_thread_slot *slot = fxt_slot(e, number);

	FXT_ASSERT_LOCKED(e);
	/* Acquire: pairs with the release that ended the thread's last hook. */
	(void)load_acquire(&writer->busy);
	fxt_chunk_close_dead(e, writer);
	if (slot->state == FXT_SLOT_LIVE) {
		if (!is_slot_needed && slot_has_more_to_show(e, slot))
			return;
		/* Stored first, so that a collector counts nothing twice. */
		store_release(&slot->state, FXT_SLOT_FREE);
		e->control->lost_recycled += slot->lost + slot->nested_lost + slot_open_calls(e, slot);
		e->control->unshown_recycled +=
		        slot->gap_lost + slot->nested_lost - slot->nested_shown + slot_open_calls(e, slot);
		e->control->overwritten_recycled += slot->overwritten;
		e->recycled_calls[0] += slot->calls[0];
		e->recycled_calls[1] += slot->calls[1];
		slot->overwritten = slot->calls[0] = slot->calls[1] = 0;
		fxt_elided_recycle(e, number);
	}
	writer->generation = 0;
	writer->next = e->free_slot;
	e->free_slot = number + 1;
	e->live_slots--;
}

/* Whether to look for dead threads. This is due when the number of live slots has doubled,
 * so that the cost is spread over as many new threads; and from time to time when all slots
 * are in use. */
static bool slots_are_due(struct fxt_engine *e)
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

static bool slot_is_of(const struct fxt_engine *e, uint32_t number, int tid)
{
	return e->writers[number].generation && (int)fxt_slot(e, number)->tid == tid;
}

void fxt_slot_chain(struct fxt_engine *e, struct fxt_thread_writer *writer, int tid)
{
	FXT_ASSERT_LOCKED(e);
	writer->next = e->tids[tid].slot;
	e->tids[tid].slot = writer->number + 1;
}

void fxt_slot_reclaim_dead(struct fxt_engine *e, int tid)
{
	bool is_slot_needed = e->live_slots == FXT_SLOTS;
	uint32_t earlier = e->tids[tid].slot;
	uint64_t next;

	FXT_ASSERT_LOCKED(e);
	e->tids[tid].slot = 0;
	while (earlier && slot_is_of(e, earlier - 1, tid)) {
		struct fxt_thread_writer *writer = &e->writers[earlier - 1];

		earlier = writer->next;
		slot_reclaim(e, writer->number, is_slot_needed);
		if (writer->generation) /* not reclaimed: a collector needs it */
			fxt_slot_chain(e, writer, tid);
	}
	if (!slots_are_due(e))
		return;
	for (uint32_t i = 0; i < e->control->slots_used; i++)
		if (e->writers[i].generation && !sys_thread_is_alive(e->pid, (int)fxt_slot(e, i)->tid))
			slot_reclaim(e, i, is_slot_needed);
	next = (uint64_t)e->live_slots * 2;
	e->reclaim_at = (uint32_t)(next < 64 ? 64 : next > FXT_SLOTS ? FXT_SLOTS : next);
}

/* The slot keeps its shadow stack. The writer keeps the memory of its local names, its
 * serial number of chunks, its place among the thread's slots, and the thread's present
 * activity (`busy`). */
void fxt_slot_reset(struct fxt_engine *e, struct fxt_thread_writer *writer, struct fxt_thread_slot *slot)
{
	uint64_t stack_offset = slot->stack_offset, stack_bytes = slot->stack_bytes;

	FXT_ASSERT_LOCKED(e);
	if (!stack_bytes) {
		stack_offset = FXT_STACKS_OFFSET + writer->number * FXT_SMALL_STACK_BYTES +
		               fxt_stack_color(writer->number);
		stack_bytes = FXT_SMALL_STACK_BYTES - fxt_stack_color(writer->number);
	}
	*writer = (struct fxt_thread_writer){.number = writer->number,
	        .generation = e->generation,
	        .run = e->run,
	        .local_names = writer->local_names,
	        /* never 0, which marks "no local name" */
	        .chunk_serial = writer->chunk_serial + 1,
	        .pthread = writer->pthread,
	        .next = writer->next,
	        .busy = writer->busy,
	        .stack_low = writer->stack_low};
	memset(slot, 0, sizeof(*slot));
	fxt_stack_set(e, writer, slot, stack_offset, stack_bytes);
	store_relaxed(&slot->top, (uint64_t)(uintptr_t)fxt_slot_frames(e, slot));
}

bool fxt_slots_add_table(struct fxt_engine *e, void *memory, uint64_t entry_bytes)
{
	struct fxt_reserve table = {.memory = memory, .entry_bytes = entry_bytes};
	uint64_t mask = fxt_engine_lock(e);
	bool is_added = fxt_reserve_reach(&table, e->control->slots_used);

	if (is_added)
		e->by_slot[FXT_BY_SLOT_AGENT] = table;
	fxt_engine_unlock(e, mask);
	return is_added;
}

bool fxt_slot_reach_tid(struct fxt_engine *e, int tid)
{
	uint64_t offset = (uint64_t)tid * sizeof(struct fxt_tid), step = offset / FXT_RESERVE_STEP;
	uint64_t bit = UINT64_C(1) << step % 64;

	if (e->tids_writable[step / 64] & bit)
		return true;
	if (!fxt_reserve_reach_step(e->tids, offset)) {
		add_relaxed(&e->control->lost_without_slot, 1);
		return false;
	}
	e->tids_writable[step / 64] |= bit;
	return true;
}

struct fxt_thread_writer *fxt_slot_take(struct fxt_engine *e)
{
	uint32_t number = e->control->slots_used;
	struct fxt_thread_writer *writer;

	FXT_ASSERT_LOCKED(e);
	if (e->free_slot) {
		number = e->free_slot - 1;
		e->free_slot = e->writers[number].next;
	}
	if (number == FXT_SLOTS || !fxt_engine_reach_slots(e, number + 1) ||
	        !fxt_control_reach_slot(e->map, number)) {
		add_relaxed(&e->control->lost_without_slot, 1);
		return NULL;
	}
	writer = &e->writers[number];
	writer->number = number;
	writer->pthread = writer->busy = writer->next = 0;
	fxt_slot_reset(e, writer, fxt_slot(e, number));
	e->live_slots++;
	return writer;
}

void fxt_slot_open(struct fxt_engine *e, struct fxt_thread_writer *writer, struct fxt_thread_slot *slot)
{
	FXT_ASSERT_LOCKED(e);
	if (!slot->thread_index)
		slot_register(e, slot);
	writer->header = fxt_duration_complete_header((uint8_t)slot->thread_index, FXT_KNOWN_FUNCTION);
	writer->last = slot->began = fxt_clock_ticks(e->clock);
	/* Release: a collector that sees the slot live sees all of it. */
	store_release(&slot->state, FXT_SLOT_LIVE);
	if (writer->number == e->control->slots_used)
		store_release(&e->control->slots_used, writer->number + 1);
}
