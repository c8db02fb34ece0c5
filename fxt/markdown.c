/*
 * Prints tables as Markdown. Rows are printed as they come. Names from the trace must not
 * become markup: every character that Markdown or HTML gives a meaning is escaped.
 */
#include "markdown.h"

#include <stdio.h>
#include <string.h>
#include "layout.h"
#include "reader/trace/text.h"

static struct {
	const char *of;
	const struct fxt_column *columns;
	size_t count;
	bool has_header;
} table;

/* Whether a character is markup here. A colon before slashes, and the dot of "www.", would
 * make a link of a name. */
static bool markdown_is_markup(struct fxt_span text, const char *before)
{
	char c = text.data[0];

	return strchr("\\`*_[]<>|#&~$", c) || (c == ':' && text.bytes > 1 && text.data[1] == '/') ||
	       (c == '.' && (before[0] | ' ') == 'w');
}

void fxt_markdown_text(struct fxt_span text)
{
	const char *before = "";
	char escape[8];

	while (text.bytes > 0) {
		size_t bytes = fxt_escape(text, escape);

		if (escape[0])
			printf("\\%s", escape);
		else if (markdown_is_markup(text, before))
			printf("\\%c", text.data[0]);
		else
			fwrite(text.data, 1, bytes, stdout);
		before = text.data;
		text.data += bytes;
		text.bytes -= bytes;
	}
}

static bool markdown_is_shown(size_t column)
{
	return table.columns[column].rank != FXT_COLUMN_DATA;
}

static void markdown_header(void)
{
	putchar('\n');
	if (table.of) {
		fxt_markdown_text(fxt_span(table.of));
		fputs("\n\n", stdout);
	}
	for (size_t i = 0; i < table.count; i++)
		if (markdown_is_shown(i)) {
			fputs("| ", stdout);
			fxt_markdown_text(fxt_span(table.columns[i].title));
			putchar(' ');
		}
	fputs("|\n", stdout);
	for (size_t i = 0; i < table.count; i++)
		if (markdown_is_shown(i))
			fputs(table.columns[i].kind == FXT_COLUMN_TEXT ? "| --- " : "| ---: ", stdout);
	fputs("|\n", stdout);
	table.has_header = true;
}

void fxt_markdown_begin(const char *of, const struct fxt_column *columns, size_t count)
{
	table.of = of;
	table.columns = columns;
	table.count = count;
	table.has_header = false;
}

void fxt_markdown_row(const struct fxt_cell *cells)
{
	if (!table.has_header)
		markdown_header();
	for (size_t i = 0; i < table.count; i++) {
		enum fxt_column_kind kind = table.columns[i].kind;

		if (!markdown_is_shown(i))
			continue;
		fputs("| ", stdout);
		if (cells[i].is_known && fxt_column_has_texts(kind))
			fxt_markdown_text(cells[i].text);
		else
			fputs(fxt_number_text(kind, &cells[i]).text, stdout);
		fxt_markdown_text(cells[i].remark);
		putchar(' ');
	}
	fputs("|\n", stdout);
}
