/*
 * Verdicts of fxt check as JUnit's XML, which CI services show: a suite for each trace, a
 * test case for each rule. A failed rule is a failure, an unknown verdict an error.
 */
#ifndef FXT_FXT_JUNIT_H
#define FXT_FXT_JUNIT_H

#include <stdbool.h>
#include <stdio.h>

struct fxt_junit;

struct fxt_junit_case {
	const char *trace, *rule, *measured, *remark;
	const char *reason; /* why the verdict is unknown or uncertain, or NULL */
	bool is_failed, is_unknown;
};

struct fxt_junit *fxt_junit_begin(void);

/* Cases of one trace follow each other. */
void fxt_junit_add(struct fxt_junit *junit, const struct fxt_junit_case *of);

/* Writes the document, and frees what was collected. */
void fxt_junit_end(struct fxt_junit *junit, FILE *out);

#endif
