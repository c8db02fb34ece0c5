/*
 * The output of fxt heap --csv: a row of sums for each process or program, then the tables
 * of each. Runs on the main thread, after the heap was read. Its columns are for programs
 * and are never shown to people.
 */
#include "heap_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "table.h"
#include "describe.h"

static const struct fxt_column heap_columns[] = {
        {"process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"image", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"processes", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"name", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"sample_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"allocated_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"allocated_blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"freed_blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"temporary_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"temporary_blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"peak_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"peak_blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"peak_ns", "", FXT_COLUMN_TIME, FXT_COLUMN_DATA},
        {"highest_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"highest_blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"highest_process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"leaked_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"leaked_blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"kept_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"kept_blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"unknown_frees", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
static const struct fxt_column path_columns[] = {
        {"bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"path", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
};
static const struct fxt_column step_columns[] = {
        {"time_ns", "", FXT_COLUMN_TIME, FXT_COLUMN_DATA},
        {"live_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
};
static const struct fxt_column size_columns[] = {
        {"up_to_bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"bytes", "", FXT_COLUMN_BYTES, FXT_COLUMN_DATA},
        {"blocks", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
static const struct fxt_column mention_columns[] = {
        {"count", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"event", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"argument", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"path", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
};
#define COUNT(columns) (sizeof(columns) / sizeof(*(columns)))

static struct fxt_cell number(double value)
{
	return fxt_cell_number(value);
}

static struct fxt_cell known_number(bool is_known, double value)
{
	return is_known ? fxt_cell_number(value) : fxt_cell_unknown();
}

static void tables_row(const struct fxt_heap *heap, const struct fxt_heap_process *p)
{
	bool is_joined = p->joined > 0;
	double peak_ns = (double)(p->peak > heap->start ? p->peak - heap->start : 0);

	fxt_table_row((struct fxt_cell[COUNT(heap_columns)]){known_number(!is_joined, (double)p->koid),
	        known_number(!is_joined, p->image), number(is_joined ? p->joined : 1),
	        fxt_cell_text(heap->tables.strings[fxt_heap_process_name(heap, p)]),
	        number((double)p->sample_bytes), number(p->allocated.bytes), number(p->allocated.blocks),
	        number(p->frees), number(p->temporary.bytes), number(p->temporary.blocks),
	        number(p->at_peak.bytes), number(p->at_peak.blocks), known_number(!is_joined, peak_ns),
	        known_number(is_joined, p->highest.bytes), known_number(is_joined, p->highest.blocks),
	        known_number(is_joined, (double)p->highest_of), number(p->leaked.bytes),
	        number(p->leaked.blocks), number(p->kept.bytes), number(p->kept.blocks),
	        number((double)p->unknown_frees)});
}

/* ---- what a process has ---- */

static void tables_path_row(void *left, struct fxt_span folded, struct fxt_heap_sums sums)
{
	uint64_t *rows_left = left;

	if (*rows_left == 0)
		return;
	--*rows_left;
	fxt_table_row((struct fxt_cell[COUNT(path_columns)]){
	        number(sums.bytes), number(sums.blocks), fxt_cell_text(folded)});
}

static void tables_paths(
        struct fxt_heap *heap, uint32_t process, const char *of, const struct fxt_heap_wanted *wanted)
{
	for (enum fxt_heap_cost cost = 0; cost < FXT_HEAP_COSTS; cost++) {
		uint64_t left = wanted->limit;

		if (!fxt_heap_wants(wanted, cost))
			continue;
		fxt_table_begin(fxt_heap_cost_title(wanted, cost), of, path_columns, COUNT(path_columns));
		fxt_heap_each_path(heap, process, cost, wanted->by_function, tables_path_row, &left);
		fxt_table_end();
	}
}

static void tables_timeline(const struct fxt_heap *heap, uint32_t process, const char *of)
{
	const struct fxt_heap_process *p = &heap->processes[process];
	double most[FXT_HEAP_STEPS];

	fxt_heap_curve(heap, process, most, FXT_HEAP_STEPS);
	fxt_table_begin("timeline", of, step_columns, COUNT(step_columns));
	for (unsigned i = 0; i < FXT_HEAP_STEPS; i++)
		fxt_table_row((struct fxt_cell[COUNT(step_columns)]){
		        number((double)(p->last - p->first) * i / (FXT_HEAP_STEPS - 1)), number(most[i])});
	fxt_table_end();
}

static void tables_sizes(const struct fxt_heap_process *p, const char *of)
{
	fxt_table_begin("sizes", of, size_columns, COUNT(size_columns));
	for (unsigned i = 0; i < FXT_HEAP_BANDS; i++)
		if (p->by_size[i].blocks > 0)
			fxt_table_row((struct fxt_cell[COUNT(size_columns)]){
			        known_number(i < FXT_HEAP_BANDS - 1, (double)(UINT64_C(1) << i)),
			        number(p->by_size[i].bytes), number(p->by_size[i].blocks)});
	fxt_table_end();
}

static void tables_mentions(const struct fxt_heap *heap, uint32_t process, const char *of, uint64_t limit)
{
	size_t count;
	struct fxt_heap_mention *sorted = fxt_heap_sort_mentions(heap, process, &count);

	fxt_table_begin("pointers", of, mention_columns, COUNT(mention_columns));
	for (size_t i = 0; i < count && i < limit; i++)
		fxt_table_row((struct fxt_cell[COUNT(mention_columns)]){number((double)sorted[i].count),
		        fxt_cell_text(heap->tables.strings[sorted[i].event]),
		        fxt_cell_text(heap->tables.strings[sorted[i].argument]),
		        fxt_cell_text(fxt_heap_folded(heap, sorted[i].node))});
	fxt_table_end();
	free(sorted);
}

static void tables_of(struct fxt_heap *heap, uint32_t process, const struct fxt_heap_wanted *wanted)
{
	const struct fxt_heap_process *p = &heap->processes[process];
	struct fxt_span name = heap->tables.strings[fxt_heap_process_name(heap, p)];
	struct fxt_describer words;

	fxt_describe_begin(&words);
	if (p->joined)
		fprintf(words.out, "program \"%.*s\"", (int)name.bytes, name.data);
	else
		fprintf(words.out, "process %" PRIu64 " \"%.*s\"", p->koid, (int)name.bytes, name.data);
	if (p->image > 0 && !p->joined)
		fprintf(words.out, ", image %" PRIu32, p->image);
	const char *of = fxt_describe_end(&words).data;

	tables_paths(heap, process, of, wanted);
	if (wanted->timeline)
		tables_timeline(heap, process, of);
	if (wanted->histogram)
		tables_sizes(p, of);
	if (wanted->pointers)
		tables_mentions(heap, process, of, wanted->limit);
	fxt_describe_free(&words);
}

void fxt_heap_print_tables(struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted)
{
	bool by_program = wanted->sections == FXT_HEAP_BY_PROGRAM;
	uint32_t *list;
	size_t count;

	if (by_program)
		fxt_heap_join_programs(heap);
	list = fxt_heap_list(heap, &count);
	fxt_print_trace(name);
	fxt_table_begin(by_program ? "programs" : "processes", NULL, heap_columns, COUNT(heap_columns));
	for (size_t i = 0; i < count; i++)
		tables_row(heap, &heap->processes[list[i]]);
	fxt_table_end();
	for (size_t i = 0; i < count; i++)
		tables_of(heap, list[i], wanted);
	free(list);
	fxt_heap_print_lost(NULL, heap->records_lost);
}
