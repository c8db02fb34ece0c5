/*
 * Checks that an archive keeps the rules of the rule book (reader/stats/verdict.h): those
 * of each record (rules.h), and those between records. Something that began and never ended
 * breaks no rule.
 *
 * Records may stand in any order of time, as the format allows, so rules between records
 * are decided at the archive's end.
 */
#ifndef FXT_READER_CHECK_H
#define FXT_READER_CHECK_H

#include "archive.h"
#include "reader/stats/verdict.h"

/* The verdict is to be freed, and must not outlive the archive. */
void fxt_check_archive(const struct fxt_archive *archive, struct fxt_verdict *verdict);

#endif
