/*
 * A trace as the tables of fxt sql, for formats that consist of tables. All tables are
 * written except "slices": its rows are in those of calls, waits and losses too, and it is
 * as long as all of them.
 */
#ifndef FXT_FXT_EXPORT_TABLES_H
#define FXT_FXT_EXPORT_TABLES_H

#include "export.h"
#include "fxt/sql/database.h"

struct fxt_export_tables {
	struct fxt_sql_trace trace;
	sqlite3 *database; /* may write any file, unlike that of fxt sql */
};

/* Returns false, after reporting the reason, if it cannot be opened. */
bool fxt_export_tables_open(struct fxt_export *e, struct fxt_export_tables *tables);

/* Closes the database, and reports what could not be read. */
void fxt_export_tables_close(struct fxt_export *e, struct fxt_export_tables *tables);

/* Iterates over the tables: NULL gives the first one, and the last one gives NULL. */
const struct fxt_sql_table *fxt_export_next_table(const struct fxt_sql_table *table);

/* A directory for files of tables, TABLE.ENDING each. */
struct fxt_export_place {
	int directory;
	const char *name; /* for messages */
	const char *ending;
};

/* Writes the tables as CSV (csv.c). Returns false, after reporting it, if one could not be
 * written; others may be there. */
bool fxt_export_csv_tables(struct fxt_export *e, const struct fxt_export_place *place, sqlite3 *database);

#endif
