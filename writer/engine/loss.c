#include "loss.h"
#include <string.h>
#include "writer/shared/atomics.h"
#include "writer/format/digits.h"

struct fxt_losses fxt_losses_of(const struct fxt_control *control)
{
	uint32_t used = load_acquire(&control->slots_used);
	struct fxt_losses losses = {
	        .lost = load_relaxed(&control->lost_without_slot) + load_relaxed(&control->lost_recycled),
	        .overwritten = load_relaxed(&control->overwritten_recycled)};

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++) {
		const struct fxt_thread_slot *slot = fxt_control_slot(control, i);

		if (load_acquire(&slot->state) != FXT_SLOT_LIVE)
			continue;
		losses.lost += load_relaxed(&slot->lost) + load_relaxed(&slot->nested_lost);
		losses.overwritten += load_relaxed(&slot->overwritten);
	}
	return losses;
}

size_t fxt_loss_name(char text[FXT_LOSS_NAME_BYTES], uint64_t records, const char *fate)
{
	static const char before[] = "fxt: ";
	size_t length = sizeof(before) - 1;

	memcpy(text, before, length);
	length += fxt_put_digits(text + length, records, 10);
	memcpy(text + length, fate, strlen(fate));
	return length + strlen(fate);
}

uint64_t fxt_loss_end(const struct fxt_frame *frames, uint64_t count, uint64_t gap_start, uint64_t last)
{
	uint64_t end = last;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t start = load_relaxed(&frames[i].start);

		if (start > gap_start) {
			end = start - 1;
			break;
		}
	}
	return end > gap_start ? end : gap_start;
}
