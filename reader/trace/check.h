/*
 * Checks that an archive keeps the rules: those of each record (rules.h), and those between
 * records. Framing has no break. A provider is announced before its sections. Durations and
 * async events that end have begun. Slices of one thread nest, and no two start in the same
 * nanosecond, because viewers lose one of two such slices. Flows are in slices. Something
 * that began and never ended breaks no rule.
 *
 * Four things are warnings: records of unknown types, which the format lets a reader skip;
 * slices deeper than viewers draw; flows that end without a begin; and events that lost
 * what they belong to.
 */
#ifndef FXT_READER_CHECK_H
#define FXT_READER_CHECK_H

#include "archive.h"
#include "reader/stats/verdict.h"

/* The verdict is to be freed, and must not outlive the archive. */
void fxt_check_archive(const struct fxt_archive *archive, struct fxt_verdict *verdict);

#endif
