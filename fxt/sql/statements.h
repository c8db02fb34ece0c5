/*
 * Runs statements and prints what they return, a table each (fxt/table.h). Whoever prints has begun the
 * document.
 */
#ifndef FXT_FXT_SQL_STATEMENTS_H
#define FXT_FXT_SQL_STATEMENTS_H

#include <sqlite3.h>
#include <stdbool.h>

/* Runs the statements of a text, up to the first that fails; that is told on the standard error. */
bool fxt_sql_run(sqlite3 *database, const char *text);

/* Prints the columns of a table, or of all, with what they mean. False: no table is called so. */
bool fxt_sql_print_tables(const char *name);

#endif
