/*
 * Prints a table for people: finds the widths of columns from the first rows, leaves out
 * columns and cuts texts on narrow terminals. Runs on the main thread. It must not keep
 * more rows than those that decide the widths.
 */
#include "layout.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/index.h"
#include "reader/trace/text.h"
#include "terminal.h"

enum {
	ROWS = 1000,       /* rows that decide the widths, before the first is shown */
	TEXT_COLUMNS = 80, /* width of a text column if nothing is cut */
	INDENT_MOST = 80   /* the same for an indentation */
};

struct fxt_number_text fxt_number_text(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	const char *before = cell->is_least ? "≥ " : "";
	struct fxt_number_text result;

	if (!cell->is_known)
		snprintf(result.text, sizeof(result.text), "%s", cell->is_blank ? "" : "-");
	else if (kind == FXT_COLUMN_TIME)
		snprintf(result.text, sizeof(result.text), "%s%s", before, fxt_time_text(cell->number).text);
	else if (kind == FXT_COLUMN_BYTES)
		snprintf(result.text, sizeof(result.text), "%s%s", before, fxt_bytes_text(cell->number).text);
	else if (kind == FXT_COLUMN_SHARE)
		snprintf(result.text, sizeof(result.text), "%s%.1f%%", before, 100 * cell->number);
	else
		snprintf(result.text, sizeof(result.text), "%s%.0f", before, cell->number);
	return result;
}

static unsigned layout_columns_of(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	if (!cell->is_known || !fxt_column_has_texts(kind))
		return fxt_text_columns(fxt_span(fxt_number_text(kind, cell).text));
	return cell->indent + fxt_text_columns(cell->text) + fxt_text_columns(cell->remark);
}

/* The current table. */
static struct {
	const char *of;
	const struct fxt_column *columns;
	size_t count;
	struct fxt_cell *cells; /* of the rows that are not shown yet */
	size_t rows, room;
	unsigned *widths; /* 0: left out */
	bool has_header;
} layout;

/* ---- widths ---- */

static bool layout_is_shown(size_t column)
{
	return layout.widths[column] > 0;
}

static unsigned layout_whole_width(void)
{
	unsigned width = 0;

	for (size_t i = 0; i < layout.count; i++)
		width += layout_is_shown(i) ? layout.widths[i] + (width > 0 ? FXT_LAYOUT_GAP : 0) : 0;
	return width;
}

/* Returns the widest text column; `count` if none is wider than `least`. */
static size_t layout_widest_text(unsigned least)
{
	size_t widest = layout.count;

	for (size_t i = 0; i < layout.count; i++)
		if (layout.columns[i].kind == FXT_COLUMN_TEXT && layout.widths[i] > least &&
		        (widest == layout.count || layout.widths[i] > layout.widths[widest]))
			widest = i;
	return widest;
}

/* Takes the excess width off the widest text columns. Returns true if that was enough. */
static bool layout_cut_texts(unsigned least)
{
	unsigned most = fxt_terminal()->columns;

	while (layout_whole_width() > most) {
		size_t widest = layout_widest_text(least);

		if (widest == layout.count)
			return false;
		layout.widths[widest]--;
	}
	return true;
}

static size_t layout_last_ranked(void)
{
	size_t last = layout.count;

	for (size_t i = 0; i < layout.count; i++)
		if (layout_is_shown(i) && layout.columns[i].rank > 0 &&
		        (last == layout.count || layout.columns[i].rank >= layout.columns[last].rank))
			last = i;
	return last;
}

/* Returns the width that a column needs for all its cells. If nothing is cut, a text
 * column is limited to TEXT_COLUMNS, so that one long text does not spread all lines. */
static unsigned layout_width_of(size_t at)
{
	const struct fxt_column *column = &layout.columns[at];
	unsigned width = fxt_text_columns(fxt_span(column->title));

	for (size_t row = 0; row < layout.rows; row++) {
		unsigned columns = layout_columns_of(column->kind, &layout.cells[row * layout.count + at]);

		width = columns > width ? columns : width;
	}
	if (column->kind == FXT_COLUMN_TEXT && !fxt_terminal()->is_terminal && width > TEXT_COLUMNS)
		return TEXT_COLUMNS;
	return width > 0 ? width : 1;
}

/* The deepest indentation that is kept; deeper texts may use half a column for it. */
static unsigned layout_deepest_indent(void)
{
	unsigned indent = 0;

	for (size_t i = 0; i < layout.rows * layout.count; i++)
		if (layout.cells[i].indent > indent)
			indent = layout.cells[i].indent;
	return indent < FXT_LAYOUT_LEAST ? indent : FXT_LAYOUT_LEAST;
}

static void layout_find_widths(void)
{
	unsigned *whole = fxt_allocate(layout.count * sizeof(*whole)), indent = layout_deepest_indent();

	for (size_t i = 0; i < layout.count; i++)
		whole[i] = layout.columns[i].rank == FXT_COLUMN_DATA ? 0 : layout_width_of(i);
	memcpy(layout.widths, whole, layout.count * sizeof(*whole));
	while (!layout_cut_texts(FXT_LAYOUT_LEAST + indent)) {
		size_t last = layout_last_ranked();

		if (last == layout.count)
			break;
		/* Give the width of the removed column to the texts. */
		whole[last] = 0;
		memcpy(layout.widths, whole, layout.count * sizeof(*whole));
	}
	if (!layout_cut_texts(1)) {
		/* Lines stay wider than the terminal, as for an SQL statement with many
		 * columns. */
		memcpy(layout.widths, whole, layout.count * sizeof(*whole));
		layout_cut_texts(FXT_LAYOUT_LEAST + indent);
	}
	free(whole);
}

/* ---- for people ---- */

static size_t layout_last_shown(void)
{
	size_t last = 0;

	for (size_t i = 0; i < layout.count; i++)
		last = layout_is_shown(i) ? i : last;
	return last;
}

static void layout_blanks(unsigned count)
{
	printf("%*s", (int)count, "");
}

unsigned fxt_layout_indent(const struct fxt_cell *cell, unsigned width, char level[FXT_LAYOUT_LEVEL_BYTES])
{
	unsigned most = width / 2;

	level[0] = 0;
	if (cell->indent <= most)
		return cell->indent;
	if (snprintf(level, FXT_LAYOUT_LEVEL_BYTES, "%u ", cell->indent / FXT_INDENT) > (int)most)
		level[0] = 0;
	return most;
}

/* Prints a text in its column, aligned to the left, and cut only on a terminal. The last
 * column is not padded. */
static void layout_text_cell(const struct fxt_cell *cell, unsigned width, bool is_last)
{
	bool is_cut = fxt_terminal()->is_terminal;
	char level[FXT_LAYOUT_LEVEL_BYTES];
	unsigned remark = fxt_text_columns(cell->remark), used;
	unsigned indent = fxt_layout_indent(cell, is_cut ? width : 2 * INDENT_MOST, level);

	if (is_cut && remark + indent >= width)
		remark = 0;
	printf("%*s", (int)indent, level);
	used = indent + fxt_write_cut(stdout, cell->text, is_cut ? width - indent - remark : UINT_MAX);
	if (remark > 0) {
		fxt_print_text(cell->remark);
		used += remark;
	}
	if (!is_last && used < width)
		layout_blanks(width - used);
}

/* The colour of a share, if there are colours. */
static const char *layout_colour_of(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	if (kind != FXT_COLUMN_SHARE || !fxt_terminal()->has_colours || !cell->is_known)
		return NULL;
	return cell->number >= 0.2 ? "\x1b[31m" : cell->number >= 0.05 ? "\x1b[33m" : NULL;
}

static void layout_cell(size_t column, const struct fxt_cell *cell, bool is_last)
{
	enum fxt_column_kind kind = layout.columns[column].kind;
	const char *colour = layout_colour_of(kind, cell);

	if (kind == FXT_COLUMN_VALUE && cell->is_known) {
		unsigned columns = fxt_text_columns(cell->text), width = layout.widths[column];

		layout_blanks(columns < width ? width - columns : 0);
		/* Numbers are not cut: without its middle a number would be another
		 * number. */
		fxt_write_cut(stdout, cell->text,
		        fxt_terminal()->is_terminal && !cell->is_digits ? width : UINT_MAX);
		return;
	}
	if (kind == FXT_COLUMN_TEXT && cell->is_known) {
		layout_text_cell(cell, layout.widths[column], is_last);
		return;
	}
	struct fxt_number_text number = fxt_number_text(kind, cell);
	unsigned columns = fxt_text_columns(fxt_span(number.text));
	unsigned blanks = !is_last && columns < layout.widths[column] ? layout.widths[column] - columns : 0;

	layout_blanks(kind == FXT_COLUMN_TEXT ? 0 : blanks);
	printf("%s%s%s", colour ? colour : "", number.text, colour ? "\x1b[m" : "");
	layout_blanks(kind == FXT_COLUMN_TEXT ? blanks : 0);
}

static void layout_print_row(const struct fxt_cell *cells)
{
	size_t last = layout_last_shown();
	bool is_first = true;

	for (size_t i = 0; i <= last; i++) {
		if (!layout_is_shown(i))
			continue;
		layout_blanks(is_first ? 0 : FXT_LAYOUT_GAP);
		layout_cell(i, &cells[i], i == last && layout.columns[i].kind == FXT_COLUMN_TEXT);
		is_first = false;
	}
	putchar('\n');
}

static void layout_title(const struct fxt_column *column, unsigned width, bool is_last)
{
	struct fxt_span title = fxt_span(column->title);
	unsigned columns = fxt_text_columns(title), blanks = columns < width ? width - columns : 0;

	if (column->kind != FXT_COLUMN_TEXT)
		layout_blanks(blanks);
	fxt_write_cut(stdout, title, width);
	if (column->kind == FXT_COLUMN_TEXT && !is_last)
		layout_blanks(blanks);
}

static void layout_header(void)
{
	bool has_colours = fxt_terminal()->has_colours, is_first = true;
	size_t last = layout_last_shown();

	putchar('\n');
	if (layout.of) {
		fxt_print_text(fxt_span(layout.of));
		putchar('\n');
	}
	fputs(has_colours ? "\x1b[1m" : "", stdout);
	for (size_t i = 0; i <= last; i++) {
		const struct fxt_column *column = &layout.columns[i];

		if (!layout_is_shown(i))
			continue;
		layout_blanks(is_first ? 0 : FXT_LAYOUT_GAP);
		layout_title(column, layout.widths[i], i == last);
		is_first = false;
	}
	fputs(has_colours ? "\x1b[m\n" : "\n", stdout);
}

static void layout_omitted(void)
{
	const char *before = "columns that do not fit: ";

	for (size_t i = 0; i < layout.count; i++) {
		if (layout_is_shown(i) || layout.columns[i].rank == FXT_COLUMN_DATA)
			continue;
		printf("%s%s", before, layout.columns[i].title);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
}

/* ---- rows ---- */

static void layout_flush(void)
{
	if (!layout.has_header && layout.rows > 0) {
		layout_find_widths();
		layout_header();
		layout.has_header = true;
	}
	for (size_t i = 0; i < layout.rows; i++)
		layout_print_row(&layout.cells[i * layout.count]);
	for (size_t i = 0; i < layout.rows * layout.count; i++) {
		free((char *)layout.cells[i].text.data);
		free((char *)layout.cells[i].remark.data);
	}
	layout.rows = 0;
}

static struct fxt_span layout_keep_text(struct fxt_span text)
{
	char *copy = NULL;

	if (text.bytes > 0) {
		copy = fxt_allocate(text.bytes);
		memcpy(copy, text.data, text.bytes);
	}
	return (struct fxt_span){copy, text.bytes};
}

static void layout_keep_row(const struct fxt_cell *cells)
{
	for (size_t i = 0; i < layout.count; i++) {
		struct fxt_cell *kept;

		fxt_make_room(layout.cells, layout.rows * layout.count + i, layout.room);
		kept = &layout.cells[layout.rows * layout.count + i];
		*kept = cells[i];
		kept->text = layout_keep_text(cells[i].text);
		kept->remark = layout_keep_text(cells[i].remark);
	}
	layout.rows++;
}

void fxt_layout_begin(const char *of, const struct fxt_column *columns, size_t count)
{
	layout.of = of;
	layout.columns = columns;
	layout.count = count;
	layout.rows = 0;
	layout.has_header = false;
	layout.widths = fxt_allocate(count * sizeof(*layout.widths));
}

void fxt_layout_row(const struct fxt_cell *cells)
{
	if (layout.has_header) {
		layout_print_row(cells);
		return;
	}
	layout_keep_row(cells);
	if (layout.rows == ROWS)
		layout_flush();
}

void fxt_layout_end(void)
{
	layout_flush();
	if (layout.has_header)
		layout_omitted();
	free(layout.cells);
	free(layout.widths);
	layout.cells = NULL;
	layout.widths = NULL;
	layout.room = 0;
}
