/*
 * The virtual tables of SQLite for rows: the choice of the constraints that limit what is
 * read, and cursors. Runs on the main thread, called by SQLite.
 */
#include "constraints.h"
#include "tables.h"

#include <stdlib.h>

struct row_cursor {
	sqlite3_vtab_cursor base;
	const struct fxt_sql_client *client;
	struct fxt_sql_rows *rows;     /* NULL: not started */
	const struct fxt_sql_row *row; /* NULL: there is none left */
};

/* The plan passes each constraint to the query as this many characters of a string. */
enum { PLANNED = 3 };

/* ---- the plan ---- */

static bool row_is_list(sqlite3_index_info *plan, int constraint, enum fxt_sql_field field)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return fxt_sql_takes_list(field) && sqlite3_vtab_in(plan, constraint, 1);
#else
	return (void)plan, (void)constraint, (void)field, false;
#endif
}

/* Estimates the share of the blocks to be read, and of the rows, that a constraint
 * leaves. The figures are guesses. */
static void row_estimate(enum fxt_sql_field field, bool is_equal, double *blocks, double *rows)
{
	switch (field) {
	case FXT_SQL_ID:
		*blocks = *rows = 0;
		break;
	case FXT_SQL_CALLER:
		*blocks /= 100;
		*rows /= 10000;
		break;
	case FXT_SQL_START:
	case FXT_SQL_END:
		*blocks /= is_equal ? 1000 : 8;
		*rows /= is_equal ? 100000 : 8;
		break;
	default:
		*rows /= 10;
		break;
	}
}

static int row_plan(sqlite3_vtab *base, sqlite3_index_info *plan)
{
	const struct fxt_sql_client *client = ((struct fxt_sql_connection *)base)->client;
	const struct fxt_sql_table *table = client->table;
	double blocks = (double)client->trace->scan.source->bytes / 24 + 1, rows = blocks;
	char *constraints = sqlite3_malloc(PLANNED * plan->nConstraint + 1);
	int used = 0;

	if (!constraints)
		return SQLITE_NOMEM;
	for (int i = 0; i < plan->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &plan->aConstraint[i];

		if (!constraint->usable || constraint->iColumn < 0)
			continue;
		enum fxt_sql_field field = table->columns[constraint->iColumn].field;

		if (!fxt_sql_is_limit(field, constraint->op) ||
		        (constraint->op == SQLITE_INDEX_CONSTRAINT_EQ &&
		                sqlite3_stricmp(sqlite3_vtab_collation(plan, i), "BINARY") != 0))
			continue;
		constraints[PLANNED * used] = (char)('A' + field);
		constraints[PLANNED * used + 1] = (char)constraint->op;
		constraints[PLANNED * used + 2] = row_is_list(plan, i, field) ? 'l' : '1';
		plan->aConstraintUsage[i].argvIndex = ++used;
		row_estimate(field, constraint->op == SQLITE_INDEX_CONSTRAINT_EQ, &blocks, &rows);
	}
	constraints[PLANNED * used] = '\0';
	plan->idxStr = constraints;
	plan->needToFreeIdxStr = 1;
	for (int i = 0; i < table->column_count; i++)
		if (plan->colUsed >> (i < 63 ? i : 63) & 1)
			plan->idxNum |= (int)fxt_sql_field_needs(table->columns[i].field);
	/* Starting a query has a cost, too. */
	plan->estimatedCost = 10000 + blocks + rows;
	plan->estimatedRows = (sqlite3_int64)rows + 1;
	return SQLITE_OK;
}

/* ---- a query ---- */

static int row_open(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
	struct row_cursor *cursor = fxt_allocate(sizeof(*cursor));

	cursor->client = ((struct fxt_sql_connection *)table)->client;
	*result = &cursor->base;
	return SQLITE_OK;
}

static void row_end(struct row_cursor *cursor)
{
	if (cursor->rows)
		fxt_sql_rows_close(cursor->rows);
	cursor->rows = NULL;
}

static int row_close(sqlite3_vtab_cursor *base)
{
	row_end((struct row_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int row_next(sqlite3_vtab_cursor *base)
{
	struct row_cursor *cursor = (struct row_cursor *)base;

	cursor->row = fxt_sql_rows_next(cursor->rows);
	return cursor->client->trace->is_interrupted ? SQLITE_INTERRUPT : SQLITE_OK;
}

static int row_filter(
        sqlite3_vtab_cursor *base, int needs, const char *planned, int count, sqlite3_value **values)
{
	struct row_cursor *cursor = (struct row_cursor *)base;
	struct fxt_sql_constraints constraints = fxt_sql_no_constraints;

	row_end(cursor);
	for (int i = 0; i < count; i++)
		fxt_sql_constrain(&constraints, cursor->client->trace,
		        (enum fxt_sql_field)(planned[PLANNED * i] - 'A'),
		        (unsigned char)planned[PLANNED * i + 1], planned[PLANNED * i + 2] == 'l', values[i]);
	if (constraints.caller)
		needs |= FXT_SQL_NEEDS_CALLER;
	cursor->rows = fxt_sql_rows_open(
	        cursor->client->trace, cursor->client->table->kind, &constraints, (unsigned)needs);
	return row_next(base);
}

static int row_eof(sqlite3_vtab_cursor *base)
{
	return !((struct row_cursor *)base)->row;
}

static int row_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct row_cursor *cursor = (struct row_cursor *)base;

	fxt_sql_field_value(
	        context, cursor->client->trace, cursor->row, cursor->client->table->columns[column].field);
	return SQLITE_OK;
}

static int row_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct row_cursor *)base)->row->id;
	return SQLITE_OK;
}

const sqlite3_module fxt_sql_row_module = {
        .xCreate = fxt_sql_connect,
        .xConnect = fxt_sql_connect,
        .xBestIndex = row_plan,
        .xDisconnect = fxt_sql_disconnect,
        .xDestroy = fxt_sql_disconnect,
        .xOpen = row_open,
        .xClose = row_close,
        .xFilter = row_filter,
        .xNext = row_next,
        .xEof = row_eof,
        .xColumn = row_column,
        .xRowid = row_rowid,
};
