/*
 * Limits that a build sets to a trace: 'handle_request.p99 > 5ms' is what makes it fail. What a trace has
 * lost can turn a verdict about, and then there is none.
 */
#ifndef FXT_FXT_LIMITS_H
#define FXT_FXT_LIMITS_H

#include "options.h"

/* Exit statuses behind those of commands.h; the worst of several files is the highest. */
enum { FXT_UNKNOWN = 3, FXT_EXCEEDED = 4 };

/* Takes over a rule, FUNCTION.METRIC OPERATOR VALUE or METRIC(FUNCTION) OPERATOR VALUE. Returns NULL, or what
 * is wrong with it as half a sentence. */
const char *fxt_limits_add(const char *rule);

/* How many there are. */
size_t fxt_limits_count(void);

/* Compares a trace with the rules, for fxt_each_scan(), and prints a row for each. */
int fxt_limits_answer(const char *name, struct fxt_scan *scan);

void fxt_limits_free(void);

#endif
