/*
 * A database of one trace: its tables and views, and nothing that could change a file.
 */
#ifndef FXT_FXT_SQL_DATABASE_H
#define FXT_FXT_SQL_DATABASE_H

#include "tables.h"

/*
 * Opens one; the trace must stay open as long as it is in use. Statements may read all there is and make
 * tables of their own, which are gone with it; they neither write nor open any other file. What is large, to
 * be sorted for example, goes into files without a name in TMPDIR. Returns NULL if memory is short.
 */
sqlite3 *fxt_sql_open(struct fxt_sql_trace *trace);

/* Closes it, and forgets what was kept of the trace for its lists. */
void fxt_sql_close(sqlite3 *database, struct fxt_sql_trace *trace);

#endif
