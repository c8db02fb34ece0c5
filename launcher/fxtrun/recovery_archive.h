/*
 * The supervisor's continuation of the archive of a killed manager.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RECOVERY_ARCHIVE_H
#define FXT_LAUNCHER_FXTRUN_RECOVERY_ARCHIVE_H

#include "recovery.h"

/* Drops the records that will be taken again, according to the ledger, and an incomplete
 * record at the end. recovery->archive then writes behind the remainder. Returns 0, or an
 * errno value. */
int fxt_recovery_resume_archive(struct fxt_recovery *recovery);

/* Appends the segments of ended processes that are not dropped, without the records that
 * will be taken again. */
void fxt_recovery_take_segments(struct fxt_recovery *recovery);

#endif
