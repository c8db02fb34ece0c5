/*
 * Makes groupings (functions.h) of calls, for one trace: by function, by the origin of the
 * function, by thread or process, by the value of an argument, or by caller. Also gives the
 * names of their keys.
 */
#ifndef FXT_READER_GROUPS_H
#define FXT_READER_GROUPS_H

#include <stdio.h>
#include "reader/slices/query_filter.h"
#include "functions.h"

enum fxt_group {
	FXT_GROUP_FUNCTION,
	FXT_GROUP_MODULE,
	FXT_GROUP_FILE,
	FXT_GROUP_CATEGORY,
	FXT_GROUP_THREAD,
	FXT_GROUP_PROCESS,
	FXT_GROUP_PROGRAM,  /* all processes with the same name */
	FXT_GROUP_ARGUMENT, /* by the value of an argument */
	FXT_GROUP_CALLERS,  /* the calls of some functions, by caller */
	FXT_GROUP_CALLEES,  /* the calls that some functions made */
	FXT_GROUPS
};

struct fxt_groups {
	struct fxt_grouping grouping;
	enum fxt_group group;
	uint32_t *key_of;
	bool *of;
	struct fxt_values values;
	char **texts; /* by thread: the texts requested so far */
	size_t text_count;
};

/*
 * Makes a grouping. `of` has the functions for CALLERS or CALLEES; `argument` is the name
 * for ARGUMENT, and calls without it should be hidden (fxt_query_filter_by()). Returns 0, or
 * -1 with one line in error[error_bytes]: there are no such functions.
 */
int fxt_groups_make(struct fxt_groups *groups, const struct fxt_scan *scan, enum fxt_group group,
        const struct fxt_patterns *of, const char *argument, char *error, size_t error_bytes);

/* The name of a key, valid as long as the groups and the scan. */
struct fxt_span fxt_groups_name(struct fxt_groups *groups, const struct fxt_scan *scan, uint32_t key);

void fxt_groups_free(struct fxt_groups *groups);

/* Writes 'process 100 "program"', without the quoted part if it has no name. */
void fxt_groups_write_object(FILE *out, const struct fxt_tables *t, enum fxt_object_type type, uint64_t koid);

/* Writes 'thread 101 "main thread" of process 100 "program"'. */
void fxt_groups_write_thread(FILE *out, const struct fxt_tables *t, struct fxt_koids thread);

#endif
