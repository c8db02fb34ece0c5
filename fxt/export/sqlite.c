/*
 * An SQLite database with the tables of fxt sql, as they are when all of them is asked for, and its views.
 *
 * It is written without a journal: what fails is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "fxt/commands.h"
#include "fxt/output.h"
#include "tables.h"

/* Returns an SQLite status; so do the others. */
static int sqlite_run(sqlite3 *database, char *statement)
{
	int status = statement ? sqlite3_exec(database, statement, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(statement);
	return status;
}

/* A name is neither a URI nor that of memory if it begins with a directory. */
static int sqlite_attach(sqlite3 *database, const char *file)
{
	int status = sqlite_run(
	        database, sqlite3_mprintf("ATTACH '%q%q' AS file", file[0] == '/' ? "" : "./", file));

	if (status == SQLITE_OK)
		status = sqlite3_exec(database,
		        "PRAGMA file.journal_mode = OFF; PRAGMA file.synchronous = OFF; BEGIN", NULL, NULL,
		        NULL);
	return status;
}

static int sqlite_write(sqlite3 *database, const char *file)
{
	int status = sqlite_attach(database, file);

	for (const struct fxt_sql_table *table = NULL;
	        status == SQLITE_OK && (table = fxt_export_next_table(table));)
		status = sqlite_run(
		        database, sqlite3_mprintf("CREATE TABLE file.\"%w\" AS SELECT * FROM main.\"%w\"",
		                          table->name, table->name));
	for (const struct fxt_sql_view *view = fxt_sql_views; status == SQLITE_OK && view->name; view++)
		status = sqlite_run(
		        database, sqlite3_mprintf("CREATE VIEW file.\"%w\" AS %s", view->name, view->query));
	return status == SQLITE_OK ? sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) : status;
}

/* Why no more can be written to the file, which is removed afterwards; 0: it can. */
static int sqlite_full(const char *file)
{
	static const char page[4096];
	int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC), error = 0;

	for (int i = 0; i < 2 && error == 0; i++) /* less than all may be written before none is */
		if (write(fd, page, sizeof(page)) < 0)
			error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

/* The system's, if it was the system's, which SQLite does not always keep. */
static const char *sqlite_reason(sqlite3 *database, const char *file)
{
	int error = sqlite3_system_errno(database);

	if (sqlite3_errcode(database) != SQLITE_IOERR)
		return sqlite3_errmsg(database);
	error = error ? error : sqlite_full(file);
	return error ? strerror(error) : sqlite3_errmsg(database);
}

void fxt_export_sqlite(struct fxt_export *e)
{
	struct fxt_export_tables tables;
	struct fxt_output out;

	/* An empty file is a database without tables. */
	if (fxt_output_open(&out, e->file, e->source) != 0 || fxt_output_close(&out) != 0) {
		e->status = FXT_FAILED;
		return;
	}
	bool is_open = fxt_export_tables_open(e, &tables);

	if (is_open && sqlite_write(tables.database, e->file) != SQLITE_OK) {
		fprintf(stderr, "fxt: %s: cannot be written: %s\n", e->file,
		        sqlite_reason(tables.database, e->file));
		e->status = FXT_FAILED;
	}
	if (is_open)
		fxt_export_tables_close(e, &tables);
	if (e->status == FXT_FAILED)
		fxt_output_remove(e->file);
}
