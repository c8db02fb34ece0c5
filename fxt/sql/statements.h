/*
 * Runs SQL statements and prints their results, a table each (fxt/table.h). The caller has
 * begun the document.
 */
#ifndef FXT_FXT_SQL_STATEMENTS_H
#define FXT_FXT_SQL_STATEMENTS_H

#include <sqlite3.h>
#include <stdbool.h>

/* Runs the statements of a text, one after the other. If one fails, reports that on the
 * standard error, runs no more of them, and returns false. */
bool fxt_sql_run(sqlite3 *database, const char *text);

/* Prints the columns of a table, or of all tables, with their meaning. Returns false if
 * there is no such table. */
bool fxt_sql_print_tables(const char *name);

#endif
