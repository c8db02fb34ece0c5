/*
 * The tables of commands: for people, as JSON (--json) or as CSV (--csv).
 *
 *   fxt_print_begin("report", format);
 *   for each trace
 *           fxt_print_trace("trace.fxt");
 *           fxt_print_line("5 calls of 3 functions in 1 thread"); ...
 *           fxt_table_begin("functions", NULL, columns, COUNT);
 *           fxt_table_row(cells); ...
 *           fxt_table_end();
 *   fxt_print_end();
 *
 * In text for people, columns are aligned. On a terminal, a pager is started and lines are
 * fitted into its width: first columns are left out by their `rank`, then texts take
 * several lines; very long ones lose their middle. The output says which columns are left
 * out. Widths are computed from the first thousand rows, so a table of any length takes no
 * more memory than these.
 *
 * JSON is one document, {"schema": "fxt.COMMAND/1", "traces": [{"file": ..., "facts":
 * {...}, "notes": [...], "tables": [{"name": ..., "of": ..., "columns": [...], "rows":
 * [{...}]}]}]}; fxt(1) describes it. As long as the number stays 1, members are only added.
 * CSV (RFC 4180) has a line of keys before the rows of each table. The first column is the
 * table's name. If the table belongs to something (`of`), the second column is what it
 * belongs to.
 */
#ifndef FXT_FXT_TABLE_H
#define FXT_FXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "print.h"

enum fxt_column_kind {
	FXT_COLUMN_TEXT,  /* a string; aligned to the left, all others to the right */
	FXT_COLUMN_COUNT, /* a whole number */
	FXT_COLUMN_TIME,  /* ns; for people in a suitable unit */
	FXT_COLUMN_BYTES, /* bytes; for people in a suitable unit */
	FXT_COLUMN_SHARE, /* from 0 to 1; for people in percent */
	FXT_COLUMN_VALUE, /* texts and numbers, as each cell says; aligned to the right */
};

/* True if the cells of a column may have texts. */
static inline bool fxt_column_has_texts(enum fxt_column_kind kind)
{
	return kind == FXT_COLUMN_TEXT || kind == FXT_COLUMN_VALUE;
}

enum { FXT_COLUMN_DATA = 255 }; /* a rank: never shown to people */

struct fxt_column {
	const char *key;   /* in JSON and CSV; ends in _ns for a time, in _bytes for bytes;
	                      NULL, for the last column only: shown to people only */
	const char *title; /* for people */
	enum fxt_column_kind kind;
	uint8_t rank; /* on narrow terminals the columns of the highest rank are left out
	                 first; 0: never */
};

enum { FXT_INDENT = 2 };

/* Made by the functions below. Texts must stay valid only until fxt_table_row() returns. */
struct fxt_cell {
	bool is_known; /* otherwise shown as "-", null or nothing */
	double number;
	struct fxt_span text;
	bool is_digits;         /* the text is a number of any size */
	bool is_blank;          /* for people: an unknown value is shown as nothing
	                           instead of "-" */
	bool is_least;          /* a lower bound: people see "≥ " before it */
	unsigned indent;        /* for people: columns before the text, FXT_INDENT for
	                           each level */
	struct fxt_span remark; /* follows the text, for people: " (2 not ended)" */
};

/* NaN: the number is not known. */
static inline struct fxt_cell fxt_cell_number(double number)
{
	return (struct fxt_cell){.is_known = number == number, .number = number};
}

static inline struct fxt_cell fxt_cell_text(struct fxt_span text)
{
	return (struct fxt_cell){.is_known = true, .text = text};
}

static inline struct fxt_cell fxt_cell_digits(struct fxt_span text)
{
	return (struct fxt_cell){.is_known = true, .text = text, .is_digits = true};
}

static inline struct fxt_cell fxt_cell_unknown(void)
{
	return (struct fxt_cell){0};
}

static inline struct fxt_cell fxt_cell_blank(void)
{
	return (struct fxt_cell){.is_blank = true};
}

/*
 * Begins a table. `name` says what its rows are: "functions". `of` is what they all belong
 * to, such as a thread, and is printed as a line before the table; NULL: the trace. Columns
 * must stay valid until the table ends.
 */
void fxt_table_begin(const char *name, const char *of, const struct fxt_column *columns, size_t count);

/* Adds a row, with one cell for each column, in their order. */
void fxt_table_row(const struct fxt_cell *cells);

/* Ends the table. A table without rows is not shown to people. */
void fxt_table_end(void);

#endif
