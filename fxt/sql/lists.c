/*
 * The lists of fxt sql, each with a count, a lookup by the first column, and a value for
 * each cell. Runs on the main thread, called by list_table.c. Rows must not change after
 * count() was called.
 */
#include "lists.h"

#include <inttypes.h>
#include <stdio.h>
#include "reader/stats/figures.h"
#include "sums.h"

static void list_integer(sqlite3_context *context, uint64_t number)
{
	sqlite3_result_int64(context, (int64_t)number);
}

/* ---- functions ---- */

#define NOT_OF_SQL(...)
#define COLUMN_OF_FIGURE(id, ...)             COLUMN_##id,
#define FIGURE_OF_COLUMN(id, name, type, ...) [COLUMN_##id] = {FXT_##id, sizeof(type) == sizeof("REAL")},

/* The columns of fxt_sql_tables' functions, and the figures that some of them show. */
enum {
	FUNCTION_ID,
	FUNCTION_NAME,
	FXT_FIGURE_ROWS(NOT_OF_SQL, COLUMN_OF_FIGURE) OPEN,
	MODULE,
	SOURCE,
	LINE,
};
static const struct {
	enum fxt_figure figure;
	bool is_real;
} figures[OPEN] = {FXT_FIGURE_ROWS(NOT_OF_SQL, FIGURE_OF_COLUMN)};

static size_t list_count_functions(struct fxt_sql_trace *trace)
{
	return fxt_sql_sums(trace)->functions.count;
}

static size_t list_find_function(struct fxt_sql_trace *trace, int64_t id)
{
	const struct fxt_sql_sums *sums = fxt_sql_sums(trace);

	return id < 0 || (uint64_t)id >= trace->scan.tables.string_count ? SIZE_MAX : sums->function_of[id];
}

static void list_origin(sqlite3_context *context, struct fxt_sql_trace *trace, uint32_t name, int column)
{
	const struct fxt_origin *origin = fxt_origins_next(&trace->scan.origins, name, NULL);

	if (origin && column == LINE && origin->line > 0)
		sqlite3_result_int64(context, origin->line);
	else if (origin && column != LINE)
		fxt_sql_result_text(context, trace, column == MODULE ? origin->module : origin->file);
}

static void list_function_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	const struct fxt_function *f = &fxt_sql_sums(trace)->functions.items[row];

	switch (column) {
	case FUNCTION_ID:
		list_integer(context, f->name);
		break;
	case FUNCTION_NAME:
		if (f->name == FXT_NOTHING)
			sqlite3_result_text(context, "(unregistered)", -1, SQLITE_STATIC);
		else
			fxt_sql_result_text(context, trace, f->name);
		break;
	case OPEN:
		list_integer(context, f->open);
		break;
	case MODULE:
	case SOURCE:
	case LINE:
		list_origin(context, trace, f->name, column);
		break;
	default: {
		double figure = fxt_function_figure(f, &trace->scan, figures[column].figure);

		if (figures[column].is_real)
			sqlite3_result_double(context, figure);
		else
			sqlite3_result_int64(context, (int64_t)figure);
	}
	}
}

const struct fxt_sql_list fxt_sql_functions = {list_count_functions, list_function_value, list_find_function};

/* ---- threads ---- */

enum {
	THREAD_ID,
	THREAD_TID,
	THREAD_NAME,
	THREAD_PID,
	THREAD_PROCESS,
	THREAD_CALLS,
	RUNNING,
	RUNNABLE,
	BLOCKED,
	SWITCHES
};

/* The first entry of the table stands for no thread. */
static size_t list_count_threads(struct fxt_sql_trace *trace)
{
	return trace->scan.tables.thread_count - 1;
}

static size_t list_find_thread(struct fxt_sql_trace *trace, int64_t id)
{
	return id < 1 || (uint64_t)id >= trace->scan.tables.thread_count ? SIZE_MAX : (size_t)id - 1;
}

static void list_thread_times(
        sqlite3_context *context, struct fxt_sql_trace *trace, uint64_t koid, int column)
{
	const struct fxt_switch_times *times = fxt_switches_of(fxt_sql_switches(trace), koid);

	if (times)
		list_integer(context, column == RUNNING    ? times->running
		                      : column == RUNNABLE ? times->runnable
		                      : column == BLOCKED  ? times->blocked
		                                           : times->switches);
}

static void list_thread_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	const struct fxt_koids *koids = &trace->scan.tables.threads[row + 1];

	switch (column) {
	case THREAD_ID:
		list_integer(context, row + 1);
		break;
	case THREAD_TID:
		list_integer(context, koids->thread);
		break;
	case THREAD_NAME:
		fxt_sql_result_text(context, trace, trace->thread_names[row + 1]);
		break;
	case THREAD_PID:
		list_integer(context, koids->process);
		break;
	case THREAD_PROCESS:
		fxt_sql_result_text(context, trace, trace->process_names[row + 1]);
		break;
	case THREAD_CALLS:
		list_integer(context, fxt_sql_sums(trace)->calls_of[row + 1]);
		break;
	default:
		list_thread_times(context, trace, koids->thread, column);
		break;
	}
}

const struct fxt_sql_list fxt_sql_threads = {list_count_threads, list_thread_value, list_find_thread};

/* ---- processes ---- */

enum {
	PROCESS_PID,
	PROCESS_NAME,
	PROCESS_THREADS,
	PROCESS_CALLS,
	PROCESS_RANK,
	PROCESS_SIZE,
	PROCESS_HOST,
	PROCESS_JOB
};

static size_t list_count_processes(struct fxt_sql_trace *trace)
{
	return trace->process_count;
}

static void list_rank_value(sqlite3_context *context, const struct fxt_sql_trace *trace,
        const struct fxt_job_place *rank, int column)
{
	if (column == PROCESS_RANK && rank->is_known)
		list_integer(context, rank->rank);
	if (column == PROCESS_SIZE && rank->size > 0)
		list_integer(context, rank->size);
	if (column == PROCESS_HOST && rank->host != FXT_NOTHING)
		fxt_sql_result_text(context, trace, rank->host);
	if (column == PROCESS_JOB && rank->job != FXT_NOTHING)
		fxt_sql_result_text(context, trace, rank->job);
}

static void list_process_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	uint64_t pid = trace->processes[row];
	const struct fxt_job_place rank = fxt_tables_place(&trace->scan.tables, pid);

	switch (column) {
	case PROCESS_PID:
		list_integer(context, pid);
		break;
	case PROCESS_NAME:
		fxt_sql_result_text(
		        context, trace, fxt_tables_object_name(&trace->scan.tables, FXT_OBJECT_PROCESS, pid));
		break;
	case PROCESS_THREADS:
		list_integer(context, trace->threads_of[row]);
		break;
	case PROCESS_CALLS:
		list_integer(context, fxt_sql_sums(trace)->calls_of_process[row]);
		break;
	default:
		list_rank_value(context, trace, &rank, column);
		break;
	}
}

const struct fxt_sql_list fxt_sql_processes = {list_count_processes, list_process_value, NULL};

/* ---- the trace ---- */

enum {
	TRACE_FILE,
	TRACE_BYTES,
	TRACE_START,
	TRACE_BEGAN,
	TRACE_DURATION,
	TRACE_RECORDS,
	TRACE_MALFORMED,
	TRACE_LOST,
	TRACE_OVERWRITTEN,
	TRACE_ELIDED,
	TRACE_IS_FINISHED,
	TRACE_IS_CUT,
	TRACE_IS_WHOLE
};

static size_t list_count_traces(struct fxt_sql_trace *trace)
{
	(void)trace;
	return 1;
}

static bool list_is_whole(const struct fxt_scan *scan)
{
	const struct fxt_archive_state *state = &scan->state;

	return state->is_finished && state->is_finished != FXT_ARCHIVE_RECOVERED && scan->cut.what == 0 &&
	       !scan->fault.reason && scan->malformed == 0 && scan->records_lost == 0 &&
	       scan->records_overwritten == 0 && state->bytes_unwritten == 0 &&
	       state->processes_dropped == 0 && state->max_bytes == 0;
}

static void list_trace_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	const struct fxt_scan *scan = &trace->scan;

	(void)row;
	switch (column) {
	case TRACE_FILE:
		sqlite3_result_text(context, trace->name, -1, SQLITE_STATIC);
		break;
	case TRACE_BYTES:
		list_integer(context, scan->source->bytes);
		break;
	case TRACE_START:
		list_integer(context, trace->start_ns);
		break;
	case TRACE_BEGAN:
		if (scan->began.realtime_ns)
			list_integer(context, scan->began.realtime_ns);
		break;
	case TRACE_DURATION:
		list_integer(context, fxt_scan_ns(scan, scan->end) - trace->start_ns);
		break;
	case TRACE_RECORDS:
		list_integer(context, scan->records);
		break;
	case TRACE_MALFORMED:
		list_integer(context, scan->malformed);
		break;
	case TRACE_LOST:
		list_integer(context, scan->records_lost);
		break;
	case TRACE_OVERWRITTEN:
		list_integer(context, scan->records_overwritten);
		break;
	case TRACE_ELIDED:
		list_integer(context, scan->elided_sums.calls);
		break;
	case TRACE_IS_FINISHED:
		sqlite3_result_int(context, scan->state.is_finished != 0);
		break;
	case TRACE_IS_CUT:
		sqlite3_result_int(context, scan->cut.what != 0);
		break;
	case TRACE_IS_WHOLE:
		sqlite3_result_int(context, list_is_whole(scan));
		break;
	}
}

const struct fxt_sql_list fxt_sql_whole_trace = {list_count_traces, list_trace_value, NULL};

/* ---- labels ---- */

enum { LABEL_NAME, LABEL_PID, LABEL_ADDRESS, LABEL_KOID, LABEL_TYPE };

static size_t list_count_labels(struct fxt_sql_trace *trace)
{
	return trace->scan.tables.labels.count;
}

/* A value that an object of the other kind lacks stays null. */
static void list_label_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	const struct fxt_label *label = &trace->scan.tables.labels.items[row];
	bool is_kernel = label->process == FXT_LABEL_KERNEL;
	char address[24];

	if (column == LABEL_NAME) {
		fxt_sql_result_text(context, trace, label->name);
	} else if (is_kernel && column == LABEL_KOID) {
		list_integer(context, label->value);
	} else if (is_kernel && column == LABEL_TYPE) {
		list_integer(context, label->type);
	} else if (!is_kernel && column == LABEL_PID) {
		list_integer(context, label->process);
	} else if (!is_kernel && column == LABEL_ADDRESS) {
		snprintf(address, sizeof(address), "0x%" PRIx64, label->value & ~FXT_LABEL_BLOCK);
		sqlite3_result_text(context, address, -1, SQLITE_TRANSIENT);
	}
}

const struct fxt_sql_list fxt_sql_labels = {list_count_labels, list_label_value, NULL};
