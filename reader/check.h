/*
 * Whether an archive keeps the rules: those of each record (rules.h), and those between records. Framing has
 * no break; a provider tells its ticks before its first time, and is announced before its sections; durations
 * that end have begun; slices of one thread nest, and no two start in the same nanosecond, for viewers lose
 * one of two such slices. A duration that began and never ended breaks no rule.
 */
#ifndef FXT_READER_CHECK_H
#define FXT_READER_CHECK_H

#include "archive.h"
#include "verdict.h"

/* The verdict is to be freed, and must not outlive the archive. */
void fxt_check_archive(const struct fxt_archive *archive, struct fxt_verdict *verdict);

#endif
