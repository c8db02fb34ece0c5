/*
 * The columns of tables that are made of rows (rows.h). A field is the property of a row
 * that a column shows. The tables themselves are data in tables.c.
 */
#ifndef FXT_FXT_SQL_COLUMNS_H
#define FXT_FXT_SQL_COLUMNS_H

#include <sqlite3.h>
#include "rows.h"

enum fxt_sql_field {
	FXT_SQL_ID,
	FXT_SQL_START,
	FXT_SQL_END,
	FXT_SQL_DURATION,
	FXT_SQL_SELF,
	FXT_SQL_INNER_CALLS,
	FXT_SQL_DEPTH,
	FXT_SQL_TID,
	FXT_SQL_THREAD,
	FXT_SQL_PID,
	FXT_SQL_PROCESS,
	FXT_SQL_NAME,
	FXT_SQL_NAME_ID,
	FXT_SQL_CATEGORY,
	FXT_SQL_MODULE,
	FXT_SQL_CALLER,
	FXT_SQL_CALLER_NAME,
	FXT_SQL_IS_OPEN,
	FXT_SQL_IS_ABANDONED,
	FXT_SQL_ARGUMENTS,
	FXT_SQL_OBJECT,
	FXT_SQL_FD,
	FXT_SQL_SYMBOL,
	FXT_SQL_KIND,
	FXT_SQL_SWITCH_KIND,
	FXT_SQL_LOST,
	FXT_SQL_FATE,
	FXT_SQL_SERIES,
	FXT_SQL_VALUE,
	FXT_SQL_NUMBER,
	FXT_SQL_CPU,
	FXT_SQL_OUT_TID,
	FXT_SQL_OUT_THREAD,
	FXT_SQL_OUT_STATE,
	FXT_SQL_IN_TID,
	FXT_SQL_IN_THREAD,
};

/* The type of a column, as declared to SQLite. */
const char *fxt_sql_field_type(enum fxt_sql_field field);

/* Returns the parts of a row that this field needs, as FXT_SQL_NEEDS_ bits. */
unsigned fxt_sql_field_needs(enum fxt_sql_field field);

/* Sets the value of a column as the result. Texts are owned by the trace. */
void fxt_sql_field_value(sqlite3_context *context, const struct fxt_sql_trace *trace,
        const struct fxt_sql_row *row, enum fxt_sql_field field);

/* Sets a text of the trace as the result; FXT_NOTHING becomes NULL. */
void fxt_sql_result_text(sqlite3_context *context, const struct fxt_sql_trace *trace, uint32_t string);

#endif
