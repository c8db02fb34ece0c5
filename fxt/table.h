/*
 * What commands answer, as tables: for people, as JSON (--json) or as CSV (--csv).
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
 * For people columns are aligned. On a terminal a pager comes in between, lines are cut to the terminal's
 * width, first by leaving out columns that say so (`rank`), then by cutting texts in their middle; what is
 * left out is said. Widths are those of the first thousand rows, so a table of any length takes no more
 * memory than these.
 *
 * JSON is one document, {"schema": "fxt.COMMAND/1", "traces": [{"file": ..., "facts": {...}, "notes": [...],
 * "tables": [{"name": ..., "of": ..., "columns": [...], "rows": [{...}]}]}]}; fxt(1) describes it. Members
 * are only added while the number stays 1. CSV (RFC 4180) has a line of keys before the rows of each table,
 * whose first column is the table's name and, if the table is of something, the second one what it is of.
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
	FXT_COLUMN_TIME,  /* ns; for people with a unit that suits it */
	FXT_COLUMN_BYTES, /* the same */
	FXT_COLUMN_SHARE, /* from 0 to 1; for people in percent */
	FXT_COLUMN_VALUE, /* texts and numbers, as each cell says; aligned to the right */
};

/* Whether cells of a column have texts. */
static inline bool fxt_column_has_texts(enum fxt_column_kind kind)
{
	return kind == FXT_COLUMN_TEXT || kind == FXT_COLUMN_VALUE;
}

enum { FXT_COLUMN_DATA = 255 }; /* a rank: never for people */

struct fxt_column {
	const char *key; /* in JSON and CSV; of a time it ends in _ns, of bytes in _bytes; NULL, if it is the
	                    last one: for people alone */
	const char *title; /* for people */
	enum fxt_column_kind kind;
	uint8_t rank; /* on narrow terminals those of the highest rank are left out first; 0: never */
};

enum { FXT_INDENT = 2 };

/* Made by the functions below. Texts need to live only until fxt_table_row() returns. */
struct fxt_cell {
	bool is_known; /* else "-", null or nothing */
	double number;
	struct fxt_span text;
	bool is_digits;         /* the text is that of a number, of any size */
	bool is_blank;          /* for people: nothing, instead of "-", if it is not known */
	bool is_least;          /* the number may be higher: for people "≥ " before it */
	unsigned indent;        /* of a text, for people: so many columns before it, FXT_INDENT a level */
	struct fxt_span remark; /* behind a text, for people: " (2 not ended)" */
};

/* Not a number: it is not known. */
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
 * Begins a table. `name` is that of what its rows are: "functions". `of` is what all of them belong to, a
 * thread for example, and is a line before the table; NULL: the trace. Columns stay valid until the end.
 */
void fxt_table_begin(const char *name, const char *of, const struct fxt_column *columns, size_t count);

/* Adds a row, of as many cells as there are columns, in their order. */
void fxt_table_row(const struct fxt_cell *cells);

/* Ends the table. Without rows it is not there for people. */
void fxt_table_end(void);

#endif
