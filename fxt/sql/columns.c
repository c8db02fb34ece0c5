/*
 * The fields of a row as columns: their types, the parts of a row that each needs, and
 * their values. Runs on the main thread, called by SQLite for each value that a query
 * reads. It must not copy texts of the trace, which stay valid as long as the database.
 */
#include "columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "tables.h"

const char *fxt_sql_field_type(enum fxt_sql_field field)
{
	switch (field) {
	case FXT_SQL_THREAD:
	case FXT_SQL_PROCESS:
	case FXT_SQL_NAME:
	case FXT_SQL_CATEGORY:
	case FXT_SQL_MODULE:
	case FXT_SQL_CALLER_NAME:
	case FXT_SQL_ARGUMENTS:
	case FXT_SQL_OBJECT:
	case FXT_SQL_SYMBOL:
	case FXT_SQL_KIND:
	case FXT_SQL_SWITCH_KIND:
	case FXT_SQL_FATE:
	case FXT_SQL_SERIES:
	case FXT_SQL_OUT_THREAD:
	case FXT_SQL_OUT_STATE:
	case FXT_SQL_IN_THREAD:
		return "TEXT";
	case FXT_SQL_VALUE:
		return "NUMERIC";
	default:
		return "INTEGER";
	}
}

unsigned fxt_sql_field_needs(enum fxt_sql_field field)
{
	switch (field) {
	case FXT_SQL_SELF:
	case FXT_SQL_INNER_CALLS:
		return FXT_SQL_NEEDS_INSIDE;
	case FXT_SQL_DEPTH:
	case FXT_SQL_CALLER:
	case FXT_SQL_CALLER_NAME:
		return FXT_SQL_NEEDS_CALLER;
	case FXT_SQL_ARGUMENTS:
		return FXT_SQL_NEEDS_ARGUMENTS;
	default:
		return 0;
	}
}

static int columns_declare(sqlite3 *database, const struct fxt_sql_table *table)
{
	sqlite3_str *text = sqlite3_str_new(database);

	sqlite3_str_appendf(text, "CREATE TABLE \"%w\"(", table->name);
	for (int i = 0; i < table->column_count; i++) {
		const struct fxt_sql_column *column = &table->columns[i];

		sqlite3_str_appendf(text, "%s\"%w\" %s", i > 0 ? ", " : "", column->name,
		        column->type ? column->type : fxt_sql_field_type(column->field));
	}
	sqlite3_str_appendf(text, ")");
	char *statement = sqlite3_str_finish(text);
	int status = statement ? sqlite3_declare_vtab(database, statement) : SQLITE_NOMEM;

	sqlite3_free(statement);
	return status;
}

int fxt_sql_connect(sqlite3 *database, void *client, int count, const char *const *arguments,
        sqlite3_vtab **result, char **error)
{
	struct fxt_sql_connection *table = fxt_allocate(sizeof(*table));
	int status = columns_declare(database, ((const struct fxt_sql_client *)client)->table);

	(void)count, (void)arguments, (void)error;
	table->client = client;
	*result = &table->base;
	if (status != SQLITE_OK)
		free(table);
	return status;
}

int fxt_sql_disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

/* ---- values ---- */

void fxt_sql_result_text(sqlite3_context *context, const struct fxt_sql_trace *trace, uint32_t string)
{
	struct fxt_span text = fxt_sql_text(trace, string);

	if (string == FXT_NOTHING)
		sqlite3_result_null(context);
	else
		sqlite3_result_text(context, text.bytes ? text.data : "", (int)text.bytes, SQLITE_STATIC);
}

static void column_name(sqlite3_context *context, const struct fxt_sql_trace *trace, uint32_t name)
{
	if (name == FXT_NOTHING)
		sqlite3_result_text(context, "(unregistered)", -1, SQLITE_STATIC);
	else
		fxt_sql_result_text(context, trace, name);
}

static void column_object(sqlite3_context *context, const struct fxt_sql_row *row)
{
	char text[24];

	if (!row->has_object)
		return;
	snprintf(text, sizeof(text), "0x%" PRIx64, row->number);
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static const char *column_event_kind(uint8_t type)
{
	static const char *const kinds[] = {
	        [FXT_EVENT_INSTANT] = "instant",
	        [FXT_EVENT_ASYNC_BEGIN] = "async begin",
	        [FXT_EVENT_ASYNC_INSTANT] = "async instant",
	        [FXT_EVENT_ASYNC_END] = "async end",
	        [FXT_EVENT_FLOW_BEGIN] = "begin",
	        [FXT_EVENT_FLOW_STEP] = "step",
	        [FXT_EVENT_FLOW_END] = "end",
	};

	return type < sizeof(kinds) / sizeof(*kinds) && kinds[type] ? kinds[type] : "unknown";
}

static const char *column_state(uint8_t state)
{
	static const char *const states[] = {
	        [FXT_THREAD_STATE_NEW] = "new",
	        [FXT_THREAD_STATE_RUNNING] = "runnable",
	        [FXT_THREAD_STATE_SUSPENDED] = "suspended",
	        [FXT_THREAD_STATE_BLOCKED] = "blocked",
	        [FXT_THREAD_STATE_DYING] = "dying",
	        [FXT_THREAD_STATE_DEAD] = "dead",
	};

	return state < sizeof(states) / sizeof(*states) && states[state] ? states[state] : "unknown";
}

static void column_series_value(sqlite3_context *context, const struct fxt_sql_row *row)
{
	double number;

	switch (row->type) {
	case FXT_ARGUMENT_INT32:
		sqlite3_result_int64(context, (int32_t)row->value);
		break;
	case FXT_ARGUMENT_UINT32:
		sqlite3_result_int64(context, (uint32_t)row->value);
		break;
	case FXT_ARGUMENT_DOUBLE:
		memcpy(&number, &row->value, sizeof(number));
		sqlite3_result_double(context, number);
		break;
	default:
		sqlite3_result_int64(context, (int64_t)row->value);
		break;
	}
}

/* Sets the number or the name of a thread as the result. Koid 0 stands for the CPU's idle
 * thread, and the result stays NULL. */
static void column_switched(
        sqlite3_context *context, const struct fxt_sql_trace *trace, uint64_t koid, bool is_name)
{
	if (koid && is_name)
		fxt_sql_result_text(
		        context, trace, fxt_tables_object_name(&trace->scan.tables, FXT_OBJECT_THREAD, koid));
	else if (koid)
		sqlite3_result_int64(context, (int64_t)koid);
}

static void column_of_thread(sqlite3_context *context, const struct fxt_sql_trace *trace,
        const struct fxt_sql_row *row, enum fxt_sql_field field)
{
	const struct fxt_koids *koids = &trace->scan.tables.threads[row->thread];

	switch (field) {
	case FXT_SQL_TID:
		sqlite3_result_int64(context, (int64_t)koids->thread);
		break;
	case FXT_SQL_PID:
		sqlite3_result_int64(context, (int64_t)koids->process);
		break;
	case FXT_SQL_THREAD:
		fxt_sql_result_text(context, trace, trace->thread_names[row->thread]);
		break;
	default:
		fxt_sql_result_text(context, trace, trace->process_names[row->thread]);
		break;
	}
}

static void column_of_switch(sqlite3_context *context, const struct fxt_sql_trace *trace,
        const struct fxt_sql_row *row, enum fxt_sql_field field)
{
	bool is_wakeup = row->type == FXT_SCHEDULING_THREAD_WAKEUP;

	switch (field) {
	case FXT_SQL_SWITCH_KIND:
		sqlite3_result_text(context, is_wakeup ? "wakeup" : "switch", -1, SQLITE_STATIC);
		break;
	case FXT_SQL_CPU:
		sqlite3_result_int64(context, row->cpu);
		break;
	case FXT_SQL_OUT_STATE:
		if (!is_wakeup && row->value)
			sqlite3_result_text(context, column_state(row->state), -1, SQLITE_STATIC);
		break;
	case FXT_SQL_OUT_TID:
	case FXT_SQL_OUT_THREAD:
		column_switched(context, trace, is_wakeup ? 0 : row->value, field == FXT_SQL_OUT_THREAD);
		break;
	default:
		column_switched(context, trace, row->number, field == FXT_SQL_IN_THREAD);
		break;
	}
}

static void column_of_slice(sqlite3_context *context, const struct fxt_sql_trace *trace,
        const struct fxt_sql_row *row, enum fxt_sql_field field)
{
	switch (field) {
	case FXT_SQL_SELF:
		sqlite3_result_int64(
		        context, (int64_t)fxt_sql_self(
		                         trace, fxt_sql_duration(trace, row->start, row->end), row->inside));
		break;
	case FXT_SQL_INNER_CALLS:
		sqlite3_result_int64(context, (int64_t)row->calls);
		break;
	case FXT_SQL_DEPTH:
		sqlite3_result_int64(context, row->depth);
		break;
	case FXT_SQL_CALLER:
		if (row->caller)
			sqlite3_result_int64(context, (int64_t)row->caller);
		break;
	case FXT_SQL_CALLER_NAME:
		if (row->caller)
			column_name(context, trace, row->caller_name);
		break;
	case FXT_SQL_IS_OPEN:
		sqlite3_result_int(context, row->is_open);
		break;
	case FXT_SQL_IS_ABANDONED:
		sqlite3_result_int(context, row->is_abandoned);
		break;
	case FXT_SQL_OBJECT:
		column_object(context, row);
		break;
	case FXT_SQL_FD:
		if (row->has_descriptor)
			sqlite3_result_int(context, (int32_t)row->number);
		break;
	case FXT_SQL_SYMBOL:
		fxt_sql_result_text(context, trace, row->label);
		break;
	default:
		break;
	}
}

static void column_of_event(sqlite3_context *context, const struct fxt_sql_trace *trace,
        const struct fxt_sql_row *row, enum fxt_sql_field field)
{
	switch (field) {
	case FXT_SQL_KIND:
		sqlite3_result_text(context, column_event_kind(row->type), -1, SQLITE_STATIC);
		break;
	case FXT_SQL_FATE:
		sqlite3_result_text(context, row->name == trace->scan.lost_name ? "lost" : "overwritten", -1,
		        SQLITE_STATIC);
		break;
	case FXT_SQL_LOST:
	case FXT_SQL_NUMBER:
		sqlite3_result_int64(context, (int64_t)row->number);
		break;
	case FXT_SQL_SERIES:
		column_name(context, trace, row->label);
		break;
	case FXT_SQL_VALUE:
		column_series_value(context, row);
		break;
	default:
		break;
	}
}

void fxt_sql_field_value(sqlite3_context *context, const struct fxt_sql_trace *trace,
        const struct fxt_sql_row *row, enum fxt_sql_field field)
{
	switch (field) {
	case FXT_SQL_ID:
		sqlite3_result_int64(context, (int64_t)row->id);
		break;
	case FXT_SQL_START:
		sqlite3_result_int64(context, fxt_sql_time(trace, row->start));
		break;
	case FXT_SQL_END:
		sqlite3_result_int64(context, fxt_sql_time(trace, row->end));
		break;
	case FXT_SQL_DURATION:
		sqlite3_result_int64(context, (int64_t)fxt_sql_duration(trace, row->start, row->end));
		break;
	case FXT_SQL_NAME:
		column_name(context, trace, row->name);
		break;
	case FXT_SQL_NAME_ID:
		sqlite3_result_int64(context, row->name);
		break;
	case FXT_SQL_MODULE: {
		const struct fxt_origin *origin = fxt_origins_next(&trace->scan.origins, row->name, NULL);

		if (origin)
			fxt_sql_result_text(context, trace, origin->module);
		break;
	}
	case FXT_SQL_CATEGORY:
		fxt_sql_result_text(context, trace, row->category);
		break;
	case FXT_SQL_ARGUMENTS:
		if (row->arguments)
			sqlite3_result_text(context, row->arguments, -1, SQLITE_TRANSIENT);
		break;
	case FXT_SQL_TID:
	case FXT_SQL_THREAD:
	case FXT_SQL_PID:
	case FXT_SQL_PROCESS:
		column_of_thread(context, trace, row, field);
		break;
	case FXT_SQL_SWITCH_KIND:
	case FXT_SQL_CPU:
	case FXT_SQL_OUT_TID:
	case FXT_SQL_OUT_THREAD:
	case FXT_SQL_OUT_STATE:
	case FXT_SQL_IN_TID:
	case FXT_SQL_IN_THREAD:
		column_of_switch(context, trace, row, field);
		break;
	case FXT_SQL_KIND:
	case FXT_SQL_FATE:
	case FXT_SQL_LOST:
	case FXT_SQL_NUMBER:
	case FXT_SQL_SERIES:
	case FXT_SQL_VALUE:
		column_of_event(context, trace, row, field);
		break;
	default:
		column_of_slice(context, trace, row, field);
		break;
	}
}
