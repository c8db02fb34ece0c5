/*
 * Collects the begins and ends of slices, and pairs them by time (marks.h). Runs on the
 * thread that reads the trace. Must never depend on the order of the records in the file,
 * and keeps what exceeds its memory in a file.
 */
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

void fxt_marks_free(struct fxt_marks *m)
{
	fxt_spill_free(&m->marks);
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

struct marks_pairing {
	struct begun begun;
	fxt_marks_paired *paired;
	void *context;
};

static void marks_leave_open(struct marks_pairing *p)
{
	while (p->begun.count > 0)
		p->paired(p->context, &p->begun.items[--p->begun.count], NULL);
}

static void marks_pair_one(struct marks_pairing *p, const struct fxt_slice *mark)
{
	struct begun *begun = &p->begun;

	if (begun->count > 0 && begun->items[0].thread != mark->thread)
		marks_leave_open(p);
	if (mark->is_open) {
		fxt_make_room(begun->items, begun->count, begun->room);
		begun->items[begun->count++] = *mark;
	} else {
		p->paired(p->context, begun->count > 0 ? &begun->items[--begun->count] : NULL, mark);
	}
}

void fxt_marks_pair(struct fxt_marks *m, fxt_marks_paired *paired, void *context)
{
	struct marks_pairing pairing = {.paired = paired, .context = context};
	struct fxt_slice marks[BATCH];

	fxt_spill_sort(&m->marks, marks_by_thread_and_time);
	for (uint64_t at = 0; at < m->marks.count; at += BATCH) {
		size_t count = m->marks.count - at < BATCH ? (size_t)(m->marks.count - at) : BATCH;

		fxt_spill_read(&m->marks, at, count, marks);
		for (size_t i = 0; i < count; i++)
			marks_pair_one(&pairing, &marks[i]);
	}
	marks_leave_open(&pairing);
	free(pairing.begun.items);
}

/* ---- slices of a scan ---- */

static void marks_add_slice(void *context, const struct fxt_slice *begin, const struct fxt_slice *end)
{
	struct fxt_scan *scan = context;
	struct fxt_slice slice;

	if (!begin) {
		scan->ends_without_begin++;
		return;
	}
	slice = *begin;
	slice.end = end ? end->start : fxt_scan_last_moment(scan, begin->thread, begin->start);
	slice.is_open = !end;
	fxt_spill_add(&scan->out_of_order, &slice);
}

void fxt_marks_match(struct fxt_marks *m, struct fxt_scan *scan)
{
	fxt_marks_pair(m, marks_add_slice, scan);
}
