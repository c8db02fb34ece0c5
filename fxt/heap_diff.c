#include "heap_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/index.h"
#include "table.h"

static const struct fxt_column columns[] = {
        {"change_bytes", "change", FXT_COLUMN_BYTES, 0},
        {"before_bytes", "before", FXT_COLUMN_BYTES, 1},
        {"after_bytes", "after", FXT_COLUMN_BYTES, 1},
        {"before_blocks", "blocks", FXT_COLUMN_COUNT, 2},
        {"after_blocks", "after", FXT_COLUMN_COUNT, 2},
        {"path", "call path", FXT_COLUMN_TEXT, 0},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

struct path {
	char *text;
	struct fxt_heap_sums before, after;
};

static struct paths {
	struct path *items;
	size_t count, room;
	struct fxt_index index; /* by text */
} all[FXT_HEAP_COSTS];

/* ---- reading ---- */

struct taking {
	struct paths *paths;
	bool is_before;
};

static struct path *diff_path(struct paths *paths, struct fxt_span text)
{
	uint32_t hash = fxt_hash_bytes(text.data, text.bytes);

	for (struct fxt_probe probe = fxt_probe(&paths->index, hash); fxt_probe_next(&paths->index, &probe);)
		if (fxt_span_is(text, paths->items[probe.id].text))
			return &paths->items[probe.id];
	fxt_make_room(paths->items, paths->count, paths->room);
	struct path *path = &paths->items[paths->count];

	*path = (struct path){.text = fxt_allocate(text.bytes + 1)};
	memcpy(path->text, text.data, text.bytes);
	fxt_index_add(&paths->index, hash, (uint32_t)paths->count++);
	return path;
}

static void diff_take(void *context, struct fxt_span folded, struct fxt_heap_sums sums)
{
	struct taking *taking = context;
	struct path *path = diff_path(taking->paths, folded);
	struct fxt_heap_sums *side = taking->is_before ? &path->before : &path->after;

	side->blocks += sums.blocks;
	side->bytes += sums.bytes;
}

void fxt_heap_diff_add(struct fxt_heap *heap, bool is_before, const struct fxt_heap_wanted *wanted)
{
	for (enum fxt_heap_cost cost = 0; cost < FXT_HEAP_COSTS; cost++) {
		struct taking taking = {&all[cost], is_before};

		for (uint32_t i = 0; fxt_heap_wants(wanted, cost) && i < heap->process_count; i++)
			fxt_heap_each_path(heap, i, cost, wanted->by_function, diff_take, &taking);
	}
}

/* ---- printing ---- */

static double diff_change(const struct path *path)
{
	return path->after.bytes - path->before.bytes;
}

static int diff_compare(const void *left, const void *right)
{
	const struct path *a = left, *b = right;
	double x = fabs(diff_change(a)), y = fabs(diff_change(b));

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->text, b->text);
}

static void diff_row(const struct path *path, const char *text)
{
	fxt_table_row((struct fxt_cell[COLUMNS]){fxt_cell_number(diff_change(path)),
	        fxt_cell_number(path->before.bytes), fxt_cell_number(path->after.bytes),
	        fxt_cell_number(path->before.blocks), fxt_cell_number(path->after.blocks),
	        fxt_cell_text(fxt_span(text))});
}

static void diff_print(
        const struct paths *paths, enum fxt_heap_cost cost, const struct fxt_heap_wanted *wanted)
{
	struct path sum = {0}, *sorted = fxt_allocate((paths->count + 1) * sizeof(*sorted));
	size_t count = 0;

	for (size_t i = 0; i < paths->count; i++) {
		const struct path *path = &paths->items[i];

		if (path->before.blocks == 0 && path->after.blocks == 0) /* only in another trace */
			continue;
		sum.before.blocks += path->before.blocks;
		sum.before.bytes += path->before.bytes;
		sum.after.blocks += path->after.blocks;
		sum.after.bytes += path->after.bytes;
		sorted[count++] = *path;
	}
	qsort(sorted, count, sizeof(*sorted), diff_compare);
	fxt_table_begin(fxt_heap_cost_name(cost), fxt_heap_cost_title(wanted, cost), columns, COLUMNS);
	diff_row(&sum, "(all)");
	for (size_t i = 0; i < count && i < wanted->limit; i++)
		diff_row(&sorted[i], sorted[i].text);
	fxt_table_end();
	free(sorted);
}

void fxt_heap_diff_print(const struct fxt_heap_wanted *wanted)
{
	for (enum fxt_heap_cost cost = 0; cost < FXT_HEAP_COSTS; cost++) {
		struct paths *paths = &all[cost];

		if (fxt_heap_wants(wanted, cost))
			diff_print(paths, cost, wanted);
		for (size_t i = 0; i < paths->count; i++)
			paths->items[i].after = (struct fxt_heap_sums){0};
	}
}

void fxt_heap_diff_free(void)
{
	for (enum fxt_heap_cost cost = 0; cost < FXT_HEAP_COSTS; cost++) {
		struct paths *paths = &all[cost];

		for (size_t i = 0; i < paths->count; i++)
			free(paths->items[i].text);
		free(paths->items);
		fxt_index_free(&paths->index);
		*paths = (struct paths){0};
	}
}
