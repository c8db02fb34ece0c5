/*
 * Snapshots of a circular session: finished traces of the records that its providers hold
 * at one moment, written while they run on.
 *
 * A separate process writes each one. It is a fork: it shares the memories of the
 * providers, and has the state of the session at the fork. Therefore neither the session
 * nor the program waits for a disk or for debug information, and bad data in a provider's
 * memory can damage only the snapshot. One snapshot is written at a time; other requests
 * wait in order. Providers that have ended are in the archive already and are copied from
 * there.
 */
#ifndef FXT_LAUNCHER_MANAGER_SNAPSHOTS_H
#define FXT_LAUNCHER_MANAGER_SNAPSHOTS_H

#include <limits.h>
#include <sys/types.h>
#include "session.h"
#include "snapshot_writer.h"
#include "launcher/watch.h"

#define FXT_SNAPSHOTS_WAITING 16

typedef void fxt_snapshot_done(void *context, const struct fxt_snapshot_result *result);

struct fxt_snapshot_request {
	char path[PATH_MAX];     /* target; empty = beside the session's output, with a
	                          * number */
	fxt_snapshot_done *done; /* called at the end; NULL: not needed */
	void *context;
};

struct fxt_snapshots {
	struct fxt_session *session;
	/* the session's, as the user named it */
	const char *output;
	/* the first may be in progress */
	struct fxt_snapshot_request requests[FXT_SNAPSHOTS_WAITING];
	unsigned count;
	struct fxt_watch result; /* fd -1: none is in progress */
	pid_t writer;
};

void fxt_snapshots_open(struct fxt_snapshots *snapshots, struct fxt_session *session, const char *output);

/*
 * Requests a snapshot. Returns NULL, or the reason for a refusal. After the snapshot was
 * written, or failed, prints this on standard error and calls *done from the main thread.
 */
const char *fxt_snapshots_request(
        struct fxt_snapshots *snapshots, const char *path, fxt_snapshot_done *done, void *context);

/* True if a numbered snapshot was requested and has not begun: it will have all records
 * made by now. */
bool fxt_snapshots_is_one_waiting(const struct fxt_snapshots *snapshots);

/* Drops the callbacks with this context, because their owner is gone. The snapshots are
 * written all the same. */
void fxt_snapshots_forget(struct fxt_snapshots *snapshots, const void *context);

/* Begins the waiting snapshot, if possible now. The manager calls it every 100 ms. */
void fxt_snapshots_beat(struct fxt_snapshots *snapshots);

/* The session is finished: waits for the snapshot in progress, and refuses those that have
 * not begun. */
void fxt_snapshots_close(struct fxt_snapshots *snapshots);

#endif
