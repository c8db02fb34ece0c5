/*
 * Whether an archive keeps the rules: those of each record (rules.h), and those between records. Framing has
 * no break; a provider is announced before its sections; durations and async events that end have
 * begun; slices of one thread nest, and no two start in the same nanosecond, for viewers lose one of two such
 * slices; flows are in slices. What began and never ended breaks no rule.
 *
 * What the format lets a reader skip, being of a type that is not known, is a warning, and so are slices
 * deeper than viewers draw, flows that end without a begin, and what lost what it belongs to.
 */
#ifndef FXT_READER_CHECK_H
#define FXT_READER_CHECK_H

#include "archive.h"
#include "reader/stats/verdict.h"

/* The verdict is to be freed, and must not outlive the archive. */
void fxt_check_archive(const struct fxt_archive *archive, struct fxt_verdict *verdict);

#endif
