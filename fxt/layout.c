/*
 * Prints a table for people: finds the widths of columns from the first rows, leaves out
 * columns and wraps texts on narrow terminals. Runs on the main thread. It must not keep
 * more rows than those that decide the widths.
 */
#include "layout.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/fold_names.h"
#include "reader/trace/index.h"
#include "reader/trace/text.h"
#include "terminal.h"

enum {
	ROWS = 1000,       /* rows that decide the widths, before the first is shown */
	TEXT_COLUMNS = 80, /* width of a text column if nothing is cut */
	INDENT_MOST = 80,  /* the same for an indentation */
	LINES_MOST = 16    /* of a wrapped text; a longer one loses its middle */
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
	unsigned *widths;           /* 0: left out */
	struct layout_lines *texts; /* of the row that is printed */
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

/* Blanks are printed before the text that follows them, so that no line ends in blanks. */
static unsigned blanks_due;

static void layout_blanks(unsigned count)
{
	blanks_due += count;
}

static void layout_print_blanks(void)
{
	printf("%*s", (int)blanks_due, "");
	blanks_due = 0;
}

static void layout_end_line(void)
{
	blanks_due = 0;
	putchar('\n');
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

/* ---- texts of several lines ---- */

/* A text by lines. */
struct layout_lines {
	struct fxt_span lines[LINES_MOST];
	unsigned count;         /* 0: the cell has no text */
	struct fxt_span remark; /* follows the last line */
	bool is_cut;            /* the last line loses its middle */
	char *memory;           /* of lines that are not the cell's; or NULL */
	unsigned indent;
	char level[FXT_LAYOUT_LEVEL_BYTES];
};

static void layout_wrap(struct layout_lines *l, struct fxt_span text, unsigned width)
{
	l->count = 0;
	do {
		struct fxt_span *line = &l->lines[l->count++];

		*line = text;
		if (l->count < LINES_MOST)
			line->bytes = fxt_text_first_line(text, width);
		text.data += line->bytes;
		text.bytes -= line->bytes;
		while (text.bytes > 0 && *text.data == ' ')
			text.data++, text.bytes--;
	} while (text.bytes > 0);
	l->is_cut = fxt_text_columns(l->lines[l->count - 1]) > width;
}

/* Splits a cell's text into lines. It stays whole where nothing is cut. On a terminal, one
 * that is too wide first loses the dispensable parts of its names. */
static void layout_split(struct layout_lines *l, const struct fxt_cell *cell, unsigned width)
{
	bool is_cut = fxt_terminal()->is_terminal;

	*l = (struct layout_lines){.lines = {cell->text}, .count = 1, .remark = cell->remark};
	l->indent = fxt_layout_indent(cell, is_cut ? width : 2 * INDENT_MOST, l->level);
	width -= l->indent;
	if (!is_cut || layout_columns_of(FXT_COLUMN_TEXT, cell) - cell->indent <= width)
		return;
	l->memory = fxt_allocate(cell->text.bytes + cell->remark.bytes + 1);
	size_t bytes = fxt_fold_names(cell->text, l->memory);

	if (cell->remark.bytes > 0)
		memcpy(l->memory + bytes, cell->remark.data, cell->remark.bytes);
	l->remark.bytes = 0;
	layout_wrap(l, (struct fxt_span){l->memory, bytes + cell->remark.bytes}, width);
}

/* Prints a line of a text in its column, aligned to the left. */
static void layout_text_line(const struct layout_lines *l, unsigned at, unsigned width)
{
	unsigned used = 0;

	if (at < l->count && l->lines[at].bytes + l->remark.bytes > 0) {
		layout_blanks(at == 0 ? l->indent - (unsigned)strlen(l->level) : l->indent);
		layout_print_blanks();
		fputs(at == 0 ? l->level : "", stdout);
		used = l->indent + fxt_write_cut(stdout, l->lines[at],
		                           l->is_cut && at == l->count - 1 ? width - l->indent : UINT_MAX);
		fxt_print_text(l->remark);
		used += fxt_text_columns(l->remark);
	}
	layout_blanks(used < width ? width - used : 0);
}

/* ---- rows ---- */

/* The colour of a share, if there are colours. */
static const char *layout_colour_of(enum fxt_column_kind kind, const struct fxt_cell *cell)
{
	if (kind != FXT_COLUMN_SHARE || !fxt_terminal()->has_colours || !cell->is_known)
		return NULL;
	return cell->number >= 0.2 ? "\x1b[31m" : cell->number >= 0.05 ? "\x1b[33m" : NULL;
}

/* Prints a number, or a text that is aligned to the right. */
static void layout_number_cell(size_t column, const struct fxt_cell *cell)
{
	enum fxt_column_kind kind = layout.columns[column].kind;
	const char *colour = layout_colour_of(kind, cell);
	struct fxt_number_text number = fxt_number_text(kind, cell);
	struct fxt_span text =
	        kind == FXT_COLUMN_VALUE && cell->is_known ? cell->text : fxt_span(number.text);
	unsigned width = layout.widths[column], columns = fxt_text_columns(text);
	/* Numbers are not cut: without its middle a number would be another number. */
	bool is_cut = fxt_terminal()->is_terminal && text.data == cell->text.data && !cell->is_digits;
	unsigned blanks = columns < width ? width - columns : 0;

	layout_blanks(kind == FXT_COLUMN_TEXT ? 0 : blanks);
	if (columns > 0)
		layout_print_blanks();
	fputs(colour ? colour : "", stdout);
	fxt_write_cut(stdout, text, is_cut ? width : UINT_MAX);
	fputs(colour ? "\x1b[m" : "", stdout);
	layout_blanks(kind == FXT_COLUMN_TEXT ? blanks : 0);
}

/* Prints the title of a column of numbers. */
static void layout_title(size_t column)
{
	struct fxt_span title = fxt_span(layout.columns[column].title);
	unsigned columns = fxt_text_columns(title), width = layout.widths[column];

	layout_blanks(columns < width ? width - columns : 0);
	if (columns > 0)
		layout_print_blanks();
	fxt_write_cut(stdout, title, width);
}

/* Prints a row; NULL: the titles. */
static void layout_print_row(const struct fxt_cell *cells)
{
	struct layout_lines *texts = layout.texts;
	unsigned height = 1;

	for (size_t i = 0; i < layout.count; i++) {
		struct fxt_cell title = fxt_cell_text(fxt_span(layout.columns[i].title));
		const struct fxt_cell *cell = cells ? &cells[i] : &title;

		texts[i].count = 0;
		texts[i].memory = NULL;
		if (layout_is_shown(i) && layout.columns[i].kind == FXT_COLUMN_TEXT && cell->is_known)
			layout_split(&texts[i], cell, layout.widths[i]);
		height = texts[i].count > height ? texts[i].count : height;
	}
	for (unsigned at = 0; at < height; at++) {
		bool is_first = true;

		for (size_t i = 0; i < layout.count; i++) {
			if (!layout_is_shown(i))
				continue;
			layout_blanks(is_first ? 0 : FXT_LAYOUT_GAP);
			if (at > 0 || texts[i].count > 0)
				layout_text_line(&texts[i], at, layout.widths[i]);
			else if (cells)
				layout_number_cell(i, &cells[i]);
			else
				layout_title(i);
			is_first = false;
		}
		layout_end_line();
	}
	for (size_t i = 0; i < layout.count; i++)
		free(texts[i].memory);
}

static bool layout_has_text;

void fxt_layout_set_text(bool has_text)
{
	layout_has_text = has_text;
}

void fxt_layout_gap(void)
{
	if (layout_has_text)
		putchar('\n');
	layout_has_text = true;
}

static void layout_header(void)
{
	bool has_colours = fxt_terminal()->has_colours;

	fxt_layout_gap();
	if (layout.of) {
		fxt_print_text(fxt_span(layout.of));
		putchar('\n');
	}
	fputs(has_colours ? "\x1b[1m" : "", stdout);
	layout_print_row(NULL);
	fputs(has_colours ? "\x1b[m" : "", stdout);
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
	layout.texts = fxt_allocate(count * sizeof(*layout.texts));
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
	free(layout.texts);
	layout.cells = NULL;
	layout.widths = NULL;
	layout.room = 0;
}
