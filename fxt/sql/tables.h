/*
 * The tables of fxt sql, as data: what each is called, what its columns are, and what the manual says of
 * them.
 *
 * There are two kinds. A table of rows goes through the trace for every query, and its columns are fields of
 * a row (columns.h). A list is as long as something that reading a trace keeps in memory anyway: functions,
 * threads; or is kept in a file, as blocks of the heap are.
 *
 * doc/design/changes.md tells how to add one.
 */
#ifndef FXT_FXT_SQL_TABLES_H
#define FXT_FXT_SQL_TABLES_H

#include "columns.h"

/* A table that is a list. Rows count from 0; they stay as they are from the first call of count() on. */
struct fxt_sql_list {
	size_t (*count)(struct fxt_sql_trace *trace);
	void (*value)(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column);
	/* The row whose first column has this value; SIZE_MAX: there is none. NULL: nobody can tell without
	 * looking at all rows. */
	size_t (*find)(struct fxt_sql_trace *trace, int64_t value);
};

struct fxt_sql_column {
	const char *name;
	const char *type; /* of a list; NULL: as the field's */
	enum fxt_sql_field field;
	const char *meaning;
};

struct fxt_sql_table {
	const char *name;
	const char *meaning;
	const struct fxt_sql_column *columns;
	int column_count;
	enum fxt_sql_rows_kind kind;
	const struct fxt_sql_list *list; /* NULL: it is made of rows of this kind */
};

struct fxt_sql_view {
	const char *name;
	const char *meaning;
	const char *query;
};

/* Both end with one that has no name. */
extern const struct fxt_sql_table fxt_sql_tables[];
extern const struct fxt_sql_view fxt_sql_views[];

/* Makes SQLite know the tables and views of a trace, which must stay open as long as the database. Returns an
 * SQLite status. */
int fxt_sql_add_tables(sqlite3 *database, struct fxt_sql_trace *trace);

/* The modules behind them (row_table.c, list_table.c); their client data is a struct fxt_sql_client. */
struct fxt_sql_client {
	struct fxt_sql_trace *trace;
	const struct fxt_sql_table *table;
};
extern const sqlite3_module fxt_sql_row_module, fxt_sql_list_module;

/* A table of either kind for SQLite: their xCreate and xConnect, xDisconnect and xDestroy. */
struct fxt_sql_connection {
	sqlite3_vtab base;
	const struct fxt_sql_client *client;
};
int fxt_sql_connect(sqlite3 *database, void *client, int count, const char *const *arguments,
        sqlite3_vtab **result, char **error);
int fxt_sql_disconnect(sqlite3_vtab *table);

#endif
