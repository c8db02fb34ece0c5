/*
 * Tables in JSON and CSV; those for people go to layout.c. Runs on the main thread. Rows
 * are printed as they come and never kept.
 */
#include "table.h"

#include <math.h>
#include <stdio.h>
#include "csv.h"
#include "json.h"
#include "layout.h"
#include "markdown.h"

static struct {
	const char *name, *of;
	const struct fxt_column *columns;
	size_t count;
	uint64_t printed; /* rows */
} table;

/* ---- headers ---- */

/* The number of columns for programs: all except a last one without a key. */
static size_t table_raw_count(void)
{
	return table.count > 0 && !table.columns[table.count - 1].key ? table.count - 1 : table.count;
}

static void table_csv_header(void)
{
	fputs(table.of ? "table,of" : "table", stdout);
	for (size_t i = 0; i < table_raw_count(); i++) {
		putchar(',');
		fxt_csv_title(stdout, table.columns[i].key);
	}
	putchar('\n');
}

static void table_json_header(void)
{
	static const char *const kinds[] = {[FXT_COLUMN_TEXT] = "text",
	        [FXT_COLUMN_COUNT] = "count",
	        [FXT_COLUMN_TIME] = "ns",
	        [FXT_COLUMN_BYTES] = "bytes",
	        [FXT_COLUMN_SHARE] = "share",
	        [FXT_COLUMN_VALUE] = "value"};

	printf("%s\n{\"name\": \"%s\"", fxt_print_next_table() ? "" : ",", table.name);
	if (table.of) {
		printf(", \"of\": ");
		fxt_json_string(stdout, fxt_span(table.of));
	}
	printf(", \"columns\": [");
	for (size_t i = 0; i < table_raw_count(); i++) {
		printf("%s{\"key\": ", i > 0 ? ", " : "");
		fxt_json_string(stdout, fxt_span(table.columns[i].key));
		printf(", \"kind\": \"%s\"}", kinds[table.columns[i].kind]);
	}
	printf("], \"rows\": [");
}

/* ---- rows ---- */

/* Prints the text of a number. In JSON an infinite number has no text. */
static void table_digits(struct fxt_span text)
{
	bool is_finite = text.bytes > 0 && text.data[text.bytes - 1] != 'f';

	if (fxt_print_format() == FXT_FORMAT_JSON && !is_finite)
		fputs("null", stdout);
	else
		fwrite(text.data, 1, text.bytes, stdout);
}

/* Prints a cell for programs: numbers are printed in full; an unknown value is empty in
 * CSV. */
static double table_picoseconds(double ns)
{
	return ns == floor(ns) ? ns : round(ns * 1000) / 1000;
}

/* Prints a cell for programs: times are whole numbers; an unknown value is empty in CSV. */
static void table_raw_cell(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	bool is_json = fxt_print_format() == FXT_FORMAT_JSON;

	if (!cell->is_known)
		fputs(is_json ? "null" : "", stdout);
	else if (!fxt_column_has_texts(kind))
		fxt_json_number(
		        stdout, kind == FXT_COLUMN_TIME ? table_picoseconds(cell->number) : cell->number);
	else if (cell->is_digits)
		table_digits(cell->text);
	else if (is_json)
		fxt_json_string(stdout, cell->text);
	else
		fxt_csv_text(stdout, cell->text);
}

static void table_raw_row(const struct fxt_cell *cells)
{
	bool is_json = fxt_print_format() == FXT_FORMAT_JSON;

	if (is_json) {
		fputs(table.printed > 0 ? ",\n  {" : "\n  {", stdout);
	} else {
		fputs(table.name, stdout);
		if (table.of) {
			putchar(',');
			fxt_csv_text(stdout, fxt_span(table.of));
		}
	}
	for (size_t i = 0; i < table_raw_count(); i++) {
		if (is_json) {
			fputs(i > 0 ? ", " : "", stdout);
			fxt_json_string(stdout, fxt_span(table.columns[i].key));
			fputs(": ", stdout);
		} else {
			putchar(',');
		}
		table_raw_cell(table.columns[i].kind, &cells[i]);
	}
	fputs(is_json ? "}" : "\n", stdout);
	table.printed++;
}

/* ---- tables ---- */

void fxt_table_begin(const char *name, const char *of, const struct fxt_column *columns, size_t count)
{
	table.name = name;
	table.of = of;
	table.columns = columns;
	table.count = count;
	table.printed = 0;
	switch (fxt_print_format()) {
	case FXT_FORMAT_TEXT:
		(fxt_print_is_markdown() ? fxt_markdown_begin : fxt_layout_begin)(of, columns, count);
		break;
	case FXT_FORMAT_JSON:
		table_json_header();
		break;
	case FXT_FORMAT_CSV:
		table_csv_header();
		break;
	}
}

void fxt_table_row(const struct fxt_cell *cells)
{
	if (fxt_print_format() == FXT_FORMAT_TEXT)
		(fxt_print_is_markdown() ? fxt_markdown_row : fxt_layout_row)(cells);
	else
		table_raw_row(cells);
}

void fxt_table_end(void)
{
	if (fxt_print_format() == FXT_FORMAT_TEXT && !fxt_print_is_markdown())
		fxt_layout_end();
	else if (fxt_print_format() == FXT_FORMAT_JSON)
		fputs("]}", stdout);
}
