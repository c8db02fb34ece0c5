/*
 * A trace as the tables of fxt sql, for formats that are tables.
 *
 * All are written but one: what the table "slices" has stands in those of calls, waits and losses too, and
 * it is as long as they are.
 */
#ifndef FXT_FXT_EXPORT_TABLES_H
#define FXT_FXT_EXPORT_TABLES_H

#include "export.h"
#include "fxt/sql/database.h"

struct fxt_export_tables {
	struct fxt_sql_trace trace;
	sqlite3 *database; /* may write any file, unlike that of fxt sql */
};

/* Returns false when it was told that it cannot be done. */
bool fxt_export_tables_open(struct fxt_export *e, struct fxt_export_tables *tables);

/* Closes it, and tells what could not be read. */
void fxt_export_tables_close(struct fxt_export *e, struct fxt_export_tables *tables);

/* The table behind another, the first one behind NULL; NULL behind the last. */
const struct fxt_sql_table *fxt_export_next_table(const struct fxt_sql_table *table);

#endif
