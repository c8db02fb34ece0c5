/*
 * Limits that a build sets to a trace: 'handle_request.p99 > 5ms' is what makes it fail, or 'total(parse) >
 * +5%', beside the median of traces from before. What a trace has lost can turn a verdict about, and then
 * there is none.
 */
#ifndef FXT_FXT_LIMITS_H
#define FXT_FXT_LIMITS_H

#include "options.h"

/* Exit statuses behind those of commands.h; the worst of several files is the highest. */
enum { FXT_UNKNOWN = 3, FXT_EXCEEDED = 4 };

/* Takes over a rule, FUNCTION.METRIC OPERATOR VALUE or METRIC(FUNCTION) OPERATOR VALUE; a value with a sign,
 * as +5%, is relative. Returns NULL, or what is wrong with it as half a sentence. */
const char *fxt_limits_add(const char *rule);

/* How many there are. */
size_t fxt_limits_count(void);

/* A rule that is relative; NULL: there is none. */
const char *fxt_limits_relative(void);

/* Reads traces from before, with the same choice, for the rules that are relative. Returns the worst status.
 */
int fxt_limits_learn(const struct fxt_options *options, char *command, char **files, size_t count);

/* Compares a trace with the rules, for fxt_each_scan(), and prints a row for each. */
int fxt_limits_answer(const char *name, struct fxt_scan *scan);

void fxt_limits_free(void);

#endif
