#include "table.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "commands.h"
#include "csv.h"
#include "json.h"
#include "reader/index.h"
#include "reader/text.h"
#include "terminal.h"

enum {
	ROWS = 1000,        /* that are looked at before the first is shown */
	LEAST_COLUMNS = 24, /* of a text; before it is cut below that, columns are left out */
	GAP = 2             /* columns between two columns */
};

/* ---- the document ---- */

/* Members of a trace that JSON has behind its tables. */
struct members {
	FILE *file;
	char *text;
	size_t bytes;
};

static struct {
	const char *command;
	enum fxt_format format;
	const char *trace; /* that is being told of, or NULL */
	size_t traces;
	size_t tables; /* of the trace */
	struct members facts, notes;
} document;

static void print_begin_members(struct members *members)
{
	members->file = open_memstream(&members->text, &members->bytes);
	if (!members->file)
		fxt_out_of_memory();
}

static void print_end_members(struct members *members)
{
	fclose(members->file);
	fputs(members->text, stdout);
	free(members->text);
	*members = (struct members){0};
}

/* Where the next member goes. */
static FILE *print_next_member(struct members *members)
{
	if (ftell(members->file) > 0)
		fputs(", ", members->file);
	return members->file;
}

void fxt_print_begin(const char *command, enum fxt_format format)
{
	document.command = command;
	document.format = format;
	document.trace = NULL;
	document.traces = 0;
}

static void print_end_trace(void)
{
	if (document.format == FXT_FORMAT_JSON && document.trace) {
		printf("], \"facts\": {");
		print_end_members(&document.facts);
		printf("}, \"notes\": [");
		print_end_members(&document.notes);
		printf("]}");
	}
	document.trace = NULL;
}

void fxt_print_trace(const char *name)
{
	print_end_trace();
	document.trace = name;
	document.tables = 0;
	if (document.traces == 0)
		fxt_terminal_page();
	if (document.format == FXT_FORMAT_JSON) {
		if (document.traces == 0)
			printf("{\"schema\": \"fxt.%s/1\", \"traces\": [", document.command);
		printf("%s\n{\"file\": ", document.traces > 0 ? "," : "");
		fxt_json_string(stdout, fxt_span(name));
		printf(", \"tables\": [");
		print_begin_members(&document.facts);
		print_begin_members(&document.notes);
	}
	document.traces++;
}

/* The line that a format makes; to be freed. */
static char *print_format(const char *format, va_list values)
{
	char *line;

	if (vasprintf(&line, format, values) < 0)
		fxt_out_of_memory();
	return line;
}

void fxt_print_line(const char *format, ...)
{
	va_list values;

	if (document.format != FXT_FORMAT_TEXT)
		return;
	va_start(values, format);
	char *line = print_format(format, values);

	va_end(values);
	fxt_print_text(fxt_span(line));
	putchar('\n');
	free(line);
}

void fxt_print_note(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *line = print_format(format, values);

	va_end(values);
	if (document.format == FXT_FORMAT_JSON) {
		fxt_json_string(print_next_member(&document.notes), fxt_span(line));
	} else if (document.format == FXT_FORMAT_CSV) {
		fprintf(stderr, "fxt: %s: ", document.trace);
		fxt_write_text(stderr, fxt_span(line));
		putc('\n', stderr);
	} else {
		putchar('\n');
		fxt_print_text(fxt_span(line));
		putchar('\n');
	}
	free(line);
}

void fxt_print_fact(const char *key, double number)
{
	if (document.format != FXT_FORMAT_JSON)
		return;
	fprintf(print_next_member(&document.facts), "\"%s\": ", key);
	fxt_json_number(document.facts.file, number);
}

void fxt_print_fact_text(const char *key, struct fxt_span text)
{
	if (document.format != FXT_FORMAT_JSON)
		return;
	fprintf(print_next_member(&document.facts), "\"%s\": ", key);
	fxt_json_string(document.facts.file, text);
}

void fxt_print_end(void)
{
	print_end_trace();
	if (document.format == FXT_FORMAT_JSON && document.traces > 0)
		printf("\n]}\n");
	document.format = FXT_FORMAT_TEXT;
}

/* ---- cells ---- */

/* A number as people read it. */
struct table_number_text {
	char text[32];
};

static struct table_number_text table_number_text(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	struct table_number_text result;

	if (!cell->is_known)
		snprintf(result.text, sizeof(result.text), "-");
	else if (kind == FXT_COLUMN_TIME)
		snprintf(result.text, sizeof(result.text), "%s", fxt_time_text(cell->number).text);
	else if (kind == FXT_COLUMN_BYTES)
		snprintf(result.text, sizeof(result.text), "%s", fxt_bytes_text(cell->number).text);
	else if (kind == FXT_COLUMN_SHARE)
		snprintf(result.text, sizeof(result.text), "%.1f%%", 100 * cell->number);
	else
		snprintf(result.text, sizeof(result.text), "%.0f", cell->number);
	return result;
}

static bool table_has_texts(enum fxt_column_kind kind)
{
	return kind == FXT_COLUMN_TEXT || kind == FXT_COLUMN_VALUE;
}

static unsigned table_columns_of(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	if (!cell->is_known || !table_has_texts(kind))
		return (unsigned)strlen(table_number_text(kind, cell).text);
	return cell->indent + fxt_text_columns(cell->text) + fxt_text_columns(cell->remark);
}

/* Of the texts of numbers those of infinite ones are no numbers in JSON. */
static void table_digits(struct fxt_span text)
{
	bool is_finite = text.bytes > 0 && text.data[text.bytes - 1] != 'f';

	if (document.format == FXT_FORMAT_JSON && !is_finite)
		fputs("null", stdout);
	else
		fwrite(text.data, 1, text.bytes, stdout);
}

/* Averages and percentiles are not as exact as a double's digits look. */
static double table_picoseconds(double ns)
{
	return ns == floor(ns) ? ns : round(ns * 1000) / 1000;
}

/* For programs: whole numbers, and what is not known is empty in CSV. */
static void table_raw_cell(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	bool is_json = document.format == FXT_FORMAT_JSON;

	if (!cell->is_known)
		fputs(is_json ? "null" : "", stdout);
	else if (!table_has_texts(kind))
		fxt_json_number(
		        stdout, kind == FXT_COLUMN_TIME ? table_picoseconds(cell->number) : cell->number);
	else if (cell->is_digits)
		table_digits(cell->text);
	else if (is_json)
		fxt_json_string(stdout, cell->text);
	else
		fxt_csv_text(stdout, cell->text);
}

/* ---- tables ---- */

static struct {
	const char *name, *of;
	const struct fxt_column *columns;
	size_t count;
	struct fxt_cell *cells; /* of the rows that are not shown yet */
	size_t rows, room;
	unsigned *widths; /* 0: left out */
	bool has_header;
	uint64_t printed;
} table;

/* Columns that programs get: all but a last one without a key. */
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

	printf("%s\n{\"name\": \"%s\"", document.tables > 0 ? "," : "", table.name);
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

void fxt_table_begin(const char *name, const char *of, const struct fxt_column *columns, size_t count)
{
	table.name = name;
	table.columns = columns;
	table.count = count;
	table.of = of;
	table.rows = 0;
	table.printed = 0;
	table.has_header = false;
	table.widths = fxt_allocate(count * sizeof(*table.widths));
	if (document.format == FXT_FORMAT_CSV)
		table_csv_header();
	else if (document.format == FXT_FORMAT_JSON)
		table_json_header();
	document.tables++;
}

/* ---- widths ---- */

static bool table_is_shown(size_t column)
{
	return table.widths[column] > 0;
}

static unsigned table_whole_width(void)
{
	unsigned width = 0;

	for (size_t i = 0; i < table.count; i++)
		width += table_is_shown(i) ? table.widths[i] + (width > 0 ? GAP : 0) : 0;
	return width;
}

/* The text that takes most; `count` if there is none wider than `least`. */
static size_t table_widest_text(unsigned least)
{
	size_t widest = table.count;

	for (size_t i = 0; i < table.count; i++)
		if (table.columns[i].kind == FXT_COLUMN_TEXT && table.widths[i] > least &&
		        (widest == table.count || table.widths[i] > table.widths[widest]))
			widest = i;
	return widest;
}

/* Takes off the widest texts what is too much. Returns whether that was enough. */
static bool table_cut_texts(unsigned least)
{
	unsigned most = fxt_terminal()->columns;

	while (table_whole_width() > most) {
		size_t widest = table_widest_text(least);

		if (widest == table.count)
			return false;
		table.widths[widest]--;
	}
	return true;
}

static size_t table_last_ranked(void)
{
	size_t last = table.count;

	for (size_t i = 0; i < table.count; i++)
		if (table_is_shown(i) && table.columns[i].rank > 0 &&
		        (last == table.count || table.columns[i].rank >= table.columns[last].rank))
			last = i;
	return last;
}

static void table_find_widths(void)
{
	for (size_t i = 0; i < table.count; i++) {
		const struct fxt_column *column = &table.columns[i];
		unsigned width = fxt_text_columns(fxt_span(column->title));

		for (size_t row = 0; row < table.rows; row++) {
			unsigned columns =
			        table_columns_of(column->kind, &table.cells[row * table.count + i]);

			width = columns > width ? columns : width;
		}
		table.widths[i] = column->rank == FXT_COLUMN_DATA ? 0 : width > 0 ? width : 1;
	}
	while (!table_cut_texts(LEAST_COLUMNS)) {
		size_t last = table_last_ranked();

		if (last == table.count)
			break;
		table.widths[last] = 0;
	}
	table_cut_texts(1);
}

/* ---- for people ---- */

static size_t table_last_shown(void)
{
	size_t last = 0;

	for (size_t i = 0; i < table.count; i++)
		last = table_is_shown(i) ? i : last;
	return last;
}

static void table_blanks(unsigned count)
{
	printf("%*s", (int)count, "");
}

/* A text in its column: aligned to the left, and cut on a terminal alone. The last one needs no blanks. */
static void table_text_cell(const struct fxt_cell *cell, unsigned width, bool is_last)
{
	bool is_cut = fxt_terminal()->is_terminal;
	unsigned remark = fxt_text_columns(cell->remark), indent = cell->indent, used;

	if (is_cut && indent > width / 2)
		indent = width / 2;
	if (is_cut && remark + indent >= width)
		remark = 0;
	table_blanks(indent);
	used = indent + fxt_write_cut(stdout, cell->text, is_cut ? width - indent - remark : UINT_MAX);
	if (remark > 0) {
		fxt_print_text(cell->remark);
		used += remark;
	}
	if (!is_last && used < width)
		table_blanks(width - used);
}

/* The colour of a share, where there are colours. */
static const char *table_colour_of(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	if (kind != FXT_COLUMN_SHARE || !fxt_terminal()->has_colours || !cell->is_known)
		return NULL;
	return cell->number >= 0.2 ? "\x1b[31m" : cell->number >= 0.05 ? "\x1b[33m" : NULL;
}

static void table_cell(size_t column, const struct fxt_cell *cell, bool is_last)
{
	enum fxt_column_kind kind = table.columns[column].kind;
	const char *colour = table_colour_of(kind, cell);

	if (kind == FXT_COLUMN_VALUE && cell->is_known) {
		unsigned columns = fxt_text_columns(cell->text), width = table.widths[column];

		table_blanks(columns < width ? width - columns : 0);
		/* A number that lacks its middle would be another number. */
		fxt_write_cut(stdout, cell->text,
		        fxt_terminal()->is_terminal && !cell->is_digits ? width : UINT_MAX);
		return;
	}
	if (kind == FXT_COLUMN_TEXT && cell->is_known) {
		table_text_cell(cell, table.widths[column], is_last);
		return;
	}
	fputs(colour ? colour : "", stdout);
	printf(kind == FXT_COLUMN_TEXT ? "%-*s" : "%*s", is_last ? 0 : (int)table.widths[column],
	        table_number_text(kind, cell).text);
	fputs(colour ? "\x1b[m" : "", stdout);
}

static void table_print_row(const struct fxt_cell *cells)
{
	size_t last = table_last_shown();
	bool is_first = true;

	for (size_t i = 0; i <= last; i++) {
		if (!table_is_shown(i))
			continue;
		table_blanks(is_first ? 0 : GAP);
		table_cell(i, &cells[i], i == last && table.columns[i].kind == FXT_COLUMN_TEXT);
		is_first = false;
	}
	putchar('\n');
}

static void table_title(const struct fxt_column *column, unsigned width, bool is_last)
{
	struct fxt_span title = fxt_span(column->title);
	unsigned columns = fxt_text_columns(title), blanks = columns < width ? width - columns : 0;

	if (column->kind != FXT_COLUMN_TEXT)
		table_blanks(blanks);
	fxt_write_cut(stdout, title, width);
	if (column->kind == FXT_COLUMN_TEXT && !is_last)
		table_blanks(blanks);
}

static void table_header(void)
{
	bool has_colours = fxt_terminal()->has_colours, is_first = true;
	size_t last = table_last_shown();

	putchar('\n');
	if (table.of) {
		fxt_print_text(fxt_span(table.of));
		putchar('\n');
	}
	fputs(has_colours ? "\x1b[1m" : "", stdout);
	for (size_t i = 0; i <= last; i++) {
		const struct fxt_column *column = &table.columns[i];

		if (!table_is_shown(i))
			continue;
		table_blanks(is_first ? 0 : GAP);
		table_title(column, table.widths[i], i == last);
		is_first = false;
	}
	fputs(has_colours ? "\x1b[m\n" : "\n", stdout);
}

static void table_left_out(void)
{
	const char *before = "left out, for the terminal is narrow: ";

	for (size_t i = 0; i < table.count; i++) {
		if (table_is_shown(i) || table.columns[i].rank == FXT_COLUMN_DATA)
			continue;
		printf("%s%s", before, table.columns[i].title);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
}

/* ---- rows ---- */

static void table_flush(void)
{
	if (!table.has_header && table.rows > 0) {
		table_find_widths();
		table_header();
		table.has_header = true;
	}
	for (size_t i = 0; i < table.rows; i++)
		table_print_row(&table.cells[i * table.count]);
	for (size_t i = 0; i < table.rows * table.count; i++) {
		free((char *)table.cells[i].text.data);
		free((char *)table.cells[i].remark.data);
	}
	table.rows = 0;
}

static struct fxt_span table_keep_text(struct fxt_span text)
{
	char *copy = NULL;

	if (text.bytes > 0) {
		copy = fxt_allocate(text.bytes);
		memcpy(copy, text.data, text.bytes);
	}
	return (struct fxt_span){copy, text.bytes};
}

static void table_keep_row(const struct fxt_cell *cells)
{
	for (size_t i = 0; i < table.count; i++) {
		struct fxt_cell *kept;

		fxt_make_room(table.cells, table.rows * table.count + i, table.room);
		kept = &table.cells[table.rows * table.count + i];
		*kept = cells[i];
		kept->text = table_keep_text(cells[i].text);
		kept->remark = table_keep_text(cells[i].remark);
	}
	table.rows++;
}

static void table_raw_row(const struct fxt_cell *cells)
{
	bool is_json = document.format == FXT_FORMAT_JSON;

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

void fxt_table_row(const struct fxt_cell *cells)
{
	if (document.format != FXT_FORMAT_TEXT) {
		table_raw_row(cells);
	} else if (table.has_header) {
		table_print_row(cells);
	} else {
		table_keep_row(cells);
		if (table.rows == ROWS)
			table_flush();
	}
}

void fxt_table_end(void)
{
	if (document.format == FXT_FORMAT_JSON) {
		fputs("]}", stdout);
	} else if (document.format == FXT_FORMAT_TEXT) {
		table_flush();
		if (table.has_header)
			table_left_out();
	}
	free(table.cells);
	free(table.widths);
	table.cells = NULL;
	table.widths = NULL;
	table.room = 0;
}
