#include "loss.h"
#include <string.h>
#include "atomics.h"

size_t fxt_loss_name(char text[FXT_LOSS_NAME_BYTES], uint64_t records, const char *fate)
{
	static const char before[] = "fxt: ";
	char digits[20];
	size_t count = 0, length = sizeof(before) - 1;

	do
		digits[count++] = (char)('0' + records % 10);
	while (records /= 10);
	memcpy(text, before, length);
	while (count)
		text[length++] = digits[--count];
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
