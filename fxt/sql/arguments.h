/*
 * The arguments of a record as JSON, which SQLite's functions take apart: {"pointer": "0x7f31", "size": 24}.
 */
#ifndef FXT_FXT_SQL_ARGUMENTS_H
#define FXT_FXT_SQL_ARGUMENTS_H

#include "reader/tables.h"

/* `t` having the meaning of their indices. NULL if there are none; else allocated with malloc(). */
char *fxt_sql_arguments(struct fxt_tables *t, struct fxt_arguments arguments);

#endif
