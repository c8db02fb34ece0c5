/*
 * The tables of fxt sql as data: the name, the columns, and a line of the manual for each.
 * Also registers them, and the views, with SQLite. Runs on the main thread.
 */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include "lists.h"
#include "reader/stats/figures.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

#define OF_A_THREAD                                                      \
	{"tid", NULL, FXT_SQL_TID, "the number of the thread"},          \
	        {"thread", NULL, FXT_SQL_THREAD, "its name"},            \
	        {"pid", NULL, FXT_SQL_PID, "the number of its process"}, \
	{                                                                \
		"process", NULL, FXT_SQL_PROCESS, "its name"             \
	}

#define OF_A_SLICE                                                                              \
	{"id", NULL, FXT_SQL_ID, "of the call: the offset of its record in the file"},          \
	        {"start", NULL, FXT_SQL_START, "when it began"},                                \
	        {"end", NULL, FXT_SQL_END,                                                      \
	                "when it ended; for an open one, when its process or the trace ended"}, \
	{                                                                                       \
		"duration", NULL, FXT_SQL_DURATION, "end - start"                               \
	}

#define OF_A_CALLER                                                                        \
	{"caller", NULL, FXT_SQL_CALLER, "the id of the call or inherited call it is in"}, \
	{                                                                                  \
		"caller_function", NULL, FXT_SQL_CALLER_NAME, "the function of that call"  \
	}

static const struct fxt_sql_column calls[] = {
        OF_A_SLICE,
        {"self", NULL, FXT_SQL_SELF, "the part of duration in which it was in no slice inside it"},
        {"calls", NULL, FXT_SQL_INNER_CALLS, "how many calls it made itself"},
        {"depth", NULL, FXT_SQL_DEPTH, "how many slices it is in"},
        OF_A_THREAD,
        {"function", NULL, FXT_SQL_NAME, "the name of the function"},
        {"function_id", NULL, FXT_SQL_NAME_ID, "its id in functions"},
        {"module", NULL, FXT_SQL_MODULE,
                "the path of the function's program or library, if the trace has it"},
        {"category", NULL, FXT_SQL_CATEGORY, "of the record"},
        OF_A_CALLER,
        {"is_open", NULL, FXT_SQL_IS_OPEN, "1: it never ended"},
        {"is_abandoned", NULL, FXT_SQL_IS_ABANDONED,
                "1: it was left by a jump, an exception or the end of its thread"},
        {"arguments", NULL, FXT_SQL_ARGUMENTS, "of the record, as JSON"},
};

static const struct fxt_sql_column waits[] = {
        OF_A_SLICE,
        {"name", NULL, FXT_SQL_NAME, "the function that waited: pthread_mutex_lock"},
        {"object", NULL, FXT_SQL_OBJECT, "the address of the lock, in hexadecimal"},
        {"symbol", NULL, FXT_SQL_SYMBOL, "the variable that it is, if it has a name"},
        {"fd", NULL, FXT_SQL_FD, "the descriptor, if it waited for one"},
        OF_A_THREAD,
        OF_A_CALLER,
        {"is_open", NULL, FXT_SQL_IS_OPEN, "1: it never ended"},
        {"arguments", NULL, FXT_SQL_ARGUMENTS, "of the record, as JSON"},
};

static const struct fxt_sql_column losses[] = {
        {"id", NULL, FXT_SQL_ID, "the offset of its record in the file"},
        {"start", NULL, FXT_SQL_START, "when records begin to be missing"},
        {"end", NULL, FXT_SQL_END, "and when they are complete again"},
        {"duration", NULL, FXT_SQL_DURATION, "end - start"},
        {"fate", NULL, FXT_SQL_FATE, "lost: there was no room; overwritten: by newer ones"},
        {"records", NULL, FXT_SQL_LOST, "how many"},
        OF_A_THREAD,
};

static const struct fxt_sql_column events[] = {
        {"id", NULL, FXT_SQL_ID, "the offset of its record in the file"},
        {"time", NULL, FXT_SQL_START, "when it was"},
        {"kind", NULL, FXT_SQL_KIND, "instant, async begin, async instant or async end"},
        {"name", NULL, FXT_SQL_NAME, "of the event"},
        {"category", NULL, FXT_SQL_CATEGORY, "of the event"},
        {"async_id", NULL, FXT_SQL_NUMBER, "the same for the begin and the end of one asynchronous event"},
        OF_A_THREAD,
        OF_A_CALLER,
        {"arguments", NULL, FXT_SQL_ARGUMENTS, "of the event, as JSON"},
};

static const struct fxt_sql_column counters[] = {
        {"id", NULL, FXT_SQL_ID, "the offset of its record in the file"},
        {"time", NULL, FXT_SQL_START, "from when on it had the value"},
        {"name", NULL, FXT_SQL_NAME, "of the counter"},
        {"category", NULL, FXT_SQL_CATEGORY, "of the counter"},
        {"counter", NULL, FXT_SQL_NUMBER, "its number, which tells counters of one name apart"},
        {"series", NULL, FXT_SQL_SERIES, "the name of the value: a counter has one or several"},
        {"value", NULL, FXT_SQL_VALUE, "the value"},
        OF_A_THREAD,
};

static const struct fxt_sql_column flow_events[] = {
        {"id", NULL, FXT_SQL_ID, "the offset of its record in the file"},
        {"time", NULL, FXT_SQL_START, "when it was"},
        {"kind", NULL, FXT_SQL_KIND, "begin, step or end"},
        {"flow", NULL, FXT_SQL_NUMBER, "the same for all events of one flow"},
        {"name", NULL, FXT_SQL_NAME, "of the event"},
        {"category", NULL, FXT_SQL_CATEGORY, "of the event"},
        OF_A_THREAD,
        OF_A_CALLER,
};

static const struct fxt_sql_column switches[] = {
        {"id", NULL, FXT_SQL_ID, "the offset of its record in the file"},
        {"time", NULL, FXT_SQL_START, "when it was; less than 0 before the first event"},
        {"kind", NULL, FXT_SQL_SWITCH_KIND, "switch, or wakeup of a thread that waited"},
        {"cpu", NULL, FXT_SQL_CPU, "where"},
        {"out_tid", NULL, FXT_SQL_OUT_TID, "the thread that left the CPU; none: it was idle"},
        {"out_thread", NULL, FXT_SQL_OUT_THREAD, "its name"},
        {"out_state", NULL, FXT_SQL_OUT_STATE,
                "runnable: it was preempted; blocked, suspended, dying or dead"},
        {"in_tid", NULL, FXT_SQL_IN_TID,
                "the thread that came to the CPU, or woke up; none: it is idle from then on"},
        {"in_thread", NULL, FXT_SQL_IN_THREAD, "its name"},
};

#define NOT_OF_SQL(...)
#define COLUMN_OF_FIGURE(id, name, type, meaning, ...) {name, type, 0, meaning},

static const struct fxt_sql_column functions[] = {
        {"id", "INTEGER", 0, "the same as function_id of calls"},
        {"name", "TEXT", 0, "of the function"},
        FXT_FIGURE_ROWS(NOT_OF_SQL, COLUMN_OF_FIGURE){
                "open", "INTEGER", 0, "of the calls, those that never ended"},
        {"module", "TEXT", 0, "the path of its program or library, if the trace has it"},
        {"file", "TEXT", 0, "the same, of its source"},
        {"line", "INTEGER", 0, "where it begins there"},
};

static const struct fxt_sql_column call_sums[] = {
        {"function", "TEXT", 0, "the name of the function"},
        {"function_id", "INTEGER", 0, "its id in functions"},
        {"module", "TEXT", 0, "the path of its program or library, if the trace has it"},
        {"tid", "INTEGER", 0, "the number of the thread"},
        {"thread", "TEXT", 0, "its name"},
        {"pid", "INTEGER", 0, "the number of its process"},
        {"process", "TEXT", 0, "its name"},
        {"calls", "INTEGER", 0, "the rows that calls has of them"},
        {"duration", "INTEGER", 0, "the sum of their durations"},
        {"self", "INTEGER", 0, "the sum of their self times"},
        {"shortest", "INTEGER", 0, "the least duration"},
        {"longest", "INTEGER", 0, "the greatest duration"},
};

static const struct fxt_sql_column threads[] = {
        {"id", "INTEGER", 0, "a number that no other thread of the trace has"},
        {"tid", "INTEGER", 0, "its number"},
        {"thread", "TEXT", 0, "its name"},
        {"pid", "INTEGER", 0, "the number of its process"},
        {"process", "TEXT", 0, "its name"},
        {"calls", "INTEGER", 0, "that it made"},
        {"running", "INTEGER", 0, "how long it ran on a CPU; NULL: nothing is known of its switches"},
        {"runnable", "INTEGER", 0, "how long it could have run, but something else did"},
        {"blocked", "INTEGER", 0, "how long it waited"},
        {"switches", "INTEGER", 0, "how often it left a CPU to come back"},
};

static const struct fxt_sql_column processes[] = {
        {"pid", "INTEGER", 0, "its number"},
        {"process", "TEXT", 0, "its name"},
        {"threads", "INTEGER", 0, "how many of its threads are in the trace"},
        {"calls", "INTEGER", 0, "that these made"},
        {"rank", "INTEGER", 0, "its rank in a parallel job; NULL: it is in none"},
        {"size", "INTEGER", 0, "how many ranks that job has"},
        {"host", "TEXT", 0, "the name of the host it ran on"},
        {"job", "TEXT", 0, "the name that the launcher gave the job"},
};

static const struct fxt_sql_column objects[] = {
        {"address", "TEXT", 0, "of the block, in hexadecimal"},
        {"size", "INTEGER", 0, "in bytes, as the program asked for it"},
        {"start", "INTEGER", 0, "when it was allocated"},
        {"end", "INTEGER", 0, "when it was freed; NULL: never"},
        {"duration", "INTEGER", 0, "end - start"},
        {"fate", "TEXT", 0,
                "freed, leaked, kept by the C library, or replaced: gone with its image at an exec"},
        {"is_temporary", "INTEGER", 0, "1: its thread freed it before it did anything else to the heap"},
        {"tid", "INTEGER", 0, "the number of the thread that allocated it"},
        {"thread", "TEXT", 0, "its name"},
        {"pid", "INTEGER", 0, "the number of its process"},
        {"process", "TEXT", 0, "its name"},
        {"function", "TEXT", 0, "the innermost function of path"},
        {"path", "TEXT", 0, "the functions that led to the allocation, outermost first"},
        {"weight", "REAL", 0, "how many blocks it stands for: more than 1 if blocks were sampled"},
};

static const struct fxt_sql_column modules[] = {
        {"module", "TEXT", 0, "the path of its file"},
        {"build_id", "TEXT", 0, "identifies the file"},
        {"pid", "INTEGER", 0, "the number of the process that it was mapped into"},
        {"process", "TEXT", 0, "its name"},
        {"address", "TEXT", 0, "where, in hexadecimal"},
        {"bytes", "INTEGER", 0, "from there to the end of its last part"},
};

static const struct fxt_sql_column labels[] = {
        {"label", "TEXT", 0, "the name of the object"},
        {"pid", "INTEGER", 0, "the number of the process in which a pointer means it, else null"},
        {"address", "TEXT", 0, "that pointer, in hexadecimal, else null"},
        {"koid", "INTEGER", 0, "the number of a kernel object, else null"},
        {"type", "INTEGER", 0, "of a kernel object: 1 a process, 2 a thread, or another"},
};

static const struct fxt_sql_column trace[] = {
        {"file", "TEXT", 0, "its name, as it was given"},
        {"bytes", "INTEGER", 0, "its size"},
        {"start", "INTEGER", 0,
                "when the trace began, by the clock that it was recorded with; all other times count from "
                "there"},
        {"began", "INTEGER", 0, "when recording began, in nanoseconds since 1970; NULL: not known"},
        {"duration", "INTEGER", 0, "from the first event to the last"},
        {"records", "INTEGER", 0, "in the file"},
        {"malformed", "INTEGER", 0, "of these, skipped because they cannot be read"},
        {"lost", "INTEGER", 0, "records that found no room"},
        {"overwritten", "INTEGER", 0, "records that made room for newer ones"},
        {"calls_left_out", "INTEGER", 0, "calls that fxtrun elided: functions has them, calls does not"},
        {"is_finished", "INTEGER", 0, "0: the end of the trace was never written"},
        {"is_cut", "INTEGER", 0, "1: it is a part of another one, made by fxt cut"},
        {"is_whole", "INTEGER", 0, "1: finished, no cut, read to its end, and no record is missing"},
};

const struct fxt_sql_table fxt_sql_tables[] = {
        {"calls", "each call of a function", calls, COUNT(calls), FXT_SQL_CALLS, NULL},
        {"slices", "everything that lasts: calls, waits, losses, and other slices of threads", calls,
                COUNT(calls), FXT_SQL_SLICES, NULL},
        {"functions",
                "the sums of each function's calls, as in fxt report: without time in which the tracer made "
                "threads wait",
                functions, COUNT(functions), 0, &fxt_sql_functions},
        {"call_sums", "calls, summed up by thread and function", call_sums, COUNT(call_sums), 0,
                &fxt_sql_call_sum_list},
        {"threads", "the threads", threads, COUNT(threads), 0, &fxt_sql_threads},
        {"processes", "the processes", processes, COUNT(processes), 0, &fxt_sql_processes},
        {"switches", "context switches", switches, COUNT(switches), FXT_SQL_SWITCHES, NULL},
        {"waits", "each wait for a lock, a condition, a thread, time or a descriptor", waits, COUNT(waits),
                FXT_SQL_WAITS, NULL},
        {"flow_events", "begins, steps and ends of arrows between threads", flow_events, COUNT(flow_events),
                FXT_SQL_FLOWS, NULL},
        {"counters", "each value of a counter", counters, COUNT(counters), FXT_SQL_COUNTERS, NULL},
        {"events", "instants and asynchronous events; a page fault is one of category sched", events,
                COUNT(events), FXT_SQL_EVENTS, NULL},
        {"objects", "the blocks of the heap, of a trace recorded with --heap", objects, COUNT(objects), 0,
                &fxt_sql_objects},
        {"losses", "where records are missing", losses, COUNT(losses), FXT_SQL_LOSSES, NULL},
        {"modules", "programs and libraries", modules, COUNT(modules), 0, &fxt_sql_module_list},
        {"labels", "what pointers and koids among the arguments of events mean, at the end of the trace",
                labels, COUNT(labels), 0, &fxt_sql_labels},
        {"trace", "one row, of the trace as a whole", trace, COUNT(trace), 0, &fxt_sql_whole_trace},
        {0},
};

int fxt_sql_add_tables(sqlite3 *database, struct fxt_sql_trace *trace)
{
	int status = SQLITE_OK;

	for (const struct fxt_sql_table *table = fxt_sql_tables; table->name && status == SQLITE_OK;
	        table++) {
		struct fxt_sql_client *client = fxt_allocate(sizeof(*client));
		char statement[256];

		*client = (struct fxt_sql_client){trace, table};
		snprintf(statement, sizeof(statement), "fxt_%s", table->name);
		status = sqlite3_create_module_v2(database, statement,
		        table->list ? &fxt_sql_list_module : &fxt_sql_row_module, client, free);
		snprintf(statement, sizeof(statement), "CREATE VIRTUAL TABLE \"%s\" USING \"fxt_%s\"",
		        table->name, table->name);
		if (status == SQLITE_OK)
			status = sqlite3_exec(database, statement, NULL, NULL, NULL);
	}
	for (const struct fxt_sql_view *view = fxt_sql_views; view->name && status == SQLITE_OK; view++) {
		char *statement = sqlite3_mprintf("CREATE VIEW \"%w\" AS %s", view->name, view->query);

		status = statement ? sqlite3_exec(database, statement, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(statement);
	}
	return status;
}
