/*
 * Fits a line to the marks of a clock (marks.h). The line leads from the first mark to the
 * last. It gets a corner at a mark between that is off by more than the errors of both allow:
 * the clock has drifted. A mark that was measured at a bad moment has a large error, and bends
 * nothing.
 */
#include "marks.h"

#include <stdlib.h>
#include "reader/trace/index.h"
#include "reader/trace/rate.h"
#include "writer/shared/search.h"

void fxt_merge_marks_add(struct fxt_merge_clock *clock, const struct fxt_merge_mark *mark)
{
	fxt_make_room(clock->marks, clock->mark_count, clock->mark_room);
	clock->marks[clock->mark_count++] = *mark;
}

void fxt_merge_clock_free(struct fxt_merge_clock *clock)
{
	free(clock->marks);
	free(clock->pieces);
}

static int marks_compare(const void *left, const void *right)
{
	const struct fxt_merge_mark *a = left, *b = right;

	return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static bool marks_make_line(
        const struct fxt_merge_mark *a, const struct fxt_merge_mark *b, struct fxt_merge_line *line)
{
	if (b->ticks <= a->ticks || b->reference_ns <= a->reference_ns)
		return false;
	*line = (struct fxt_merge_line){.ticks = (uint64_t)a->ticks,
	        .ns = (uint64_t)a->reference_ns,
	        .span_ticks = (uint64_t)(b->ticks - a->ticks),
	        .span_ns = (uint64_t)(b->reference_ns - a->reference_ns)};
	return true;
}

static int64_t marks_larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Returns the mark that is the farthest off the line between two others, by more than its
 * error; 0: there is none. */
static size_t marks_find_corner(const struct fxt_merge_mark *marks, size_t from, size_t to)
{
	int64_t allowed = marks_larger(marks[from].error_ns, marks[to].error_ns), most = 0;
	struct fxt_merge_line line, before, behind;
	size_t corner = 0;

	if (!marks_make_line(&marks[from], &marks[to], &line))
		return 0;
	for (size_t i = from + 1; i < to; i++) {
		int64_t off =
		        marks[i].reference_ns - (int64_t)fxt_merge_time(&line, (uint64_t)marks[i].ticks);
		int64_t excess = (off < 0 ? -off : off) - allowed - marks[i].error_ns;

		if (excess <= most || !marks_make_line(&marks[from], &marks[i], &before) ||
		        !marks_make_line(&marks[i], &marks[to], &behind))
			continue;
		most = excess;
		corner = i;
	}
	return corner;
}

/* Keeps the corners between two marks, which are kept. */
static void marks_bend(struct fxt_merge_mark *marks, size_t from, size_t to)
{
	for (size_t corner; (corner = marks_find_corner(marks, from, to)) > 0; from = corner) {
		marks[corner].is_kept = true;
		marks_bend(marks, from, corner);
	}
}

/* Over less than a second, the errors of two comparisons are more than any clock's drift:
 * the most exact one stands for all. */
static void marks_take_one(struct fxt_merge_clock *c)
{
	const struct fxt_merge_mark *best = &c->marks[0];

	for (size_t i = 1; i < c->mark_count; i++)
		if (c->marks[i].error_ns < best->error_ns)
			best = &c->marks[i];
	c->line.shift = best->reference_ns - (int64_t)fxt_merge_time(&c->line, (uint64_t)best->ticks);
	c->error_ns = (uint64_t)best->error_ns;
}

void fxt_merge_marks_take(struct fxt_merge_clock *c)
{
	size_t last = c->mark_count - 1, from = 0;

	qsort(c->marks, c->mark_count, sizeof(*c->marks), marks_compare);
	if (c->marks[last].reference_ns - c->marks[0].reference_ns < (int64_t)FXT_NS_PER_SECOND ||
	        !marks_make_line(&c->marks[0], &c->marks[last], &c->line)) {
		marks_take_one(c);
		return;
	}
	c->marks[0].is_kept = c->marks[last].is_kept = true;
	marks_bend(c->marks, 0, last);
	c->pieces = fxt_allocate(last * sizeof(*c->pieces));
	c->line.pieces = c->pieces;
	c->error_ns = 0;
	for (size_t i = 0; i <= last; i++) {
		if (!c->marks[i].is_kept)
			continue;
		c->error_ns = (uint64_t)marks_larger((int64_t)c->error_ns, c->marks[i].error_ns);
		if (i > 0)
			marks_make_line(&c->marks[from], &c->marks[i], &c->pieces[c->line.piece_count++]);
		from = i;
	}
}

const struct fxt_merge_line *fxt_merge_piece(const struct fxt_merge_line *line, uint64_t ticks)
{
	uint64_t behind = partition_point(i, line->piece_count, line->pieces[i].ticks <= ticks);

	return &line->pieces[behind > 0 ? behind - 1 : 0];
}
