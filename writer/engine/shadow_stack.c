#include "shadow_stack.h"
#include <string.h>
#include "chunk.h"

void fxt_stack_set(struct fxt_engine *e, struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        uint64_t offset, uint64_t bytes)
{
	struct fxt_frame *sentinel = (struct fxt_frame *)((uint8_t *)e->control + offset);

	/* Frame 0 lies above every stack and is no function: no entry finds it dead, no
	 * exit finds it its own. */
	*sentinel = (struct fxt_frame){.function = 0, .stack_offset = UINT64_MAX};
	slot->stack_offset = offset;
	slot->stack_bytes = bytes;
	fxt_stack_restore_limit(e, writer);
}

uint64_t fxt_stack_end(const struct fxt_engine *e, const struct fxt_thread_writer *writer)
{
	const struct fxt_thread_slot *slot = fxt_slot(e, writer->number);

	/* The last frame's place is reserved for the mark of fxt_stack_keep(). */
	return (uint64_t)(uintptr_t)e->control + slot->stack_offset + slot->stack_bytes -
	       sizeof(struct fxt_frame);
}

void fxt_stack_restore_limit(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	store_relaxed(&writer->top_limit, fxt_stack_end(e, writer));
	compiler_barrier(); /* pairs with the membarrier of fxt_engine_stop() */
	if (writer->run != load_relaxed(&e->run))
		store_relaxed(&writer->top_limit, 0);
}

bool fxt_stack_grow(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	struct fxt_frame *frames = fxt_slot_frames(e, slot);
	uint64_t open = slot->top - (uint64_t)(uintptr_t)frames;
	uint64_t mask;
	bool grown = false;

	if (slot->stack_offset >= FXT_LARGE_STACKS_OFFSET)
		return false;
	mask = fxt_engine_lock(e);
	if (e->large_stacks_used < FXT_LARGE_STACKS && writer->run == e->run &&
	        fxt_control_reach(e->map,
	                FXT_LARGE_STACKS_OFFSET + (e->large_stacks_used + 1) * FXT_LARGE_STACK_BYTES)) {
		uint64_t color = fxt_stack_color(writer->number);
		uint64_t offset =
		        FXT_LARGE_STACKS_OFFSET + e->large_stacks_used++ * FXT_LARGE_STACK_BYTES + color;
		struct fxt_frame *larger = (struct fxt_frame *)((uint8_t *)e->control + offset) + 1;

		memcpy(larger, frames, open);
		fxt_stack_set(e, writer, slot, offset, FXT_LARGE_STACK_BYTES - color);
		store_release(&slot->top, (uint64_t)(uintptr_t)larger + open);
		grown = true;
	}
	fxt_engine_unlock(e, mask);
	return grown;
}

void fxt_stack_keep(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t end)
{
	struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	struct fxt_frame *mark = (struct fxt_frame *)(uintptr_t)slot->top;

	/* no function, and as high as that sentinel */
	*mark = fxt_slot_frames(e, slot)[-1];
	mark->start = end;
	store_relaxed(&writer->last, fxt_later(writer->last, end));
	/* Release: the mark is complete before the top covers it. Pairs with the
	 * collector's acquire. */
	store_release(&slot->top, (uint64_t)(uintptr_t)(mark + 1));
	writer->is_full = 1;
	store_relaxed(&writer->top_limit, 0);
}
