/*
 * Writes an SQLite database with the views of fxt sql and its tables, which have all rows
 * that a query returns. It is written without a journal, because a draft that fails is
 * thrown away.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "fxt/commands.h"
#include "reader/trace/draft.h"
#include "tables.h"

/* Runs a statement and frees it; NULL means that memory was short. Returns an SQLite
 * status, as sqlite_attach() and sqlite_write() do. */
static int sqlite_run(sqlite3 *database, char *statement)
{
	int status = statement ? sqlite3_exec(database, statement, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(statement);
	return status;
}

/* Attaches the file as the database "file", and begins a transaction. The name gets a
 * directory in front, so that SQLite takes it neither for a URI nor for ":memory:". */
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

/* Finds out why SQLite could not extend the file, by extending it. Returns an errno value,
 * or 0 if the file can be extended. The caller throws the file away. */
static int sqlite_full(int fd)
{
	static const char page[4096];

	lseek(fd, 0, SEEK_END);
	for (int i = 0; i < 2; i++) /* if the disk is nearly full, the first write is
	                               partial and the second one fails */
		if (write(fd, page, sizeof(page)) < 0)
			return errno;
	return 0;
}

/* Returns the reason of a failure. SQLite does not always keep the system's error, so this
 * looks for it. */
static const char *sqlite_reason(sqlite3 *database, int fd)
{
	int error = sqlite3_system_errno(database);

	if (sqlite3_errcode(database) != SQLITE_IOERR)
		return sqlite3_errmsg(database);
	error = error ? error : sqlite_full(fd);
	return error ? strerror(error) : sqlite3_errmsg(database);
}

/* Writes the database into the draft, whose file is empty: SQLite takes that for a database
 * without tables. Returns false, after reporting the reason, if it fails. */
static bool sqlite_fill(struct fxt_export *e, const struct fxt_draft *draft)
{
	struct fxt_export_tables tables;
	char file[64 + NAME_MAX];

	if (!fxt_export_tables_open(e, &tables))
		return false;
	snprintf(file, sizeof(file), "/proc/self/fd/%d/%s", draft->directory, draft->temporary);
	bool is_whole = sqlite_write(tables.database, draft->directory < 0 ? e->file : file) == SQLITE_OK;

	if (!is_whole)
		fprintf(stderr, "fxt: %s: cannot be written: %s\n", e->file,
		        sqlite_reason(tables.database, draft->fd));
	fxt_export_tables_close(e, &tables);
	return is_whole;
}

void fxt_export_sqlite(struct fxt_export *e)
{
	const struct fxt_draft_config config = {.source = &e->source->file, .is_named = true};
	struct fxt_draft draft;
	const char *reason = fxt_draft_open(&draft, AT_FDCWD, e->file, &config);
	int error;

	if (reason) {
		fprintf(stderr, "fxt: %s: cannot be written: %s\n", e->file, reason);
		e->status = FXT_FAILED;
	} else if (!sqlite_fill(e, &draft)) {
		fxt_draft_abandon(&draft);
		e->status = FXT_FAILED;
	} else if ((error = fxt_draft_publish(&draft)) != 0) {
		fprintf(stderr, "fxt: %s: cannot be written: %s\n", e->file, strerror(error));
		e->status = FXT_FAILED;
	}
}
