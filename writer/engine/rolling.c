/*
 * Gives out chunks of the current rolling buffer, switches to the other one, and exchanges
 * full buffers with the manager. Runs on recording threads' slow path and on the helper
 * thread, with the engine's lock held. Must never reuse bytes that a stalled thread may
 * still write to.
 */
#include "rolling.h"
#include "chunk.h"
#include "valid.h"
#include "closing.h"
#include "writer/shared/failpoint.h"
#include "loss.h"

static uint64_t rolling_address(const struct fxt_engine *e, unsigned buffer)
{
	return (uint64_t)(uintptr_t)e->buffer + e->layout.rolling_offset[buffer];
}

static unsigned rolling_current(const struct fxt_engine *e)
{
	return e->mode == FXT_ONESHOT ? 0 : e->wrapped & 1;
}

/* ---- giving out chunks ---- */

/* Returns the stalled chunk that begins first in [address, end); 0 = none. */
static uint64_t rolling_next_stalled(const struct fxt_engine *e, uint64_t address, uint64_t end)
{
	uint64_t nearest = end;

	for (uint32_t i = 0; e->stalled && i < e->control->slots_used; i++)
		if (e->writers[i].state == FXT_WRITER_STALLED && e->writers[i].chunk >= address &&
		        e->writers[i].chunk < nearest)
			nearest = e->writers[i].chunk;
	return nearest == end ? 0 : nearest;
}

static void rolling_begin_chunk(uint64_t address, uint64_t size, uint32_t slot, enum fxt_chunk_state state)
{
	struct fxt_chunk_header *header = (struct fxt_chunk_header *)(uintptr_t)address;

	store_relaxed(&header->size, (uint32_t)size);
	store_relaxed(&header->slot, slot);
	store_relaxed(&header->committed, 0);
	store_release(&header->state, state);
}

static void rolling_advance(struct fxt_engine *e, uint64_t bytes)
{
	store_relaxed(&e->rolling_used, e->rolling_used + bytes);
	/* Release: the headers are complete before the end covers them. */
	store_release(&e->header->rolling_data_end[rolling_current(e)], e->rolling_used);
}

uint64_t fxt_rolling_allocate_chunk(struct fxt_engine *e, uint32_t slot, uint64_t least, uint64_t most)
{
	uint64_t start = rolling_address(e, rolling_current(e));
	uint64_t end = start + (e->layout.rolling_bytes & ~(FXT_CHUNK_GRANULE - 1));

	FXT_ASSERT_LOCKED(e);
	for (;;) {
		uint64_t address = start + e->rolling_used;
		uint64_t stalled = rolling_next_stalled(e, address, end);
		uint64_t room = (stalled ? stalled : end) - address;
		uint64_t size = most < room ? most : room;

		if (size >= least) {
			rolling_begin_chunk(address, size, slot, FXT_CHUNK_OPEN);
			FXT_FAIL_POINT("allocate: header");
			rolling_advance(e, size);
			FXT_FAIL_POINT("allocate: given out");
			return address;
		}
		if (!stalled)
			return 0;
		if (room) /* an empty chunk bridges space that is too small to use */
			rolling_begin_chunk(address, room, slot, FXT_CHUNK_CLOSED);
		rolling_advance(e, room + ((const struct fxt_chunk_header *)(uintptr_t)stalled)->size);
	}
}

/* ---- the manager ---- */

/* Whether the reply acknowledges the buffer that was handed over last. Any other packet
 * breaks the protocol. */
static bool rolling_is_acknowledged_by(const struct fxt_engine *e, const struct fxt_packet *reply)
{
	return e->save_outstanding && reply->request == FXT_PROVIDER_BUFFER_SAVED && reply->reserved == 0 &&
	       reply->data32 == e->save.data32 && reply->data64 == e->save.data64;
}

bool fxt_rolling_is_saved(struct fxt_engine *e)
{
	struct fxt_ring *ring = &e->control->to_provider;

	FXT_ASSERT_LOCKED(e);
	/* Acquire: the packet was written, and the buffer read, before `written` moved. */
	while (load_acquire(&ring->written) != ring->read) {
		struct fxt_packet reply = ring->packet[ring->read % FXT_FIFO_DEPTH];

		store_release(&ring->read, ring->read + 1);
		if (!rolling_is_acknowledged_by(e, &reply)) {
			e->broken = true;
			return false;
		}
		e->save_outstanding = false;
		store_release(&e->header->rolling_data_end[e->save.data32 & 1], 0);
	}
	return !e->save_outstanding;
}

/* ---- switching ---- */

/* Empties the chunks of stalled threads in a buffer that is filled anew. They keep their
 * place there, because their threads may still write to them. Their old records were handed
 * over or dropped with the rest, and must not be handed out again. */
static void rolling_empty_stalled_chunks(struct fxt_engine *e, unsigned buffer)
{
	uint64_t start = rolling_address(e, buffer);

	FXT_ASSERT_LOCKED(e);
	for (uint32_t i = 0; e->stalled && i < e->control->slots_used; i++) {
		struct fxt_thread_writer *writer = &e->writers[i];

		if (writer->state == FXT_WRITER_STALLED && writer->chunk - start < e->layout.rolling_bytes)
			store_relaxed(&((struct fxt_chunk_header *)(uintptr_t)writer->chunk)->committed, 0);
	}
}

/* Settles the counts of calls of a buffer that is emptied: in circular mode they are
 * overwritten, in streaming mode the manager has saved them. */
static void rolling_count_overwritten(struct fxt_engine *e, unsigned buffer)
{
	uint64_t lost = e->mode == FXT_CIRCULAR ? UINT64_MAX : 0;

	FXT_ASSERT_LOCKED(e);
	for (uint32_t i = 0; i < e->control->slots_used; i++) {
		struct fxt_thread_slot *slot = fxt_slot(e, i);

		if (e->writers[i].closed_last[buffer] & lost)
			store_relaxed(&slot->overwritten_until, e->writers[i].closed_last[buffer]);
		e->writers[i].closed_last[buffer] = 0;
		store_relaxed(&slot->overwritten, slot->overwritten + (slot->calls[buffer] & lost));
		slot->calls[buffer] = 0;
	}
	e->control->overwritten_recycled += e->recycled_calls[buffer] & lost;
	e->recycled_calls[buffer] = 0;
}

bool fxt_rolling_switch(struct fxt_engine *e)
{
	unsigned next = (e->wrapped + 1) & 1;

	FXT_ASSERT_LOCKED(e);
	if (e->mode == FXT_ONESHOT || (e->mode == FXT_STREAMING && !fxt_rolling_is_saved(e)))
		return false;
	if (load_relaxed(&sys_confinement) != SYS_FREE) /* closing takes a membarrier */
		return false;
	fxt_close_all(e);
	FXT_FAIL_POINT("switch: closed");
	/* The next buffer is empty before it becomes the current one, at whatever moment a
	 * collector looks. */
	store_release(&e->header->rolling_data_end[next], 0);
	rolling_count_overwritten(e, next);
	rolling_empty_stalled_chunks(e, next);
	store_relaxed(&e->header->num_records_dropped, fxt_losses_of(e->control).lost);
	FXT_FAIL_POINT("switch: next emptied");
	if (e->mode == FXT_CIRCULAR)
		store_relaxed(&e->drops, e->drops + 1);
	if (e->mode == FXT_STREAMING) {
		/* Closed first, then sampled: every name the buffer uses lies below this
		 * durable end. */
		e->save = (struct fxt_packet){
		        .request = FXT_PROVIDER_SAVE_BUFFER, .data32 = e->wrapped, .data64 = e->durable_end};
		e->save_outstanding = true;
	}
	store_relaxed(&e->rolling_used, 0);
	store_relaxed(&e->wrapped, e->wrapped + 1);
	store_release(&e->header->wrapped_count, e->wrapped);
	FXT_FAIL_POINT("switch: wrapped");
	if (e->mode == FXT_STREAMING && !fxt_ring_send(&e->control->to_manager, &e->save))
		e->broken = true;
	FXT_FAIL_POINT("switch: sent");
	return true;
}

void fxt_rolling_clear(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	for (unsigned buffer = 0; buffer < 2; buffer++) {
		store_release(&e->header->rolling_data_end[buffer], 0);
		rolling_empty_stalled_chunks(e, buffer);
		e->recycled_calls[buffer] = 0;
		for (uint32_t i = 0; i < e->control->slots_used; i++)
			fxt_slot(e, i)->calls[buffer] = 0;
	}
	store_relaxed(&e->rolling_used, 0);
	store_relaxed(&e->drops, e->drops + 1);
	store_relaxed(&e->wrapped, 0);
	store_release(&e->header->wrapped_count, 0);
}

/* ---- oneshot: durable records share the buffer ---- */

uint64_t *fxt_rolling_durable_reserve(struct fxt_engine *e, uint64_t words)
{
	struct fxt_chunk_header *header = (struct fxt_chunk_header *)(uintptr_t)e->durable_chunk;

	FXT_ASSERT_LOCKED(e);
	if (header && e->control->durable_committed + words * 8 <= e->durable_chunk + header->size)
		return (uint64_t *)(uintptr_t)e->control->durable_committed;
	fxt_close_durable(e);
	uint64_t least = fxt_chunk_round_up(sizeof(*header) + words * 8);
	uint64_t most = fxt_chunk_round_up(e->layout.rolling_bytes / 16);

	e->durable_chunk =
	        fxt_rolling_allocate_chunk(e, FXT_SLOT_DURABLE, least, least > most ? least : most);
	if (!e->durable_chunk)
		return NULL;
	store_release(&e->control->durable_committed, e->durable_chunk + sizeof(*header));
	return (uint64_t *)(uintptr_t)e->control->durable_committed;
}

void fxt_rolling_durable_commit(struct fxt_engine *e, const uint64_t *position, uint64_t words)
{
	FXT_ASSERT_LOCKED(e);
	/* Release: the bytes come before the length that covers them. */
	store_release(&e->control->durable_committed, (uint64_t)(uintptr_t)(position + words));
}
