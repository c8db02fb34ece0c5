/*
 * The output of commands as text, JSON or CSV, except for tables: the document, facts and
 * notes. Runs on the main thread. It must not print anything before the first trace.
 */
#include "print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "json.h"
#include "layout.h"
#include "markdown.h"
#include "reader/trace/index.h"
#include "reader/trace/text.h"
#include "terminal.h"

/* Members of a trace that come after its tables in JSON; they are collected until then. */
struct members {
	FILE *file;
	char *text;
	size_t bytes;
};

static struct {
	const char *command;
	enum fxt_format format;
	bool is_markdown;  /* text for people is */
	const char *trace; /* the current trace, or NULL */
	size_t traces;
	size_t tables; /* tables of the trace that were begun */
	struct members facts, notes;
} document;

static void print_begin_members(struct members *members)
{
	members->file = fxt_memory_open(&members->text, &members->bytes);
}

static void print_end_members(struct members *members)
{
	fxt_memory_close(members->file, &members->text);
	fputs(members->text, stdout);
	free(members->text);
	*members = (struct members){0};
}

/* Returns the stream for the next member. */
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
	fxt_layout_set_text(false);
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

enum fxt_format fxt_print_format(void)
{
	return document.format;
}

void fxt_print_markdown(void)
{
	document.is_markdown = true;
}

bool fxt_print_is_markdown(void)
{
	return document.is_markdown;
}

/* Prints a line of text for people; in Markdown a paragraph. */
static void print_paragraph(const char *line)
{
	fxt_layout_set_text(true);
	if (document.is_markdown) {
		putchar('\n');
		fxt_markdown_text(fxt_span(line));
	} else {
		fxt_print_wrapped(fxt_span(line));
	}
	putchar('\n');
}

bool fxt_print_next_table(void)
{
	return document.tables++ == 0;
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

/* Formats a line. The caller frees it. */
static char *print_text(const char *format, va_list values)
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
	char *line = print_text(format, values);

	va_end(values);
	print_paragraph(line);
	free(line);
}

void fxt_print_note(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *line = print_text(format, values);

	va_end(values);
	if (document.format == FXT_FORMAT_JSON) {
		fxt_json_string(print_next_member(&document.notes), fxt_span(line));
	} else if (document.format == FXT_FORMAT_CSV) {
		fprintf(stderr, "fxt: %s: ", document.trace);
		fxt_write_text(stderr, fxt_span(line));
		putc('\n', stderr);
	} else {
		if (!document.is_markdown)
			fxt_layout_gap();
		print_paragraph(line);
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
