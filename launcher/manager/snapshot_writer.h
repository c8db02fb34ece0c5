/*
 * The process that writes a snapshot (snapshots.h): a fork of fxtrun. Everything in it is
 * as it was at the fork, except the memories that the providers write to.
 */
#ifndef FXT_LAUNCHER_MANAGER_SNAPSHOT_WRITER_H
#define FXT_LAUNCHER_MANAGER_SNAPSHOT_WRITER_H

#include <limits.h>
#include "session.h"

struct fxt_snapshot_result {
	struct fxt_totals totals;
	uint64_t bytes;
	char path[PATH_MAX];
	char error[PATH_MAX + 256]; /* one line; empty = the snapshot is there */
};

/*
 * Writes a finished trace of the session to `path`. If `path` is empty, writes it beside
 * `output`, the session's output, under the first number without a file. Sends the result
 * to `report` in one piece, and ends the process. No thread may be writing to the archive
 * at the fork.
 */
void fxt_snapshot_write(const struct fxt_session *session, const char *path, const char *output, int report)
        __attribute__((noreturn));

#endif
