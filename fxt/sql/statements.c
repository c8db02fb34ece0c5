/*
 * Runs statements one after the other and prints the results of each as a table. Runs on
 * the main thread. It must not run any statement after one that failed.
 */
#include "statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fxt/table.h"
#include "reader/trace/index.h"
#include "reader/trace/progress_line.h"
#include "rewrite.h"
#include "tables.h"

/* ---- messages ---- */

/* Returns the number of the line of `text` that `place` is in. */
static unsigned statement_line(const char *text, const char *place)
{
	unsigned line = 1;

	for (; text < place; text++)
		line += *text == '\n';
	return line;
}

/* Reports why the statement that begins at `statement` failed. */
static void statement_fail(sqlite3 *database, const char *text, const char *statement)
{
	int code = sqlite3_errcode(database);

	statement += strspn(statement, " \t\n");
	fflush(stdout);
	fputs("fxt sql: ", stderr);
	if (text[strcspn(text, "\n")] && text[strcspn(text, "\n") + 1])
		fprintf(stderr, "line %u: ", statement_line(text, statement));
	if (code == SQLITE_AUTH)
		fputs("a statement may read, and make tables of its own; it cannot change the trace, or open "
		      "a file\n",
		        stderr);
	else if (code == SQLITE_INTERRUPT)
		fputs("interrupted\n", stderr);
	else
		fprintf(stderr, "%s\n", sqlite3_errmsg(database));
}

/* ---- results ---- */

struct result {
	struct fxt_column *columns;
	struct fxt_cell *cells;
	int count;
};

/* The values of the first row decide how each column is shown. The columns are named as in
 * the statement that the user wrote. */
static void result_begin(struct result *result, sqlite3_stmt *written, sqlite3_stmt *statement, bool has_row)
{
	result->count = sqlite3_column_count(statement);
	result->columns = fxt_resize(NULL, (size_t)result->count, sizeof(*result->columns));
	result->cells = fxt_resize(NULL, (size_t)result->count, sizeof(*result->cells));
	for (int i = 0; i < result->count; i++) {
		int type = has_row ? sqlite3_column_type(statement, i) : SQLITE_NULL;
		const char *name = sqlite3_column_name(written, i);

		result->columns[i] = (struct fxt_column){.key = name,
		        .title = name,
		        .kind = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? FXT_COLUMN_VALUE
		                                                               : FXT_COLUMN_TEXT};
	}
	fxt_progress_stop(); /* rows are printed while more is read */
	fxt_table_begin("rows", NULL, result->columns, (size_t)result->count);
}

static void result_row(const struct result *result, sqlite3_stmt *statement)
{
	for (int i = 0; i < result->count; i++) {
		int type = sqlite3_column_type(statement, i);
		const char *text = (const char *)sqlite3_column_text(statement, i);
		struct fxt_span span = {text, (size_t)sqlite3_column_bytes(statement, i)};

		result->cells[i] = !text                    ? fxt_cell_unknown()
		                   : type == SQLITE_INTEGER ? fxt_cell_digits(span)
		                   : type == SQLITE_FLOAT   ? fxt_cell_digits(span)
		                                            : fxt_cell_text(span);
	}
	fxt_table_row(result->cells);
}

static int statement_print(sqlite3_stmt *written, sqlite3_stmt *statement)
{
	struct result result = {0};
	int status = sqlite3_step(statement);

	if (status == SQLITE_ROW || (status == SQLITE_DONE && sqlite3_column_count(statement) > 0)) {
		result_begin(&result, written, statement, status == SQLITE_ROW);
		for (; status == SQLITE_ROW; status = sqlite3_step(statement))
			result_row(&result, statement);
		fxt_table_end();
	}
	free(result.columns);
	free(result.cells);
	return status;
}

/* The statement that gives the same answer from sums (rewrite.h); NULL: there is none. */
static sqlite3_stmt *statement_from_sums(sqlite3 *database, const char *begin, const char *end)
{
	sqlite3_stmt *statement = NULL;
	char *text = fxt_sql_rewrite(begin, end);

	if (text && sqlite3_prepare_v2(database, text, -1, &statement, NULL) != SQLITE_OK)
		statement = NULL;
	free(text);
	return statement;
}

bool fxt_sql_run(sqlite3 *database, const char *text)
{
	for (const char *next = text; *next;) {
		const char *begin = next;
		sqlite3_stmt *statement, *other;

		if (sqlite3_prepare_v2(database, begin, -1, &statement, &next) != SQLITE_OK) {
			statement_fail(database, text, begin);
			return false;
		}
		if (!statement) /* a comment, or white space */
			continue;
		other = statement_from_sums(database, begin, next);
		int status = statement_print(statement, other ? other : statement);

		if (status != SQLITE_DONE)
			statement_fail(database, text, begin);
		sqlite3_finalize(other);
		sqlite3_finalize(statement);
		if (status != SQLITE_DONE)
			return false;
	}
	return true;
}

/* ---- descriptions of the tables ---- */

static const struct fxt_column description[] = {
        {"table", "table", FXT_COLUMN_TEXT, 0},
        {"column", "column", FXT_COLUMN_TEXT, 0},
        {"type", "type", FXT_COLUMN_TEXT, 0},
        {"meaning", "meaning", FXT_COLUMN_TEXT, 0},
};

static void statement_describe(const char *table, const char *column, const char *type, const char *meaning)
{
	struct fxt_cell cells[] = {fxt_cell_text(fxt_span(table)),
	        column ? fxt_cell_text(fxt_span(column)) : fxt_cell_unknown(), fxt_cell_text(fxt_span(type)),
	        fxt_cell_text(fxt_span(meaning))};

	fxt_table_row(cells);
}

static void statement_describe_table(const struct fxt_sql_table *table)
{
	statement_describe(table->name, NULL, "table", table->meaning);
	for (int i = 0; i < table->column_count; i++) {
		const struct fxt_sql_column *column = &table->columns[i];

		statement_describe(table->name, column->name,
		        column->type ? column->type : fxt_sql_field_type(column->field), column->meaning);
	}
}

bool fxt_sql_print_tables(const char *name)
{
	bool is_known = false;

	fxt_table_begin("columns", NULL, description, sizeof(description) / sizeof(*description));
	for (const struct fxt_sql_table *table = fxt_sql_tables; table->name; table++) {
		if (name && strcmp(name, table->name) != 0)
			continue;
		statement_describe_table(table);
		is_known = true;
	}
	for (const struct fxt_sql_view *view = fxt_sql_views; view->name; view++) {
		if (name && strcmp(name, view->name) != 0)
			continue;
		statement_describe(view->name, NULL, "view", view->meaning);
		is_known = true;
	}
	fxt_table_end();
	return is_known;
}
