/*
 * The tables of a fleet as views of DuckDB. DuckDB would guess the type of each column from
 * the first rows of a file, and a table may be empty there, so the types are given.
 */
#include "fleet.h"

#include <string.h>
#include "tables.h"

static const char views_begin[] =
        "-- Views of the tables of this folder's traces: cd here, then duckdb -init fleet.sql\n"
        "-- fxt export wrote this file, and writes it anew with each trace.\n";

/* How the files are written: fxt/export/csv.c, and the names of folders as texts. */
static const char views_form[] =
        "header = true, delim = ',', quote = '\"', escape = '\"', allow_quoted_nulls = false, "
        "auto_detect = false, hive_partitioning = true, hive_types_autocast = false";

/* DuckDB's name for a type of fxt sql. */
static const char *views_type(const struct fxt_sql_column *column)
{
	const char *type = column->type ? column->type : fxt_sql_field_type(column->field);

	return strcmp(type, "INTEGER") == 0 ? "BIGINT" : strcmp(type, "TEXT") == 0 ? "VARCHAR" : "DOUBLE";
}

void fxt_export_fleet_views(FILE *out)
{
	fputs(views_begin, out);
	for (const struct fxt_sql_table *table = NULL; (table = fxt_export_next_table(table));) {
		fprintf(out,
		        "\n-- %s\nCREATE OR REPLACE VIEW \"%s\" AS SELECT * FROM "
		        "read_csv('**/run=*/%s." FXT_FLEET_TABLES "',\n\t%s, columns = {",
		        table->meaning, table->name, table->name, views_form);
		for (int i = 0; i < table->column_count; i++)
			fprintf(out, "%s\n\t'%s': '%s'", i > 0 ? "," : "", table->columns[i].name,
			        views_type(&table->columns[i]));
		fputs("});\n", out);
	}
}
