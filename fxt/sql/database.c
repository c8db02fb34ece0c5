#include "database.h"

#include <string.h>
#include "lists.h"
#include "sums.h"

/* Allows only the pragmas of SQLite that describe tables. */
static bool database_allows_pragma(const char *name, const char *value)
{
	static const char *const of_tables[] = {"table_info", "table_xinfo", "table_list"};
	static const char *const others[] = {
	        "compile_options", "function_list", "module_list", "pragma_list"};

	for (size_t i = 0; i < sizeof(of_tables) / sizeof(*of_tables); i++)
		if (strcmp(name, of_tables[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(name, others[i]) == 0)
			return value == NULL;
	return false;
}

/* Anything that could reach a file by name is not allowed. Tables that statements create
 * are gone with the database. */
static int database_authorize(void *nothing, int action, const char *first, const char *second,
        const char *database, const char *view)
{
	(void)nothing, (void)database, (void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
	case SQLITE_CREATE_TABLE:
	case SQLITE_CREATE_INDEX:
	case SQLITE_CREATE_VIEW:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_DROP_TABLE:
	case SQLITE_DROP_INDEX:
	case SQLITE_DROP_VIEW:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_DROP_TEMP_VIEW:
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return database_allows_pragma(first, second) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* A database without a name is an unlinked temporary file. It is written to only when
 * memory is not enough. */
sqlite3 *fxt_sql_open(struct fxt_sql_trace *trace)
{
	sqlite3 *database = NULL;

	/* The database is used by one thread only. Without locks and memory statistics,
	 * rows come a fifth faster. SQLite accepts these settings only before the first
	 * database of a process. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sqlite3_open("", &database) != SQLITE_OK || fxt_sql_add_tables(database, trace) != SQLITE_OK ||
	        sqlite3_exec(database, "PRAGMA temp_store = FILE", NULL, NULL, NULL) != SQLITE_OK) {
		fxt_sql_close(database, trace);
		return NULL;
	}
	sqlite3_set_authorizer(database, database_authorize, NULL);
	return database;
}

void fxt_sql_close(sqlite3 *database, struct fxt_sql_trace *trace)
{
	sqlite3_close(database);
	fxt_sql_sums_free(trace->sums);
	fxt_sql_call_sums_free(trace->call_sums);
	fxt_sql_blocks_free(trace->blocks);
	fxt_sql_modules_free(trace->modules);
	trace->sums = NULL;
	trace->call_sums = NULL;
	trace->blocks = NULL;
	trace->modules = NULL;
}
