/*
 * The process that writes a snapshot (snapshots.h): a fork of fxtrun, in which all is as it was at the fork
 * but the memories that the providers write to.
 */
#ifndef FXT_LAUNCHER_SESSION_SNAPSHOT_WRITER_H
#define FXT_LAUNCHER_SESSION_SNAPSHOT_WRITER_H

#include <limits.h>
#include "session.h"

struct fxt_snapshot_result {
	struct fxt_totals totals;
	uint64_t bytes;
	char path[PATH_MAX];
	char error[PATH_MAX + 256]; /* one line; empty = the snapshot is there */
};

/*
 * Writes a finished trace of the session to `path`; if that is empty, beside `output`, the session's, with
 * the first number that no file has. The result goes to `report`, in one piece, and the process ends. At the
 * fork nobody was writing to the archive.
 */
void fxt_snapshot_write(const struct fxt_session *session, const char *path, const char *output, int report)
        __attribute__((noreturn));

#endif
