#include "valid.h"
#include <string.h>
#include "chunk.h"

#ifdef FXT_DEBUG
void fxt_assertion_failed(const char *what)
{
	sys_call(SYS_write, 2, what, strlen(what), 0);
	__builtin_trap();
}
#endif

/* ---- writers ---- */

static bool writer_is_empty(const struct fxt_thread_writer *writer, const struct fxt_thread_slot *slot)
{
	return writer->chunk == 0 && load_relaxed(&writer->limit) == 0 && load_relaxed(&slot->committed) == 0;
}

/* An open chunk lies in what was given out of the current rolling buffer. */
static bool writer_is_open(const struct fxt_engine *e, const struct fxt_thread_writer *writer,
        const struct fxt_thread_slot *slot)
{
	uint64_t start = (uint64_t)(uintptr_t)e->buffer +
	                 e->layout.rolling_offset[e->mode == FXT_ONESHOT ? 0 : e->wrapped & 1];
	uint64_t committed = load_relaxed(&slot->committed), limit = load_relaxed(&writer->limit);

	if (writer->chunk < start ||
	        writer->chunk + sizeof(struct fxt_chunk_header) > start + e->rolling_used)
		return false;
	const struct fxt_chunk_header *header = (const struct fxt_chunk_header *)(uintptr_t)writer->chunk;
	uint64_t end = writer->chunk + header->size;

	return header->state == FXT_CHUNK_OPEN && header->slot == writer->number &&
	       end <= start + e->rolling_used && committed >= writer->chunk + sizeof(*header) &&
	       committed <= end && (limit == 0 || limit == end);
}

static bool slot_is_valid(const struct fxt_engine *e, const struct fxt_thread_writer *writer,
        const struct fxt_thread_slot *slot)
{
	uint64_t frames = (uint64_t)(uintptr_t)fxt_slot_frames(e, slot), top = load_relaxed(&slot->top);
	uint64_t end = (uint64_t)(uintptr_t)e->control + slot->stack_offset + slot->stack_bytes;

	if (slot->state == FXT_SLOT_FREE)
		return true;
	return slot->state == FXT_SLOT_LIVE && writer->generation == e->generation &&
	       slot->thread_index >= 1 && slot->thread_index <= FXT_THREAD_LOCAL_INDEX &&
	       slot->stack_offset >= FXT_STACKS_OFFSET &&
	       slot->stack_offset + slot->stack_bytes <= FXT_CONTROL_BYTES && top >= frames && top <= end &&
	       (top - frames) % sizeof(struct fxt_frame) == 0 &&
	       (slot->late_record != 0) == (writer->state == FXT_WRITER_STALLED);
}

bool fxt_thread_writer_is_valid(const struct fxt_engine *e, uint32_t number)
{
	const struct fxt_thread_writer *writer = &e->writers[number];
	const struct fxt_thread_slot *slot = fxt_slot(e, number);

	if (writer->number != number || !slot_is_valid(e, writer, slot))
		return false;
	switch (writer->state) {
	case FXT_WRITER_NO_CHUNK:
		return writer_is_empty(writer, slot);
	case FXT_WRITER_OPEN:
		return writer->generation && writer_is_open(e, writer, slot);
	case FXT_WRITER_STALLED:
		return writer->generation && writer->chunk && load_relaxed(&writer->limit) == 0;
	default:
		return false;
	}
}

/* ---- the engine ---- */

static bool engine_counts_are_valid(const struct fxt_engine *e)
{
	uint32_t used = e->control->slots_used, live = 0, stalled = 0, next = e->free_slot, listed = 0;

	for (uint32_t i = e->first_slot; i < used; i++) {
		if (!fxt_thread_writer_is_valid(e, i))
			return false;
		live += e->writers[i].generation != 0;
		stalled += e->writers[i].state == FXT_WRITER_STALLED;
	}
	for (; next && next <= used && listed <= used; listed++)
		next = e->writers[next - 1].generation ? UINT32_MAX : e->writers[next - 1].next;
	return next == 0 && listed == used - e->first_slot - live && live == e->live_slots &&
	       stalled == e->stalled;
}

bool fxt_engine_is_valid(const struct fxt_engine *e)
{
	if (e->state == FXT_ENGINE_NONE)
		return e->alive == NULL &&
		       (e->first_slot || (e->buffer == NULL && e->control == NULL && e->writers == NULL));
	if (load_relaxed(e->alive) == 0)
		return true;
	return (e->state == FXT_ENGINE_STARTED) == (e->run & 1) && e->control->slots_used <= FXT_SLOTS &&
	       e->rolling_used <= e->layout.rolling_bytes && e->durable_end <= e->layout.durable_bytes &&
	       e->header->durable_data_end == e->durable_end && e->header->wrapped_count == e->wrapped &&
	       e->next_string <= FXT_STRING_LOCAL_FIRST && e->decided <= e->next_string &&
	       e->next_thread <= FXT_THREAD_LOCAL_INDEX &&
	       (e->mode == FXT_STREAMING || !e->save_outstanding) && engine_counts_are_valid(e);
}
