/*
 * Statements that a user types at a terminal, one after the other.
 */
#ifndef FXT_FXT_SQL_PROMPT_H
#define FXT_FXT_SQL_PROMPT_H

#include "database.h"

/* Reads and runs statements until the end of the input, or .quit. An interrupt (SIGINT)
 * ends the statement that is running. */
void fxt_sql_prompt(sqlite3 *database, struct fxt_sql_trace *trace);

#endif
