/*
 * Calls that move a session from state to state (control.h lists them): initialize, start, stop, terminate. A
 * start or a stop is kept, and replied to once the session's state says that it has happened, or cannot any
 * more; a termination, until the trace is final.
 */
#ifndef FXT_LAUNCHER_CONTROL_RECORDING_CALLS_H
#define FXT_LAUNCHER_CONTROL_RECORDING_CALLS_H

#include "controller.h"

/* What became of the trace of a session that is over. */
struct fxt_trace_result {
	const char *output;  /* where it is */
	const char *summary; /* the line that fxtrun says of it */
	uint64_t bytes;
	const struct fxt_totals *totals;
	bool is_complete;
};

/* A wrong configuration is refused, and the connection closed; that of a right one owns the session from then
 * on: when it is closed the session ends. */
void fxt_call_initialize_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_start_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_stop_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
/* The one process of fxtrun that answers so lives, which leaves nothing to be recovered: refused. */
void fxt_call_recover(struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
/* Waits for the trace, whoever ends the session or its recording. */
void fxt_call_await_trace(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_terminate_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* Replies to what waited for the session's state. To be called after each change of it. */
void fxt_recording_calls_state_changed(struct fxt_controller *controller);

/* Whether a termination by that client waits for the trace. */
bool fxt_recording_calls_wait_for_end(
        const struct fxt_controller *controller, const struct fxt_connection *connection);

/* The trace is final: replies to those who wait for it. The session is nobody's then. */
void fxt_recording_calls_ended(struct fxt_controller *controller, const struct fxt_trace_result *result);

/* The connection is being closed. If it owned the session, that ends. */
void fxt_recording_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

#endif
