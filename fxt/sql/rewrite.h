/*
 * Answers aggregates over calls from sums. SQLite asks a virtual table for each row, which
 * takes seconds for ten million calls. A statement such as
 *
 *   select function, count(*), max(duration) from calls where pid = 7 group by function
 *
 * gives the same answer from call_sums, which one walk makes:
 *
 *   select function, ifnull(sum(calls), 0), max(longest) from call_sums where pid = 7
 *   group by function
 */
#ifndef FXT_FXT_SQL_REWRITE_H
#define FXT_FXT_SQL_REWRITE_H

/* Returns the other statement, to be freed, for one that ends before `end`. NULL: the
 * statement has something that this does not know. Its rows are then read one by one. */
char *fxt_sql_rewrite(const char *statement, const char *end);

#endif
