/*
 * Limits that a build sets for a trace: 'handle_request.p99 > 5ms' fails the build if it is
 * true, and so does 'total(parse) > +5%' relative to the median of earlier traces. If a
 * verdict could be reversed by records that the trace has lost, there is no verdict.
 */
#ifndef FXT_FXT_ASSERTIONS_H
#define FXT_FXT_ASSERTIONS_H

#include "options.h"

/* Exit statuses after those of commands.h; the highest one of several files is the
 * worst. */
enum { FXT_UNKNOWN = 3, FXT_EXCEEDED = 4 };

struct fxt_assertions {
	struct fxt_assertion *rules;
	size_t count, room;
	struct fxt_junit *junit;           /* gets each verdict too; or NULL */
	const struct fxt_options *options; /* the choice that all traces have in common */
};

/* Adds a rule: FUNCTION.METRIC OPERATOR VALUE or METRIC(FUNCTION) OPERATOR VALUE. For
 * FUNCTION, span(NAME) is the durations of that name that programs say or, if there are
 * none, the async spans. A
 * value with a sign, such as +5%, is relative. Returns NULL, or a phrase that says what
 * is wrong with the rule. */
const char *fxt_assertions_add(struct fxt_assertions *a, const char *rule);

/* Returns a relative rule; NULL if there is none. */
const char *fxt_assertions_relative(const struct fxt_assertions *a);

/* Reads earlier traces, with the same choice, as the reference for relative rules.
 * Returns the worst status. */
int fxt_assertions_learn(struct fxt_assertions *a, char *command, char **files, size_t count);

/* Compares a trace with the rules, which are the state, and prints a row for each; a
 * callback of fxt_each_scan(). */
int fxt_assertions_answer(void *state, const char *name, struct fxt_scan *scan);

void fxt_assertions_free(struct fxt_assertions *a);

#endif
