#include "writer/engine/valid.h"
#include "filter.h"

/* The state of a frame for the calls inside it. A frame that exists only for its exit adds
 * nothing (slow_path.c). */
static uint64_t filter_state_of(const struct fxt_thread_writer *writer, const struct fxt_frame *frame)
{
	bool is_exits = (frame->function & FXT_INDEX_LOCAL) == FXT_INDEX_LOCAL &&
	                frame->call_site & FXT_FRAME_UNRECORDED;

	if (fxt_is_wait(frame->function) || is_exits)
		return agent_filter_inside(writer, frame - 1);
	return agent_filter_state(writer, frame - 1, frame->function);
}

void agent_filter_follow_change(struct fxt_thread_writer *writer)
{
	const uint64_t own = FXT_FRAME_UNRECORDED | FXT_FRAME_KEPT | FXT_FRAME_COUNTED;
	const struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	const struct fxt_frame *top = slot_top(slot);

	FXT_ASSERT_SLOW_PATH(writer);
	/* Stored before the frames are changed, so that a later change of the filter is
	 * seen. */
	store_relaxed(&writer->filter_in_force, load_acquire(&agent_engine.filter_in_force));
	if (!load_relaxed(&agent_callers_filter(writer)->has_states))
		return;
	for (struct fxt_frame *frame = fxt_slot_frames(&agent_engine, slot); frame < top; frame++) {
		uint64_t kept = frame->call_site & (own | ~FXT_FRAME_STATE);

		store_relaxed(&frame->call_site, kept | (filter_state_of(writer, frame) & ~own));
	}
}
