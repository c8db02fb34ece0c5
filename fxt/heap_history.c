#include "heap_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "table.h"
#include "describe.h"

static const struct fxt_column columns[] = {
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"event", "event", FXT_COLUMN_TEXT, 0},
        {"size_bytes", "size", FXT_COLUMN_BYTES, 0},
        {"lived_ns", "lived", FXT_COLUMN_TIME, 2},
        {"address", "block", FXT_COLUMN_TEXT, 3},
        {"thread", "by thread", FXT_COLUMN_TEXT, 0},
        {"path", "allocated by", FXT_COLUMN_TEXT, 0},
        {"process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/* ---- blocks ---- */

struct history {
	const struct fxt_heap *heap;
	uint64_t pointer;
	struct fxt_heap_block *blocks;
	size_t count, room;
};

static void history_add(void *context, const struct fxt_heap_block *block)
{
	struct history *h = context;

	/* A block of size 0 contains its own address only. */
	if (h->pointer != block->pointer && h->pointer - block->pointer >= block->size)
		return;
	fxt_make_room(h->blocks, h->count, h->room);
	h->blocks[h->count++] = *block;
}

/* ---- events ---- */

struct event {
	uint64_t ns;
	const struct fxt_heap_block *block;
	bool is_end;
};

/* Sorts by time. Blocks are numbered in the order of their ends: at one moment the
 * earlier block's event is first, and of one block the begin is first. */
static int history_compare(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->is_end - b->is_end;
}

static void history_print_thread(FILE *out, const struct fxt_tables *t, uint32_t thread)
{
	uint64_t koid = t->threads[thread].thread;
	uint32_t name = fxt_tables_object_name(t, FXT_OBJECT_THREAD, koid);

	fprintf(out, "%" PRIu64, koid);
	if (name != FXT_NOTHING)
		fprintf(out, " \"%.*s\"", (int)t->strings[name].bytes, t->strings[name].data);
}

static void history_print_event(const struct fxt_heap *heap, const struct event *event)
{
	static const char *const ends[] = {[FXT_HEAP_BLOCK_FREED] = "freed",
	        [FXT_HEAP_BLOCK_LEAKED] = "never freed",
	        [FXT_HEAP_BLOCK_REPLACED] = "gone by an exec",
	        [FXT_HEAP_BLOCK_KEPT] = "kept by the C library"};
	const struct fxt_heap_block *block = event->block;
	bool is_at_end = heap->until == UINT64_MAX;
	const char *end = block->fate == FXT_HEAP_BLOCK_LEAKED && !is_at_end
	                          ? "lives"
	                          : ends[fxt_heap_fate(heap, block)];
	uint32_t thread = event->is_end ? block->end_thread : block->thread;
	struct fxt_cell cells[COLUMNS] = {0};
	struct fxt_describer address, who;

	fxt_describe_begin(&address);
	fxt_describe_begin(&who);
	fprintf(address.out, "0x%" PRIx64, block->pointer);
	if (thread != FXT_NOTHING)
		history_print_thread(who.out, &heap->tables, thread);
	cells[0] = fxt_cell_number((double)(event->ns - heap->start));
	cells[1] = fxt_cell_text(fxt_span(event->is_end ? end : "allocated"));
	cells[2] = fxt_cell_number((double)block->size);
	if (event->is_end)
		cells[3] = fxt_cell_number((double)(block->end - block->start));
	cells[4] = fxt_cell_text(fxt_describe_end(&address));
	struct fxt_span of = fxt_describe_end(&who);

	if (thread != FXT_NOTHING) {
		cells[5] = fxt_cell_text(of);
		cells[8] = fxt_cell_number((double)heap->tables.threads[thread].thread);
	}
	cells[6] = fxt_cell_text(fxt_heap_folded(heap, block->node));
	cells[7] = fxt_cell_number((double)heap->processes[block->process].koid);
	fxt_table_row(cells);
	fxt_describe_free(&address);
	fxt_describe_free(&who);
}

void fxt_heap_print_history(
        const struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted)
{
	struct history h = {.heap = heap, .pointer = wanted->pointer};

	fxt_heap_each_block(heap, history_add, &h);
	struct event *events = fxt_resize(NULL, 2 * h.count + 1, sizeof(*events));

	for (size_t i = 0; i < h.count; i++) {
		events[2 * i] = (struct event){h.blocks[i].start, &h.blocks[i], false};
		events[2 * i + 1] = (struct event){h.blocks[i].end, &h.blocks[i], true};
	}
	if (h.count > 0)
		qsort(events, 2 * h.count, sizeof(*events), history_compare);
	fxt_print_trace(name);
	fxt_print_line("%zu block%s lay at 0x%" PRIx64, h.count, h.count == 1 ? "" : "s", wanted->pointer);
	fxt_table_begin("history", NULL, columns, COLUMNS);
	for (size_t i = 0; i < 2 * h.count; i++)
		history_print_event(heap, &events[i]);
	fxt_table_end();
	fxt_heap_print_lost(NULL, heap->records_lost);
	free(events);
	free(h.blocks);
}
