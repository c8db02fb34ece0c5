/*
 * A database of one trace: its tables and views, without any way to change a file.
 */
#ifndef FXT_FXT_SQL_DATABASE_H
#define FXT_FXT_SQL_DATABASE_H

#include "tables.h"

/*
 * Opens a database. The trace must stay open as long as the database is in use. Statements
 * may read everything, and create tables of their own, which are gone when it is closed.
 * They can neither write nor open any other file. Large data, such as that of a sort, goes
 * into unlinked files in TMPDIR. Returns NULL if memory is short.
 */
sqlite3 *fxt_sql_open(struct fxt_sql_trace *trace);

/* Closes the database, and frees what was kept of the trace for its lists. */
void fxt_sql_close(sqlite3 *database, struct fxt_sql_trace *trace);

#endif
