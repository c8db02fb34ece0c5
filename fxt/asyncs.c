/*
 * The async spans of fxt report: sums by name. Two names that are equal in several
 * categories stand with the category. Runs on the main thread.
 */
#include "asyncs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "options.h"
#include "reader/stats/async.h"
#include "reader/stats/figures.h"
#include "reader/trace/text.h"

static const enum fxt_figure figures[] = {
        FXT_CALLS, FXT_TOTAL, FXT_AVERAGE, FXT_P50, FXT_P90, FXT_P99, FXT_MIN, FXT_MAX};
enum { FIGURES = sizeof(figures) / sizeof(*figures), OPEN = FIGURES, NAME, CATEGORY, COLUMNS };

static int asyncs_most_time_first(const void *left, const void *right)
{
	const struct fxt_function *a = left, *b = right;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static void asyncs_row(
        const struct fxt_scan *scan, const struct fxt_asyncs *asyncs, const struct fxt_function *f)
{
	const struct fxt_async_group *group = &asyncs->groups[f->name];
	struct fxt_span category = scan->tables.strings[group->category];
	struct fxt_cell cells[COLUMNS];
	char *remark = NULL;
	size_t bytes;
	FILE *out = fxt_memory_open(&remark, &bytes);

	if (group->is_shared)
		fprintf(out, " [%.*s]", (int)category.bytes, category.data);
	fxt_memory_close(out, &remark);
	for (size_t i = 0; i < FIGURES; i++) {
		cells[i] = fxt_cell_number(fxt_function_figure(f, scan, figures[i]));
		cells[i].is_least = fxt_figures[figures[i]].loss == FXT_LOSES_LESS && fxt_lacks_calls(scan);
	}
	cells[OPEN] = fxt_cell_number((double)f->open);
	cells[NAME] = fxt_cell_text(scan->tables.strings[group->name]);
	cells[NAME].remark = fxt_span(remark);
	cells[CATEGORY] = fxt_cell_text(category);
	fxt_table_row(cells);
	free(remark);
}

bool fxt_asyncs_print(const struct fxt_scan *scan, uint64_t limit)
{
	struct fxt_column columns[COLUMNS];
	struct fxt_functions sums = {0};
	struct fxt_asyncs asyncs;
	bool is_whole = fxt_asyncs_read(&asyncs, scan);

	for (size_t i = 0; i < FIGURES; i++) {
		const struct fxt_figure_row *row = &fxt_figures[figures[i]];

		columns[i] = (struct fxt_column){
		        row->key, row->title, row->is_count ? FXT_COLUMN_COUNT : FXT_COLUMN_TIME, row->rank};
	}
	columns[0].key = columns[0].title = "spans";
	columns[OPEN] = (struct fxt_column){"open", "open", FXT_COLUMN_COUNT, 1};
	columns[NAME] = (struct fxt_column){"name", "async span", FXT_COLUMN_TEXT, 0};
	columns[CATEGORY] = (struct fxt_column){"category", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA};
	fxt_asyncs_sum(&asyncs, NULL, true, &sums);
	fxt_functions_to_ns(&sums, scan);
	if (sums.count > 1)
		qsort(sums.items, sums.count, sizeof(*sums.items), asyncs_most_time_first);
	if (sums.count > 0) {
		fxt_table_begin("async_spans", NULL, columns, COLUMNS);
		for (size_t i = 0; i < sums.count && i < limit; i++)
			asyncs_row(scan, &asyncs, &sums.items[i]);
		fxt_table_end();
	}
	if (asyncs.ends_without_begin > 0)
		fxt_print_note("%" PRIu64 " async span%s ended without a begin", asyncs.ends_without_begin,
		        fxt_plural(asyncs.ends_without_begin));
	fxt_functions_free(&sums);
	fxt_asyncs_free(&asyncs);
	return is_whole;
}
