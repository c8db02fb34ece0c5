/*
 * Turns the constraints of a WHERE clause into constraints of rows (rows.h). These are
 * hints and may be too wide: SQLite rechecks every row.
 */
#ifndef FXT_FXT_SQL_CONSTRAINTS_H
#define FXT_FXT_SQL_CONSTRAINTS_H

#include <sqlite3.h>
#include "columns.h"
#include "rows.h"

/* True if a constraint on a column can reduce what is read. `comparison` is one of
 * SQLITE_INDEX_CONSTRAINT_. */
bool fxt_sql_is_limit(enum fxt_sql_field field, int comparison);

/* True if an IN list on this column is taken as a whole: all texts or numbers that the
 * column may be equal to. */
bool fxt_sql_takes_list(enum fxt_sql_field field);

/* Narrows the constraints. With is_list, `value` is the list. */
void fxt_sql_constrain(struct fxt_sql_constraints *constraints, const struct fxt_sql_trace *trace,
        enum fxt_sql_field field, int comparison, bool is_list, sqlite3_value *value);

#endif
