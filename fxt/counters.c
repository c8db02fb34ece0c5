/*
 * fxt counters: the counters of a trace, a line and a small picture for each series.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "options.h"
#include "reader/stats/counters.h"

static const char help[] =
        "usage: fxt counters [OPTION]... [FILE]...\n"
        "\n"
        "Prints a line for each counter of a trace, and for each of its values:\n"
        "  samples    how often its value was said\n"
        "  first, last, min, max, mean\n"
        "             of these values\n"
        "  counter    its name, and its number and value's name if it has several\n"
        "  in time    its value from the begin to the end of the trace, between min and\n"
        "             max\n"
        "\n"
        "  -n, --limit=N        the first N lines\n" FXT_HELP_CHOICE FXT_HELP_FORMAT FXT_HELP_FILE;

static const struct fxt_column columns[] = {
        {"samples", "samples", FXT_COLUMN_COUNT, 1},
        {"first", "first", FXT_COLUMN_VALUE, 4},
        {"last", "last", FXT_COLUMN_VALUE, 0},
        {"min", "min", FXT_COLUMN_VALUE, 2},
        {"max", "max", FXT_COLUMN_VALUE, 0},
        {"mean", "mean", FXT_COLUMN_VALUE, 3},
        {"name", "counter", FXT_COLUMN_TEXT, 0},
        {"category", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"counter", "", FXT_COLUMN_VALUE, FXT_COLUMN_DATA},
        {"series", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"process", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {NULL, "in time", FXT_COLUMN_TEXT, 0},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns), NUMBERS = 5, NUMBER_BYTES = 48 };

static void counters_number(char text[NUMBER_BYTES], long double number)
{
	if (number == roundl(number) && fabsl(number) < 0x1p64L)
		snprintf(text, NUMBER_BYTES, "%.0Lf", number);
	else
		snprintf(text, NUMBER_BYTES, "%.*Lg", fxt_print_format() == FXT_FORMAT_TEXT ? 6 : 17, number);
}

/* Draws a counter with a character for each part of the time. */
static void counters_draw(const struct fxt_counter *counter, char text[4 * FXT_COUNTER_BINS + 1])
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	int level_of[FXT_COUNTER_BINS];

	fxt_counter_levels(counter, 8, level_of);
	for (size_t i = 0; i < FXT_COUNTER_BINS; i++)
		text = stpcpy(text, level_of[i] < 0 ? " " : bars[level_of[i]]);
}

/* Whether a neighbour has the same name, so that more than the name tells them apart. */
static bool counters_is_one_of_several(const struct fxt_counters *counters, size_t i)
{
	const struct fxt_counter *c = counters->items;

	return (i > 0 && c[i - 1].name == c[i].name) ||
	       (i + 1 < counters->count && c[i + 1].name == c[i].name);
}

static void counters_row(const struct fxt_scan *scan, const struct fxt_counters *counters, size_t i)
{
	const struct fxt_counter *c = &counters->items[i];
	const struct fxt_span *strings = scan->tables.strings;
	const long double numbers[NUMBERS] = {
	        c->first.value, c->last.value, c->min, c->max, c->sum / (long double)c->samples};
	char texts[NUMBERS][NUMBER_BYTES], picture[4 * FXT_COUNTER_BINS + 1] = "", remark[256] = "";
	char id[NUMBER_BYTES];
	struct fxt_cell cells[COLUMNS] = {fxt_cell_number((double)c->samples)};

	for (size_t j = 0; j < NUMBERS; j++) {
		counters_number(texts[j], numbers[j]);
		/* the mean of infinities may be no number */
		cells[1 + j] =
		        numbers[j] == numbers[j] ? fxt_cell_digits(fxt_span(texts[j])) : fxt_cell_unknown();
	}
	if (counters_is_one_of_several(counters, i))
		snprintf(remark, sizeof(remark), " %" PRIu64 " %.*s [%.*s]", c->id, (int)c->series.bytes,
		        c->series.data, (int)strings[c->category].bytes, strings[c->category].data);
	counters_draw(c, picture);
	snprintf(id, sizeof(id), "%" PRIu64, c->id);
	cells[6] = fxt_cell_text(strings[c->name]);
	cells[6].remark = fxt_span(remark);
	cells[7] = fxt_cell_text(strings[c->category]);
	cells[8] = fxt_cell_digits(fxt_span(id)); /* it may be an address */
	cells[9] = fxt_cell_text(c->series);
	cells[10] = fxt_cell_number((double)c->process);
	cells[11] = fxt_cell_text(fxt_span(picture));
	fxt_table_row(cells);
}

static int counters_answer(void *state, const char *name, struct fxt_scan *scan)
{
	const struct fxt_options *wanted = state;
	uint64_t limit = fxt_options_limit(wanted, UINT64_MAX);
	struct fxt_counters counters;
	bool is_whole = fxt_counters_read(&counters, scan, 0);

	fxt_print_line("%s: %zu series of counters", name, counters.count);
	fxt_table_begin("counters", NULL, columns, COLUMNS);
	for (size_t i = 0; i < counters.count && i < limit; i++)
		counters_row(scan, &counters, i);
	fxt_table_end();
	fxt_print_missing(scan);
	fxt_counters_free(&counters);
	return fxt_report_changed(name, is_whole);
}

int fxt_command_counters(int argc, char **argv)
{
	struct fxt_options wanted = {0};

	fxt_options_take_all(&wanted, argc, argv, help);
	return fxt_each_scan(argc, argv, &wanted, counters_answer, &wanted);
}
