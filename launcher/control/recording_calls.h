/*
 * Calls that change the state of a session (control.h lists them): initialize, start, stop,
 * terminate. A start or a stop is kept, and gets its reply when the session's state shows
 * that it has happened or no longer can. A termination is kept until the trace is final.
 */
#ifndef FXT_LAUNCHER_CONTROL_RECORDING_CALLS_H
#define FXT_LAUNCHER_CONTROL_RECORDING_CALLS_H

#include "controller.h"

/* The trace of a session that is over. */
struct fxt_trace_result {
	const char *output;  /* its place */
	const char *summary; /* the line that fxtrun prints about it */
	uint64_t bytes;
	const struct fxt_totals *totals;
	bool is_complete;
};

/* Initializes the session. A wrong configuration is refused, and the connection closed.
 * After a valid one, the connection owns the session: when it is closed, the session
 * ends. */
void fxt_call_initialize_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_start_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_stop_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
/* Refuses: the process of fxtrun that answers here is alive, so there is nothing to
 * recover. */
void fxt_call_recover(struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
/* Waits for the trace, whichever client ends the session or its recording. */
void fxt_call_await_trace(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_terminate_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* Replies to requests that waited for the session's state. Must be called after each change
 * of it. */
void fxt_recording_calls_state_changed(struct fxt_controller *controller);

/* True if a termination by that client waits for the trace. */
bool fxt_recording_calls_wait_for_end(
        const struct fxt_controller *controller, const struct fxt_connection *connection);

/* The trace is final: replies to the requests that wait for it. The session has no owner
 * from then on. */
void fxt_recording_calls_ended(struct fxt_controller *controller, const struct fxt_trace_result *result);

/* The connection is being closed. If it owned the session, the session ends. */
void fxt_recording_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

#endif
