/*
 * The tables that are lists (tables.h): functions, sums of calls, threads, processes, the
 * trace as a whole, blocks of the heap, modules, and names of other objects.
 */
#ifndef FXT_FXT_SQL_LISTS_H
#define FXT_FXT_SQL_LISTS_H

#include "tables.h"

extern const struct fxt_sql_list fxt_sql_functions, fxt_sql_threads, fxt_sql_processes, fxt_sql_whole_trace,
        fxt_sql_objects, fxt_sql_call_sum_list, fxt_sql_module_list, fxt_sql_labels;

void fxt_sql_modules_free(struct fxt_sql_modules *modules);

#endif
