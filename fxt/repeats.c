/*
 * Compares each line with the eight lines before: for each length of a cycle with the line
 * one round before. It must keep no more than these lines, because a recursion may have any
 * number.
 */
#include "repeats.h"

#include <string.h>
#include "reader/stats/recursion.h"

static bool repeats_continues(
        const struct fxt_repeats *r, uint32_t length, const struct fxt_repeats_line *line)
{
	const struct fxt_repeats_cycle *cycle = &r->cycles[length - 1];

	if (r->count < length)
		return false;
	const struct fxt_repeats_line *before = fxt_repeats_line(r, length - 1);
	int64_t step = (int64_t)line->depth - before->depth;

	return line->kind == before->kind && line->name == before->name && step != 0 &&
	       (cycle->lines == 0 || step == cycle->step);
}

/* Notes which cycles a line continues, and adds it. */
static void repeats_take(struct fxt_repeats *r, const struct fxt_repeats_line *line)
{
	for (uint32_t length = 1; length <= FXT_REPEATS_CYCLE; length++) {
		struct fxt_repeats_cycle *cycle = &r->cycles[length - 1];

		if (repeats_continues(r, length, line)) {
			cycle->step = (int64_t)line->depth - fxt_repeats_line(r, length - 1)->depth;
			cycle->lines++;
		} else {
			cycle->lines = 0;
		}
	}
	r->lines[r->count++ % FXT_REPEATS_CYCLE] = *line;
}

/* The length of the cycle that a line continues for long; 0: none. All hidden lines belong
 * to the same cycle, because its rounds are printed as their number. */
static uint32_t repeats_find(const struct fxt_repeats *r, const struct fxt_repeats_line *line)
{
	for (uint32_t length = 1; length <= FXT_REPEATS_CYCLE; length++)
		if ((r->hidden == 0 || length == r->cycle) &&
		        r->cycles[length - 1].lines >= (uint64_t)FXT_RECURSION_LEVELS * length &&
		        repeats_continues(r, length, line))
			return length;
	return 0;
}

bool fxt_repeats_hides(struct fxt_repeats *r, const struct fxt_repeats_line *line)
{
	bool is_end = line->kind == FXT_PLAYBACK_END;
	uint32_t length = repeats_find(r, line);

	if (is_end && !(r->has_hidden_begin && line->depth >= r->begin)) {
		/* The rest of a cycle must not be hidden without its end. */
		memset(r->cycles, 0, sizeof(r->cycles));
		r->has_hidden_begin = false;
		return false;
	}
	if (length == 0)
		return false;
	if (line->kind == FXT_PLAYBACK_BEGIN && !(r->has_hidden_begin && line->depth >= r->begin)) {
		r->has_hidden_begin = true;
		r->begin = line->depth;
	}
	r->cycle = length;
	r->hidden++;
	repeats_take(r, line);
	return true;
}

void fxt_repeats_add(struct fxt_repeats *r, const struct fxt_repeats_line *line)
{
	r->hidden = 0;
	repeats_take(r, line);
}
