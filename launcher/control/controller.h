/*
 * What the clients of a session share: the session as a Fuchsia trace controller sees it, and the replies
 * owed to those who wait for something to happen to it. The calls work on it (methods.h); the main thread's.
 */
#ifndef FXT_LAUNCHER_CONTROL_CONTROLLER_H
#define FXT_LAUNCHER_CONTROL_CONTROLLER_H

#include "launcher/session/session.h"
#include "launcher/session/snapshots.h"
#include "rpc.h"

#define FXT_CONTROLLER_WATCHERS     64 /* requests that wait for an alert */
#define FXT_CONTROLLER_TERMINATIONS 64 /* and for the end */

struct fxt_snapshot_call {
	struct fxt_request request; /* kept; of no connection: free for another */
	struct fxt_snapshot_call *next;
};

/* What has become of a trigger so far; times by CLOCK_MONOTONIC. */
struct fxt_trigger_state {
	uint64_t raised;  /* how often */
	uint64_t last_ns; /* when what it does was last decided on; 0 = never */
	uint64_t due_ns;  /* when it is to be done; 0 = it is not */
	uint64_t passed;  /* so often it was raised too soon after `last_ns` */
};

struct fxt_controller {
	struct fxt_session *session;
	struct fxt_snapshots *snapshots;
	const char *name; /* of the session */

	/* Sets up a session that waits for its controller, or a recording of one that lasts, as the options
	 * say, which are of `config`; the state is not touched. Returns 0, or -1 and one line in
	 * error[error_bytes]. Of another session never called. */
	int (*initialize)(void *context, const struct fxt_options *options, const json_t *config, char *error,
	        size_t error_bytes);
	void *initialize_context;
	json_t *config;               /* that it was given: the options point into it */
	struct fxt_connection *owner; /* who gave it, and with whom the session ends; NULL = nobody */

	/* Kept requests. The states of a session allow one start and one stop at a time. */
	struct fxt_request start, stop;
	struct fxt_request filter; /* the same of changes of the filter */
	uint32_t filter_number;    /* of the trigger that is added by it; 0 = none is */
	struct fxt_request terminations[FXT_CONTROLLER_TERMINATIONS]; /* that wait for the trace */
	struct fxt_request watchers[FXT_CONTROLLER_WATCHERS];         /* the oldest first */
	unsigned watcher_count;
	struct fxt_snapshot_call *snapshot_calls; /* of each client at most one */

	struct fxt_alerts alerts;                        /* that nobody has waited for yet */
	struct fxt_trigger_state triggers[FXT_TRIGGERS]; /* by index in the options */
	struct fxt_watch trigger_timer;                  /* fd -1: there is none */
};

#endif
