/*
 * The state that the clients of a session share: the session as a Fuchsia trace controller
 * sees it, and the replies owed to clients that wait for an event. The calls operate on it
 * (methods.h), on the main thread.
 */
#ifndef FXT_LAUNCHER_CONTROL_CONTROLLER_H
#define FXT_LAUNCHER_CONTROL_CONTROLLER_H

#include "launcher/manager/session.h"
#include "launcher/manager/snapshots.h"
#include "rpc.h"

#define FXT_CONTROLLER_WATCHERS     64 /* requests waiting for an alert */
#define FXT_CONTROLLER_TERMINATIONS 64 /* requests waiting for the end */

struct fxt_snapshot_call {
	struct fxt_request request; /* kept; without a connection: unused */
	struct fxt_snapshot_call *next;
};

/* The state of a trigger; times are CLOCK_MONOTONIC. */
struct fxt_trigger_state {
	uint64_t raised;  /* times raised */
	uint64_t last_ns; /* time of the last decision about its action; 0 = none yet */
	uint64_t due_ns;  /* time at which the action is due; 0 = it is not */
	uint64_t passed;  /* times that it was raised too soon after `last_ns` */
};

struct fxt_controller {
	struct fxt_session *session;
	struct fxt_snapshots *snapshots;
	const char *name; /* of the session */

	/* Sets up a session that waits for its controller, or a recording in a session of
	 * several, with the options read from `config`; does not change the state. Returns
	 * 0, or -1 and one line in error[error_bytes]. Never called for another kind of
	 * session. */
	int (*initialize)(void *context, const struct fxt_options *options, const json_t *config, char *error,
	        size_t error_bytes);
	void *initialize_context; /* of the next one too */

	/* Begins to attach to a process or unit, or to detach from it (attach_calls.h).
	 * Returns 0, or -1 and one line in error[error_bytes]. */
	int (*attach)(void *context, bool is_detach, const char *target, char *error, size_t error_bytes);
	json_t *config;               /* the configuration; the options point into it */
	struct fxt_connection *owner; /* the client that sent it; the session ends with this
	                               * connection; NULL = none */

	/* Kept requests. The states of a session allow one start and one stop at a time. */
	struct fxt_request start, stop;
	struct fxt_request attaching; /* a kept request to attach or detach; one at a time */
	struct fxt_request filter;    /* a kept request for a filter change; one at a time */
	uint32_t filter_number;       /* number of the trigger that the request adds; 0 = none */
	struct fxt_request terminations[FXT_CONTROLLER_TERMINATIONS]; /* waiting for the trace */
	struct fxt_request watchers[FXT_CONTROLLER_WATCHERS];         /* the oldest first */
	unsigned watcher_count;
	struct fxt_snapshot_call *snapshot_calls; /* at most one per client */

	/* alerts that no client has waited for yet */
	struct fxt_alerts alerts;
	struct fxt_trigger_state triggers[FXT_TRIGGERS]; /* by index in the options */
	struct fxt_watch trigger_timer;                  /* fd -1: no timer */
};

#endif
