/*
 * Tables as CSV (RFC 4180): a directory with a file for each table, NAME.csv. Its first
 * line has the columns' names. Texts are in quotes, numbers are not; NULL of SQL is an
 * empty field.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fxt/commands.h"
#include "fxt/csv.h"
#include "fxt/output.h"
#include "reader/trace/index.h"
#include "tables.h"

static void csv_value(FILE *out, sqlite3_stmt *rows, int column)
{
	int type = sqlite3_column_type(rows, column);
	const char *text = (const char *)sqlite3_column_text(rows, column);
	size_t bytes = (size_t)sqlite3_column_bytes(rows, column);

	if (type == SQLITE_TEXT)
		fxt_csv_text(out, (struct fxt_span){text, bytes});
	else if (type == SQLITE_FLOAT)
		fprintf(out, "%.17g", sqlite3_column_double(rows, column));
	else if (text)
		fwrite(text, 1, bytes, out);
}

/* Returns an SQLite status. */
static int csv_rows(FILE *out, sqlite3 *database, const struct fxt_sql_table *table)
{
	char *query = sqlite3_mprintf("SELECT * FROM \"%w\"", table->name);
	sqlite3_stmt *rows = NULL;
	int status = query ? sqlite3_prepare_v2(database, query, -1, &rows, NULL) : SQLITE_NOMEM;

	sqlite3_free(query);
	for (int i = 0; i < table->column_count; i++) {
		fputs(i > 0 ? "," : "", out);
		fxt_csv_title(out, table->columns[i].name);
	}
	fputs("\n", out);
	while (status == SQLITE_OK && (status = sqlite3_step(rows)) == SQLITE_ROW) {
		for (int i = 0; i < table->column_count; i++) {
			fputs(i > 0 ? "," : "", out);
			csv_value(out, rows, i);
		}
		fputs("\n", out);
		status = ferror(out) ? SQLITE_DONE : SQLITE_OK; /* the error is reported when the file is
		                                                   closed */
	}
	sqlite3_finalize(rows);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static bool csv_table(struct fxt_export *e, const struct fxt_export_place *place, sqlite3 *database,
        const struct fxt_sql_table *table)
{
	struct fxt_output out;
	char *name;

	if (asprintf(&name, "%s/%s.%s", place->name, table->name, place->ending) < 0)
		fxt_out_of_memory();
	const char *file = strrchr(name, '/') + 1;
	bool is_open = fxt_output_open_in(&out, place->directory, file, name, &e->source->file) == 0;
	bool is_whole = is_open && csv_rows(out.file, database, table) == SQLITE_OK;

	if (is_open && !is_whole)
		fprintf(stderr, "fxt: %s: table %s: %s\n", e->name, table->name, sqlite3_errmsg(database));
	if (is_open && !is_whole)
		fxt_output_abandon(&out);
	else if (is_open && fxt_output_close(&out) != 0)
		is_whole = false;
	free(name);
	return is_whole;
}

bool fxt_export_csv_tables(struct fxt_export *e, const struct fxt_export_place *place, sqlite3 *database)
{
	const struct fxt_sql_table *table = fxt_export_next_table(NULL);

	while (table && csv_table(e, place, database, table))
		table = fxt_export_next_table(table);
	return !table;
}

void fxt_export_csv(struct fxt_export *e)
{
	struct fxt_export_place place = {.name = e->file, .ending = "csv"};
	struct fxt_export_tables tables;
	const char *reason = fxt_draft_open_directory(&place.directory, AT_FDCWD, e->file, &e->source->file);

	if (reason) {
		fprintf(stderr, "fxt: %s: cannot be made: %s\n", e->file, reason);
		e->status = FXT_FAILED;
		return;
	}
	if (fxt_export_tables_open(e, &tables)) {
		if (!fxt_export_csv_tables(e, &place, tables.database))
			e->status = FXT_FAILED;
		fxt_export_tables_close(e, &tables);
	}
	close(place.directory);
}
