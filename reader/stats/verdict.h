/*
 * The result of fxt check: every broken rule, how often it was broken, and where first.
 */
#ifndef FXT_READER_VERDICT_H
#define FXT_READER_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "elided.h"

enum { FXT_VIOLATIONS_KEPT = 10 };

struct fxt_violation {
	uint64_t offset; /* of the record, or of the argument in it, in bytes */
	char detail[48]; /* the value; may be empty */
};

struct fxt_broken_rule {
	const char *rule; /* in words */
	bool warning;     /* no rule of the format is broken: a viewer shows less than the
	                     trace holds */
	uint64_t count;
	struct fxt_violation first[FXT_VIOLATIONS_KEPT];
};

struct fxt_verdict {
	struct fxt_broken_rule *rules;
	size_t count, room;
	uint64_t violations;                /* in total */
	uint64_t warnings;                  /* in addition to these */
	uint64_t records;                   /* whole records seen */
	struct fxt_elided_sums elided_sums; /* elided calls are no violation */
};

/* Notes a violation, or a warning. `rule` must be a literal, always the same for one
 * rule. */
void fxt_violation(struct fxt_verdict *verdict, uint64_t offset, const char *rule, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
void fxt_warning(struct fxt_verdict *verdict, uint64_t offset, const char *rule, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

void fxt_verdict_free(struct fxt_verdict *verdict);

#endif
