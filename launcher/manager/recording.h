/*
 * The states of a session from its initialization to its end, and the transitions between
 * them, which the Fuchsia trace controller calls starting and stopping.
 *
 *   READY --> INITIALIZED --> STARTING --> STARTED --> STOPPING --> STOPPED
 *                  |           ^    |                   ^    ^         |
 *                  |           |    +-------------------+    |         |
 *                  +-----------|-----------------------------+         |
 *                              +---------------------------------------+
 *   all of them --> TERMINATING --> READY, in a session of several recordings (session.h)
 *
 * A start or a stop commands all providers at once. The session is STARTED, or STOPPED,
 * when the last provider reports it, or at the deadline: a stopped process must not delay
 * the others.
 */
#ifndef FXT_LAUNCHER_MANAGER_RECORDING_H
#define FXT_LAUNCHER_MANAGER_RECORDING_H

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

/* 0 = no error. The values are Fuchsia's. */
enum fxt_start_error {
	FXT_START_NOT_INITIALIZED = 1,
	FXT_START_ALREADY_STARTED,
	FXT_START_IS_STOPPING,
	FXT_START_IS_TERMINATING,
};
enum fxt_stop_error { FXT_STOP_NOT_INITIALIZED = 1, FXT_STOP_NOT_STARTED, FXT_STOP_ABORTED };

#define FXT_STOP_PATIENCE_NS UINT64_C(60000000000)

/* In a session of several recordings, a recording ends without providers that take longer
 * to stop. */
#define FXT_TERMINATE_PATIENCE_NS UINT64_C(5000000000)

/* The data that must not change while the current snapshot waits or copies. */
enum fxt_snapshot_stage {
	FXT_SNAPSHOT_NONE,
	FXT_SNAPSHOT_WAITS,  /* threads of providers do not learn of ends (provider.h) */
	FXT_SNAPSHOT_COPIES, /* no memory of a live process is emptied */
};

struct fxt_recording {
	enum fxt_session_state state;
	uint64_t deadline_ns; /* for STARTING and STOPPING, by CLOCK_MONOTONIC */
	bool results_written; /* the latest stop wrote results */
	enum fxt_snapshot_stage snapshot;
	bool is_to_end;        /* in a session of several recordings: all providers have
	                        * stopped, or the time for it is over */
	uint64_t terminate_ns; /* CLOCK_MONOTONIC time of the request to end; 0: there was
	                        * none */
};

/* True if the drawing above has a transition between the two states. */
bool fxt_recording_may_enter(enum fxt_session_state from, enum fxt_session_state to);

/* The options of the session are known: INITIALIZED. Only from READY. */
void fxt_recording_initialize(struct fxt_session *session);

/* Checks whether the state allows a start, or a stop. */
enum fxt_start_error fxt_recording_may_start(const struct fxt_session *session);
enum fxt_stop_error fxt_recording_may_stop(const struct fxt_session *session);

/* The bytes that additional categories may have beside those of the session. */
size_t fxt_recording_category_room(const struct fxt_session *session);

/*
 * Makes all providers begin, and those that come later: STARTING, then STARTED. Also
 * records `additional` in this run; there must be room for them. If the latest stop wrote
 * results, all buffers are cleared whatever the mode. Only if a start is allowed.
 */
void fxt_recording_start(
        struct fxt_session *session, enum fxt_start_mode mode, const struct fxt_categories *additional);

/* Makes all providers stop, and with `write_results` writes the contents of their buffers:
 * STOPPING, then STOPPED. Only if a stop is allowed. */
void fxt_recording_stop(struct fxt_session *session, bool write_results);

/* No provider begins any more: TERMINATING. Does nothing if the session is terminating
 * already. */
void fxt_recording_terminate(struct fxt_session *session);

/* In a session of several recordings, at TERMINATING: makes all providers stop and writes
 * the contents of their buffers. */
void fxt_recording_stop_for_good(struct fxt_session *session);

/* True if all of them have stopped, or as many as will. */
bool fxt_recording_is_to_end(const struct fxt_session *session);

/* The trace of a recording is final, in a session of several recordings: READY. */
void fxt_recording_renew(struct fxt_session *session);

/* Checks whether STARTING or STOPPING is over. The session calls it after each change of a
 * provider's state, and with every beat, for the deadline. */
void fxt_recording_look(struct fxt_session *session);

#endif
