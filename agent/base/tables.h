/*
 * Tables of zeros that threads make when they first need them, without a lock: inside hooks
 * and in signal handlers too. A table stays as long as the process. A forked child has
 * copies of its own.
 */
#ifndef FXT_AGENT_TABLES_H
#define FXT_AGENT_TABLES_H

#include <stddef.h>

/* Returns the table at `at`, and makes it if there is none. NULL: there is no memory, or
 * the process may make no system call. */
void *agent_table_make(void **at, size_t bytes);

#endif
