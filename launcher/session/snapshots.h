/*
 * Snapshots of a circular session: finished traces of what its providers hold at one moment, written while
 * they run on.
 *
 * A process of its own writes each: a fork, which shares the memories of the providers and has the state of
 * the session as it was. So neither the session nor the program waits for a disk or for debug information,
 * and nothing a provider left in its memory can harm more than the snapshot. One is written at a time; others
 * wait in the order they were asked for. Providers that have ended are in the archive already and are copied
 * from there.
 */
#ifndef FXT_LAUNCHER_SESSION_SNAPSHOTS_H
#define FXT_LAUNCHER_SESSION_SNAPSHOTS_H

#include <limits.h>
#include <sys/types.h>
#include "session.h"
#include "snapshot_writer.h"
#include "launcher/watch.h"

#define FXT_SNAPSHOTS_WAITING 16

typedef void fxt_snapshot_done(void *context, const struct fxt_snapshot_result *result);

struct fxt_snapshot_request {
	char path[PATH_MAX];     /* where to; empty = beside the session's output, with a number */
	fxt_snapshot_done *done; /* called at the end; NULL: nobody asked to be */
	void *context;
};

struct fxt_snapshots {
	struct fxt_session *session;
	const char *output; /* of the session, as the user named it */
	struct fxt_snapshot_request requests[FXT_SNAPSHOTS_WAITING]; /* the first may be under way */
	unsigned count;
	struct fxt_watch result; /* fd -1: none is under way */
	pid_t writer;
};

void fxt_snapshots_open(struct fxt_snapshots *snapshots, struct fxt_session *session, const char *output);

/*
 * Asks for a snapshot. Returns NULL, or why there will be none. Once it is written, or could not be, that is
 * said on standard error and *done is called, from the main thread.
 */
const char *fxt_snapshots_request(
        struct fxt_snapshots *snapshots, const char *path, fxt_snapshot_done *done, void *context);

/* Whether a snapshot that is to have a number was asked for and is not begun: it will have all that is
 * recorded by now. */
bool fxt_snapshots_is_one_waiting(const struct fxt_snapshots *snapshots);

/* Forgets whom to tell: those who asked with this context are gone. Their snapshots are written all the same.
 */
void fxt_snapshots_forget(struct fxt_snapshots *snapshots, const void *context);

/* Begins the snapshot that waits, if it can be begun now. The manager calls it every 100 ms. */
void fxt_snapshots_beat(struct fxt_snapshots *snapshots);

/* The session is finished: waits for the snapshot under way; those that were not begun are refused. */
void fxt_snapshots_close(struct fxt_snapshots *snapshots);

#endif
