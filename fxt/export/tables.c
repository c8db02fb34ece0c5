#include "tables.h"

#include "fxt/commands.h"
#include "fxt/options.h"

bool fxt_export_tables_open(struct fxt_export *e, struct fxt_export_tables *tables)
{
	fxt_sql_trace_open(&tables->trace, e->name, e->source, NULL);
	tables->database = fxt_sql_open(&tables->trace);
	if (tables->database) {
		sqlite3_set_authorizer(tables->database, NULL, NULL);
		return true;
	}
	fprintf(stderr, "fxt: SQLite cannot be set up\n");
	fxt_sql_trace_close(&tables->trace);
	e->status = FXT_FAILED;
	return false;
}

void fxt_export_tables_close(struct fxt_export *e, struct fxt_export_tables *tables)
{
	struct fxt_sql_trace *trace = &tables->trace;

	fxt_sql_close(tables->database, trace);
	int unread =
	        fxt_report_unread(e->name, trace->scan.malformed, trace->scan.unknown, &trace->scan.fault);
	int changed = fxt_report_changed(e->name, !trace->is_short);

	if (unread > e->status)
		e->status = unread;
	if (changed > e->status)
		e->status = changed;
	fxt_sql_trace_close(trace);
}

const struct fxt_sql_table *fxt_export_next_table(const struct fxt_sql_table *table)
{
	table = table ? table + 1 : fxt_sql_tables;
	if (table->kind == FXT_SQL_SLICES)
		table++;
	return table->name ? table : NULL;
}
