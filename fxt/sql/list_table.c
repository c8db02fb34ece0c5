/*
 * Shows lists to SQLite as virtual tables (tables.h). Runs on the main thread, called by
 * SQLite.
 */
#include "tables.h"

#include <stdlib.h>

struct list_cursor {
	sqlite3_vtab_cursor base;
	const struct fxt_sql_client *client;
	size_t row, end;
};

/* Plan 1 looks up a row by its first column; plan 0 goes through all rows. */
static int list_plan(sqlite3_vtab *base, sqlite3_index_info *plan)
{
	const struct fxt_sql_list *list = ((struct fxt_sql_connection *)base)->client->table->list;

	plan->estimatedCost = 10000;
	plan->estimatedRows = 1000;
	for (int i = 0; i < plan->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &plan->aConstraint[i];

		if (!list->find || !constraint->usable || constraint->iColumn != 0 ||
		        constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		plan->aConstraintUsage[i].argvIndex = 1;
		plan->idxNum = 1;
		plan->estimatedCost = 1;
		plan->estimatedRows = 1;
		plan->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		break;
	}
	return SQLITE_OK;
}

static int list_open(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
	struct list_cursor *cursor = fxt_allocate(sizeof(*cursor));

	cursor->client = ((struct fxt_sql_connection *)table)->client;
	*result = &cursor->base;
	return SQLITE_OK;
}

static int list_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int list_filter(
        sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values)
{
	struct list_cursor *cursor = (struct list_cursor *)base;
	const struct fxt_sql_list *list = cursor->client->table->list;

	(void)text, (void)count;
	cursor->row = 0;
	cursor->end = list->count(cursor->client->trace);
	if (plan == 1) {
		cursor->row = sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER
		                      ? list->find(cursor->client->trace, sqlite3_value_int64(values[0]))
		                      : SIZE_MAX;
		if (cursor->row < cursor->end)
			cursor->end = cursor->row + 1;
	}
	return SQLITE_OK;
}

static int list_next(sqlite3_vtab_cursor *base)
{
	((struct list_cursor *)base)->row++;
	return SQLITE_OK;
}

static int list_eof(sqlite3_vtab_cursor *base)
{
	return ((struct list_cursor *)base)->row >= ((struct list_cursor *)base)->end;
}

static int list_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct list_cursor *cursor = (struct list_cursor *)base;

	cursor->client->table->list->value(context, cursor->client->trace, cursor->row, column);
	return SQLITE_OK;
}

static int list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct list_cursor *)base)->row;
	return SQLITE_OK;
}

const sqlite3_module fxt_sql_list_module = {
        .xCreate = fxt_sql_connect,
        .xConnect = fxt_sql_connect,
        .xBestIndex = list_plan,
        .xDisconnect = fxt_sql_disconnect,
        .xDestroy = fxt_sql_disconnect,
        .xOpen = list_open,
        .xClose = list_close,
        .xFilter = list_filter,
        .xNext = list_next,
        .xEof = list_eof,
        .xColumn = list_column,
        .xRowid = list_rowid,
};
