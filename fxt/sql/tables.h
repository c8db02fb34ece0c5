/*
 * The tables of fxt sql, as data: their names, their columns, and their text in the manual.
 * There are two kinds. A table of rows reads the trace for every query, and its columns are
 * fields of a row (columns.h). A list has entries that are kept anyway: in memory, such as
 * functions and threads, or in a file, such as blocks of the heap. doc/design/changes.md
 * explains how to add a table.
 */
#ifndef FXT_FXT_SQL_TABLES_H
#define FXT_FXT_SQL_TABLES_H

#include "columns.h"

/* A table that is a list. Rows count from 0, and do not change after the first call of
 * count(). */
struct fxt_sql_list {
	size_t (*count)(struct fxt_sql_trace *trace);
	void (*value)(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column);
	/* Finds the row with this value in its first column; SIZE_MAX: there is none. NULL:
	 * a query looks at all rows instead. */
	size_t (*find)(struct fxt_sql_trace *trace, int64_t value);
};

struct fxt_sql_column {
	const char *name;
	const char *type; /* for a list; NULL: the field's type */
	enum fxt_sql_field field;
	const char *meaning;
};

struct fxt_sql_table {
	const char *name;
	const char *meaning;
	const struct fxt_sql_column *columns;
	int column_count;
	enum fxt_sql_rows_kind kind;
	const struct fxt_sql_list *list; /* NULL: the table is made of rows of this kind */
};

struct fxt_sql_view {
	const char *name;
	const char *meaning;
	const char *query;
};

/* Both end with an entry that has no name. */
extern const struct fxt_sql_table fxt_sql_tables[];
extern const struct fxt_sql_view fxt_sql_views[];

/* Registers the tables and views of a trace with SQLite. The trace must stay open as
 * long as the database. Returns an SQLite status. */
int fxt_sql_add_tables(sqlite3 *database, struct fxt_sql_trace *trace);

/* The SQLite modules of the tables (row_table.c, list_table.c). Their client data is a
 * struct fxt_sql_client. */
struct fxt_sql_client {
	struct fxt_sql_trace *trace;
	const struct fxt_sql_table *table;
};
extern const sqlite3_module fxt_sql_row_module, fxt_sql_list_module;

/* A connected table of either kind: the common xCreate and xConnect, xDisconnect and
 * xDestroy. */
struct fxt_sql_connection {
	sqlite3_vtab base;
	const struct fxt_sql_client *client;
};
int fxt_sql_connect(sqlite3 *database, void *client, int count, const char *const *arguments,
        sqlite3_vtab **result, char **error);
int fxt_sql_disconnect(sqlite3_vtab *table);

#endif
