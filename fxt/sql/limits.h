/*
 * Constraints of a WHERE clause as limits of rows (rows.h). Each may be taken for what it says or a little
 * less, for SQLite compares every row again.
 */
#ifndef FXT_FXT_SQL_LIMITS_H
#define FXT_FXT_SQL_LIMITS_H

#include <sqlite3.h>
#include "columns.h"
#include "rows.h"

/* Whether a constraint on a column can limit what is read. `comparison` is one of SQLITE_INDEX_CONSTRAINT_.
 */
bool fxt_sql_is_limit(enum fxt_sql_field field, int comparison);

/* Whether the texts or numbers that a column is to be equal to are taken together, all that an IN lists. */
bool fxt_sql_takes_list(enum fxt_sql_field field);

/* Narrows the limits; with is_list, `value` is the list. */
void fxt_sql_limit(struct fxt_sql_limits *limits, const struct fxt_sql_trace *trace, enum fxt_sql_field field,
        int comparison, bool is_list, sqlite3_value *value);

#endif
