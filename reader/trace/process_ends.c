#include "process_ends.h"

#include <stdlib.h>
#include "index.h"
#include "writer/shared/search.h"

void fxt_process_ends_add(struct fxt_process_ends *e, uint64_t process, uint64_t time)
{
	fxt_make_room(e->items, e->count, e->room);
	e->items[e->count++] = (struct fxt_end_of_process){process, time};
}

static int process_ends_compare(const void *left, const void *right)
{
	const struct fxt_end_of_process *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

void fxt_process_ends_sort(struct fxt_process_ends *e)
{
	if (e->count > 1)
		qsort(e->items, e->count, sizeof(*e->items), process_ends_compare);
}

uint64_t fxt_process_ends_from(const struct fxt_process_ends *e, uint64_t process, uint64_t moment)
{
	struct fxt_end_of_process from = {process, moment};
	uint64_t at = partition_point(i, e->count, process_ends_compare(&e->items[i], &from) < 0);

	return at < e->count && e->items[at].process == process ? e->items[at].time : UINT64_MAX;
}

void fxt_process_ends_free(struct fxt_process_ends *e)
{
	free(e->items);
	*e = (struct fxt_process_ends){0};
}
