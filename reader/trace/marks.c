#include "marks.h"

#include <stdlib.h>

enum { BATCH = 256 };

/* ---- collecting ---- */

void fxt_marks_init(struct fxt_marks *m, size_t memory_bytes)
{
	*m = (struct fxt_marks){0};
	fxt_spill_init(&m->marks, sizeof(struct fxt_slice), memory_bytes);
}

void fxt_marks_add(struct fxt_marks *m, const struct fxt_slice *mark)
{
	fxt_spill_add(&m->marks, mark);
}

void fxt_marks_add_death(struct fxt_marks *m, uint64_t process, uint64_t time)
{
	fxt_make_room(m->deaths, m->death_count, m->death_room);
	m->deaths[m->death_count++] = (struct fxt_mark_death){process, time};
}

void fxt_marks_free(struct fxt_marks *m)
{
	fxt_spill_free(&m->marks);
	free(m->deaths);
	*m = (struct fxt_marks){0};
}

/* ---- matching ---- */

static int marks_by_thread_and_time(const void *left, const void *right)
{
	const struct fxt_slice *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

/* The slices of a thread that have begun and not ended yet. */
struct begun {
	struct fxt_slice *items;
	size_t count, room;
};

static int marks_by_process_and_time(const void *left, const void *right)
{
	const struct fxt_mark_death *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

/* The end of a call that never returned: the first death of its process since it began. */
static uint64_t marks_last_moment(
        const struct fxt_marks *m, const struct fxt_scan *scan, const struct fxt_slice *slice)
{
	struct fxt_mark_death begun = {scan->tables.threads[slice->thread].process, slice->start};
	size_t first = 0, last = m->death_count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (marks_by_process_and_time(&m->deaths[middle], &begun) < 0)
			first = middle + 1;
		else
			last = middle;
	}
	if (first < m->death_count && m->deaths[first].process == begun.process)
		return m->deaths[first].time;
	return scan->end > slice->start ? scan->end : slice->start;
}

static void marks_leave_open(const struct fxt_marks *m, struct fxt_scan *scan, struct begun *begun)
{
	while (begun->count > 0) {
		struct fxt_slice *slice = &begun->items[--begun->count];

		slice->end = marks_last_moment(m, scan, slice);
		fxt_spill_add(&scan->out_of_order, slice);
	}
}

static void marks_match_one(
        const struct fxt_marks *m, struct fxt_scan *scan, struct begun *begun, const struct fxt_slice *mark)
{
	if (begun->count > 0 && begun->items[0].thread != mark->thread)
		marks_leave_open(m, scan, begun);
	if (mark->is_open) {
		fxt_make_room(begun->items, begun->count, begun->room);
		begun->items[begun->count++] = *mark;
	} else if (begun->count > 0) {
		struct fxt_slice *slice = &begun->items[--begun->count];

		slice->end = mark->start;
		slice->is_open = false;
		fxt_spill_add(&scan->out_of_order, slice);
	} else {
		scan->ends_without_begin++;
	}
}

void fxt_marks_match(struct fxt_marks *m, struct fxt_scan *scan)
{
	struct fxt_slice marks[BATCH];
	struct begun begun = {0};

	if (m->death_count > 1)
		qsort(m->deaths, m->death_count, sizeof(*m->deaths), marks_by_process_and_time);
	fxt_spill_sort(&m->marks, marks_by_thread_and_time);
	for (uint64_t at = 0; at < m->marks.count; at += BATCH) {
		size_t count = m->marks.count - at < BATCH ? (size_t)(m->marks.count - at) : BATCH;

		fxt_spill_read(&m->marks, at, count, marks);
		for (size_t i = 0; i < count; i++)
			marks_match_one(m, scan, &begun, &marks[i]);
	}
	marks_leave_open(m, scan, &begun);
	free(begun.items);
}
