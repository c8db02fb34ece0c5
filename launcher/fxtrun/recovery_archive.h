/*
 * The archive of a recorder that was killed, as the job goes on with it.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RECOVERY_ARCHIVE_H
#define FXT_LAUNCHER_FXTRUN_RECOVERY_ARCHIVE_H

#include "recovery.h"

/* Drops what is to be taken again, by the ledger, and a part of a record at the end; recovery->archive then
 * writes behind the rest. Returns 0, or an errno value. */
int fxt_recovery_resume_archive(struct fxt_recovery *recovery);

/* Appends what processes left that had ended: those segments that are not dropped, but for what is to be
 * taken again. */
void fxt_recovery_take_segments(struct fxt_recovery *recovery);

#endif
