/*
 * The states of a session, from its initialization to its end, and the ways between them: what the Fuchsia
 * trace controller calls starting and stopping.
 *
 *   READY --> INITIALIZED --> STARTING --> STARTED --> STOPPING --> STOPPED
 *                  |           ^    |                   ^    ^         |
 *                  |           |    +-------------------+    |         |
 *                  +-----------|-----------------------------+         |
 *                              +---------------------------------------+
 *   all of them --> TERMINATING --> READY, in a lasting session (session.h)
 *
 * A start or a stop commands all providers at once. The session has STARTED, or STOPPED, when the last of
 * them says that it has, or at the deadline: a process that is stopped must not hold up the others.
 */
#ifndef FXT_LAUNCHER_SESSION_RECORDING_H
#define FXT_LAUNCHER_SESSION_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include "launcher/options.h"

struct fxt_session;

enum fxt_session_state { /* Fuchsia's values */
	FXT_SESSION_READY = 1,
	FXT_SESSION_INITIALIZED,
	FXT_SESSION_STARTING,
	FXT_SESSION_STARTED,
	FXT_SESSION_STOPPING,
	FXT_SESSION_STOPPED,
	FXT_SESSION_TERMINATING,
	FXT_SESSION_STATES
};

/* 0 = all is well. The values are Fuchsia's. */
enum fxt_start_error {
	FXT_START_NOT_INITIALIZED = 1,
	FXT_START_ALREADY_STARTED,
	FXT_START_IS_STOPPING,
	FXT_START_IS_TERMINATING,
};
enum fxt_stop_error { FXT_STOP_NOT_INITIALIZED = 1, FXT_STOP_NOT_STARTED, FXT_STOP_ABORTED };

#define FXT_STOP_PATIENCE_NS UINT64_C(60000000000)

/* The recording of a lasting session ends without those that take longer to stop. */
#define FXT_TERMINATE_PATIENCE_NS UINT64_C(5000000000)

/* What the snapshot that is under way must not have changed beneath it. */
enum fxt_snapshot_stage {
	FXT_SNAPSHOT_NONE,
	FXT_SNAPSHOT_WAITS,  /* threads of providers are not told of ends (provider.h) */
	FXT_SNAPSHOT_COPIES, /* no memory of a process that goes on is emptied */
};

struct fxt_recording {
	enum fxt_session_state state;
	uint64_t deadline_ns; /* of STARTING and STOPPING, by CLOCK_MONOTONIC */
	bool results_written; /* by the latest stop */
	enum fxt_snapshot_stage snapshot;
	bool is_to_end;        /* of a lasting session: all have stopped, or patience is over */
	uint64_t terminate_ns; /* CLOCK_MONOTONIC: when the session was told to end; 0: it was not */
};

/* Whether the drawing above has a way from one state to the other. */
bool fxt_recording_may_enter(enum fxt_session_state from, enum fxt_session_state to);

/* The options of the session are known: INITIALIZED. Only from READY. */
void fxt_recording_initialize(struct fxt_session *session);

/* Whether the state allows a start, or a stop. */
enum fxt_start_error fxt_recording_may_start(const struct fxt_session *session);
enum fxt_stop_error fxt_recording_may_stop(const struct fxt_session *session);

/* Whether the categories fit beside those of the session. */
bool fxt_recording_has_room(const struct fxt_session *session, const struct fxt_categories *additional);

/*
 * Has all providers begin, and those that come from now on: STARTING, then STARTED. `additional` are recorded
 * too in this run; there is room for them. If the latest stop wrote results, all is
 * cleared whatever the mode. Only if it may start.
 */
void fxt_recording_start(
        struct fxt_session *session, enum fxt_start_mode mode, const struct fxt_categories *additional);

/* Has all providers stop, and with `write_results` what their buffers hold written: STOPPING, then STOPPED.
 * Only if it may stop. */
void fxt_recording_stop(struct fxt_session *session, bool write_results);

/* No provider begins any more: TERMINATING. Does nothing if the session is terminating already. */
void fxt_recording_terminate(struct fxt_session *session);

/* For a lasting session, TERMINATING: has all providers stop, and what their buffers hold written. */
void fxt_recording_stop_for_good(struct fxt_session *session);

/* Whether all of them have, or as many as will. */
bool fxt_recording_is_to_end(const struct fxt_session *session);

/* The trace of a lasting session is final: READY. */
void fxt_recording_renew(struct fxt_session *session);

/* Whether STARTING or STOPPING is over. The session calls it when a provider has changed its state, and with
 * every beat, for the deadline. */
void fxt_recording_look(struct fxt_session *session);

#endif
