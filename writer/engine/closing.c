/*
 * Takes chunks away from their threads: closes the header, settles the counts, and handles
 * a thread that does not come out of its write. Runs on the thread that switches, stops or
 * clears, with the engine's lock held. Must never wait without bound, and never hand over
 * bytes that a thread may still change.
 */
#include "closing.h"
#include <string.h>
#include "chunk.h"
#include "valid.h"
#include "writer/shared/failpoint.h"
#include "loss.h"

#define PATIENCE_NS UINT64_C(10000000)

/* Closes a chunk. Its records end at `end`. Release: the length is stored before the state
 * that makes a collector read it. Pairs with the acquire in collect.c. */
static void closing_close_header(uint64_t chunk, uint64_t end)
{
	struct fxt_chunk_header *header = (struct fxt_chunk_header *)(uintptr_t)chunk;

	store_relaxed(&header->committed, (uint32_t)(end - chunk - sizeof(*header)));
	FXT_FAIL_POINT("close: committed");
	store_release(&header->state, FXT_CHUNK_CLOSED);
	FXT_FAIL_POINT("close: closed");
}

/* Counts the calls of a chunk that is about to be closed, and notes when they had ended, so
 * that they can later be shown as overwritten. */
static void closing_count_calls(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t end)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t bytes = end - writer->chunk - sizeof(struct fxt_chunk_header) - writer->other_bytes;
	unsigned buffer = writer->chunk >= (uint64_t)(uintptr_t)e->buffer + e->layout.rolling_offset[1];

	slot->calls[buffer] += bytes / FXT_CALL_BYTES;
	writer->closed_last[buffer] = load_relaxed(&writer->last);
	writer->other_bytes = 0;
}

void fxt_close_thread(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t committed = load_relaxed(&slot->committed);

	FXT_ASSERT_LOCKED(e);
	if (writer->state != FXT_WRITER_OPEN)
		return;
	closing_count_calls(e, writer, committed);
	closing_close_header(writer->chunk, committed);
	/* Stored after the header has the length: at whatever moment the closer dies, a
	 * collector finds the length in the header or in the slot. */
	store_release(&slot->committed, 0);
	store_relaxed(&writer->chunk, 0);
	store_relaxed(&writer->limit, 0);
	writer->state = FXT_WRITER_NO_CHUNK;
}

/*
 * Closes the chunk of a thread that is inside the fast path and does not come out of it: it
 * is stopped, or a signal handler interrupted it there. The chunk ends with the records
 * that the thread has committed by now. The record it is writing may still be committed
 * later, or never.
 */
static void closing_stall(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	FXT_ASSERT_LOCKED(e);
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	/* Acquire: pairs with the thread's commit; its bytes are handed over next. */
	uint64_t committed = load_acquire(&slot->committed);

	FXT_FAIL_POINT("stall: committed");
	closing_count_calls(e, writer, committed);
	/* Stored before the chunk is closed: a record that the thread commits from now on
	 * lies at late_record, where a collector looks for it once the chunk ends there. */
	store_relaxed(&slot->late_chunk_end,
	        writer->chunk + ((const struct fxt_chunk_header *)(uintptr_t)writer->chunk)->size);
	store_release(&slot->late_record, committed);
	FXT_FAIL_POINT("stall: late_record");
	closing_close_header(writer->chunk, committed);
	writer->state = FXT_WRITER_STALLED;
	e->stalled++;
}

uint64_t fxt_close_move_late_record(
        struct fxt_engine *e, const struct fxt_thread_writer *writer, uint64_t position)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t bytes = load_relaxed(&slot->committed) - slot->late_record;

	FXT_ASSERT_LOCKED(e);
	if (bytes)
		memcpy((void *)(uintptr_t)position, (const void *)(uintptr_t)slot->late_record, bytes);
	return bytes;
}

bool fxt_close_forget_stalled(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	for (uint32_t i = 0; e->stalled && i < e->control->slots_used; i++) {
		struct fxt_thread_writer *writer = &e->writers[i];
		struct fxt_thread_slot *slot = fxt_slot(e, i);

		if (writer->state != FXT_WRITER_STALLED)
			continue;
		/* Acquire: pairs with the release that ends the write; its bytes may be
		 * overwritten from then on. The limit of a stalled thread is 0, so it
		 * begins no other write. */
		if (load_acquire(&writer->busy) == FXT_WRITING)
			return false;
		writer->state = FXT_WRITER_NO_CHUNK;
		e->stalled--;
		store_relaxed(&slot->committed, 0);
		store_relaxed(&slot->late_record, 0);
		store_relaxed(&writer->chunk, 0);
	}
	return true;
}

void fxt_close_durable(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	if (!e->durable_chunk)
		return;
	closing_close_header(e->durable_chunk, e->control->durable_committed);
	store_release(&e->control->durable_committed, 0);
	e->durable_chunk = 0;
}

/* Waits until the thread is seen outside of a write; false when patience ran out. */
static bool closing_wait_until_quiet(const struct fxt_thread_writer *writer, uint64_t deadline_ns)
{
	/* Acquire: pairs with the release that ends a write; its bytes are handed over
	 * next. */
	for (unsigned spins = 0; load_acquire(&writer->busy) == FXT_WRITING; spins++) {
		if (spins < 64)
			continue;
		if (fxt_monotonic_ns() > deadline_ns)
			return false;
		sys_pause_ns(50000);
	}
	return true;
}

void fxt_close_await_writers(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	sys_membarrier();
	uint64_t deadline = fxt_monotonic_ns() + PATIENCE_NS;

	for (uint32_t i = 0; i < e->control->slots_used; i++)
		closing_wait_until_quiet(&e->writers[i], deadline);
}

void fxt_close_all(struct fxt_engine *e)
{
	uint32_t used = e->control->slots_used;

	FXT_ASSERT_LOCKED(e);
	for (uint32_t i = 0; i < used; i++)
		if (e->writers[i].state == FXT_WRITER_OPEN)
			store_relaxed(&e->writers[i].limit, 0);
	FXT_FAIL_POINT("close: limits");
	/* After this a thread that becomes WRITING sees limit 0, and a thread that did not
	 * see it is seen to be WRITING. */
	sys_membarrier();
	uint64_t deadline = fxt_monotonic_ns() + PATIENCE_NS;

	for (uint32_t i = 0; i < used; i++) {
		if (e->writers[i].state != FXT_WRITER_OPEN)
			continue;
		if (closing_wait_until_quiet(&e->writers[i], deadline))
			fxt_close_thread(e, &e->writers[i]);
		else
			closing_stall(e, &e->writers[i]);
	}
	fxt_close_durable(e);
	store_relaxed(&e->header->num_records_dropped, fxt_losses_of(e->control).lost);
}
