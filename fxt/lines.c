/*
 * The lines of fxt report and the functions view of fxt tui: their order, cells and
 * histograms. Runs on the main thread, on sums that are complete. Changes nothing in the
 * sums.
 */
#include "lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "options.h"
#include "reader/trace/text.h"
#include "table.h"

/* The name of a group's lines, and of their table. */
static const struct {
	const char *title, *table;
} kinds[FXT_GROUPS] = {
        [FXT_GROUP_FUNCTION] = {"function", "functions"},
        [FXT_GROUP_MODULE] = {"module", "modules"},
        [FXT_GROUP_FILE] = {"file", "files"},
        [FXT_GROUP_CATEGORY] = {"category", "categories"},
        [FXT_GROUP_THREAD] = {"thread", "threads_by_calls"},
        [FXT_GROUP_PROCESS] = {"process", "processes"},
        [FXT_GROUP_PROGRAM] = {"program", "programs"},
        [FXT_GROUP_ARGUMENT] = {"value", "values"},
        [FXT_GROUP_CALLERS] = {"caller", "callers"},
        [FXT_GROUP_CALLEES] = {"callee", "callees"},
};

static double lines_weight(const struct fxt_lines *l, const struct fxt_function *f)
{
	if (l->order == FXT_LINE_NAME)
		return 0;
	double figure = l->order == FXT_TOTAL  ? fxt_corrected_total(f, &l->cost).ns
	                : l->order == FXT_SELF ? fxt_corrected_self(f, &l->cost).ns
	                                       : fxt_function_figure(f, l->scan, (enum fxt_figure)l->order);

	return isnan(figure) ? 0 : figure;
}

/* Sorts by weight, heaviest first, then by name. */
static int lines_compare(const void *left, const void *right)
{
	const struct fxt_line *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return fxt_spans_compare(a->name, b->name);
}

/* The name of a line. */
static struct fxt_span lines_name(const struct fxt_lines *l, const struct fxt_function *f)
{
	return f->of_tracer ? l->scan->tables.strings[f->name] : fxt_groups_name(l->groups, l->scan, f->name);
}

enum { NAME_CELLS = FXT_LINE_CELLS - FXT_LINE_NAME, CORRECTED_CELLS = 5 };

/* Fills in the name, and where it comes from, as far as the trace says. */
static void lines_name_cells(const struct fxt_lines *l, const struct fxt_line *line,
        struct fxt_cell cells[NAME_CELLS], char remark[FXT_LINE_REMARK])
{
	const struct fxt_function *f = line->function;
	const struct fxt_origin *origin = NULL;
	const struct fxt_span *strings = l->scan->tables.strings;

	if (l->groups->group == FXT_GROUP_FUNCTION || l->groups->group >= FXT_GROUP_CALLERS)
		origin = fxt_origins_next(&l->scan->origins, f->name, NULL);
	for (unsigned i = 0; i < NAME_CELLS; i++)
		cells[i] = fxt_cell_unknown();
	cells[0] = fxt_cell_text(line->name);
	if (f->open > 0) {
		snprintf(remark, FXT_LINE_REMARK, " (%" PRIu64 " not ended)", f->open);
		cells[0].remark = fxt_span(remark);
	}
	cells[1] = fxt_cell_number((double)f->open);
	if (origin && origin->module != FXT_NOTHING)
		cells[2] = fxt_cell_text(strings[origin->module]);
	if (origin && origin->file != FXT_NOTHING)
		cells[3] = fxt_cell_text(strings[origin->file]);
	if (origin && origin->line > 0)
		cells[4] = fxt_cell_number(origin->line);
}

/* True if a line may lack calls. */
static bool lines_lack_calls(const struct fxt_lines *l, const struct fxt_function *f)
{
	return l->groups->group == FXT_GROUP_FUNCTION ? fxt_lacks_calls_of(l->scan, f->name)
	                                              : fxt_lacks_calls(l->scan);
}

void fxt_line_cells(const struct fxt_lines *l, const struct fxt_line *line,
        struct fxt_cell cells[FXT_LINE_CELLS], char remark[FXT_LINE_REMARK])
{
	const struct fxt_function *f = line->function;
	bool lacks_calls = !f->of_tracer && lines_lack_calls(l, f);

	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++) {
		cells[i] = fxt_cell_number(fxt_function_figure(f, l->scan, i));
		cells[i].is_least = lacks_calls && fxt_figures[i].loss == FXT_LOSES_LESS;
	}
	lines_name_cells(l, line, cells + FXT_LINE_NAME, remark);
}

static void lines_row(const struct fxt_lines *l, const struct fxt_line *line)
{
	struct fxt_cell cells[FXT_LINE_CELLS];
	char remark[FXT_LINE_REMARK];

	fxt_line_cells(l, line, cells, remark);
	fxt_table_row(cells);
}

static void lines_corrected_row(const struct fxt_lines *l, const struct fxt_line *line)
{
	const struct fxt_function *f = line->function;
	struct fxt_corrected total = fxt_corrected_total(f, &l->cost), self = fxt_corrected_self(f, &l->cost);
	struct fxt_cell cells[CORRECTED_CELLS + NAME_CELLS] = {fxt_cell_number((double)f->calls),
	        fxt_cell_number(total.ns), fxt_cell_number(total.error), fxt_cell_number(self.ns),
	        fxt_cell_number(self.error)};
	char remark[FXT_LINE_REMARK];

	cells[0].is_least = lines_lack_calls(l, f);
	lines_name_cells(l, line, cells + CORRECTED_CELLS, remark);
	fxt_table_row(cells);
}

/* Fills in the columns of a table with this title for its lines. Returns their number. */
static size_t lines_columns(
        const struct fxt_lines *l, struct fxt_column columns[FXT_LINE_CELLS], const char *title, bool times)
{
	static const struct fxt_column corrected_columns[CORRECTED_CELLS] = {
	        {"calls", "calls", FXT_COLUMN_COUNT, 0}, {"total_ns", "total", FXT_COLUMN_TIME, 0},
	        {"total_error_ns", "+/-", FXT_COLUMN_TIME, 1}, {"self_ns", "self", FXT_COLUMN_TIME, 0},
	        {"self_error_ns", "+/-", FXT_COLUMN_TIME, 1}};
	const struct fxt_column name_columns[NAME_CELLS] = {{"name", title, FXT_COLUMN_TEXT, 0},
	        {"not_ended", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
	        {"module", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
	        {"file", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
	        {"line", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};
	size_t count = times ? FXT_FIGURES : CORRECTED_CELLS;

	if (!times)
		memcpy(columns, corrected_columns, sizeof(corrected_columns));
	for (enum fxt_figure i = 0; times && i < FXT_FIGURES; i++) {
		const struct fxt_figure_row *figure = &fxt_figures[i];
		bool is_shown = figure->title && (l->has_switches || !figure->needs_switches);

		columns[i] = (struct fxt_column){figure->key, figure->title ? figure->title : "",
		        figure->is_count ? FXT_COLUMN_COUNT : FXT_COLUMN_TIME,
		        is_shown ? figure->rank : FXT_COLUMN_DATA};
	}
	memcpy(columns + count, name_columns, sizeof(name_columns));
	return count + NAME_CELLS;
}

void fxt_line_columns(const struct fxt_lines *l, struct fxt_column columns[FXT_LINE_CELLS])
{
	lines_columns(l, columns, kinds[l->groups->group].title, true);
}

struct fxt_line *fxt_lines_sort(
        const struct fxt_lines *l, const struct fxt_functions *functions, bool of_tracer, size_t *count)
{
	struct fxt_line *lines = fxt_allocate((functions->count + 1) * sizeof(*lines));

	*count = 0;
	for (size_t i = 0; i < functions->count; i++) {
		const struct fxt_function *f = &functions->items[i];

		if (f->of_tracer == of_tracer && f->calls > 0)
			lines[(*count)++] = (struct fxt_line){f, lines_weight(l, f), lines_name(l, f)};
	}
	qsort(lines, *count, sizeof(*lines), lines_compare);
	return lines;
}

/* Prints the distribution of durations: a row for each octave, or for a part of it if
 * there are few. */
static void lines_histogram(const struct fxt_lines *l, const struct fxt_line *line)
{
	static const struct fxt_column columns[] = {{"from_ns", "from", FXT_COLUMN_TIME, 0},
	        {"below_ns", "below", FXT_COLUMN_TIME, 0}, {"calls", "calls", FXT_COLUMN_COUNT, 0},
	        {"share", "share", FXT_COLUMN_SHARE, 0}, {NULL, "", FXT_COLUMN_TEXT, 0}};
	static const char bar[] = "########################################";
	const struct fxt_histogram *h = &line->function->times;
	uint32_t step = fxt_histogram_step(h, 24), first = h->first / step * step;
	double unit = (double)FXT_NS_PER_SECOND / (double)l->scan->rate.ticks_per_second;
	uint64_t most = 0;
	char *of = strndup(line->name.data, line->name.bytes);

	for (uint32_t at = first; at < h->first + h->room; at += step) {
		uint64_t calls = fxt_histogram_sum(h, at, at + step);

		most = calls > most ? calls : most;
	}
	fxt_table_begin("histogram", of, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t at = first; at < h->first + h->room; at += step) {
		uint64_t calls = fxt_histogram_sum(h, at, at + step);
		size_t length = most ? (size_t)((double)calls / (double)most * (sizeof(bar) - 1) + 0.5) : 0;

		if (calls == 0)
			continue;
		fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)fxt_histogram_bound(at) * unit),
		        fxt_cell_number((double)fxt_histogram_bound(at + step) * unit),
		        fxt_cell_number((double)calls),
		        fxt_cell_number((double)calls / (double)line->function->calls),
		        fxt_cell_text((struct fxt_span){bar, length})});
	}
	fxt_table_end();
	free(of);
}

void fxt_lines_print(
        const struct fxt_lines *l, const struct fxt_functions *functions, const char *of, bool of_tracer)
{
	bool times = of_tracer || !l->is_corrected;
	struct fxt_column columns[FXT_LINE_CELLS];
	const char *title = of_tracer ? "not calls: waits, alerts, children and the tracer itself"
	                              : kinds[l->groups->group].title;
	size_t column_count = lines_columns(l, columns, title, times), count;
	struct fxt_line *lines = fxt_lines_sort(l, functions, of_tracer, &count);

	count = count < l->limit ? count : (size_t)l->limit;
	fxt_table_begin(of_tracer ? "others" : kinds[l->groups->group].table, of, columns, column_count);
	for (size_t i = 0; i < count; i++) {
		if (times)
			lines_row(l, &lines[i]);
		else
			lines_corrected_row(l, &lines[i]);
	}
	fxt_table_end();
	for (size_t i = 0; l->has_histograms && !of_tracer && i < count; i++)
		if (lines[i].function->calls > 1)
			lines_histogram(l, &lines[i]);
	free(lines);
}

/* Returns the known place of a function in the source, or NULL. */
static const struct fxt_origin *lines_place(const struct fxt_lines *l, const struct fxt_function *f)
{
	const struct fxt_origin *origin = NULL;

	while ((origin = fxt_origins_next(&l->scan->origins, f->name, origin)))
		if (origin->file != FXT_NOTHING && origin->line > 0)
			return origin;
	return NULL;
}

size_t fxt_lines_print_places(const struct fxt_lines *l, const struct fxt_functions *functions)
{
	size_t count, unknown = 0;
	uint64_t printed = 0;
	struct fxt_line *lines = fxt_lines_sort(l, functions, false, &count);

	for (size_t i = 0; i < count && printed < l->limit; i++) {
		const struct fxt_function *f = lines[i].function;
		const struct fxt_origin *place = lines_place(l, f);

		if (!place) {
			unknown++;
			continue;
		}
		fxt_print_text(l->scan->tables.strings[place->file]);
		printf(":%" PRIu32 ": note: ", place->line);
		fxt_print_text(lines[i].name);
		printf(": %s call%s, %s total, %s self\n", fxt_calls_text(l->scan, f->calls).text,
		        fxt_plural(f->calls), fxt_time_text(fxt_corrected_total(f, &l->cost).ns).text,
		        fxt_time_text(fxt_corrected_self(f, &l->cost).ns).text);
		printed++;
	}
	free(lines);
	return unknown;
}
