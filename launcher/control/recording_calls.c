/*
 * The calls that initialize, start, stop and terminate. Runs on the main thread. A call
 * must not wait for the session: requests are kept and get their reply after a change of
 * state.
 */
#include "recording_calls.h"
#include <stdio.h>
#include <string.h>
#include "queries.h"
#include "trace_config.h"
#include "trigger_calls.h"
#include "launcher/message.h"
#include "launcher/option_table.h"
#include "launcher/values.h"
#include "writer/shared/atomics.h"

/* ---- initialize, terminate ---- */

void fxt_call_initialize_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_options options = *controller->session->config.options;
	const struct fxt_session *s = controller->session;
	const char *wrong = "the session is initialized already, and makes one recording; fxtrun "
	                    "--start=idle makes any number";
	char error[2 * PATH_MAX + 256];

	if (s->recording.state == FXT_SESSION_READY) {
		wrong = fxt_trace_config_read(params, &options, error, sizeof(error));
		if (!wrong && controller->initialize(controller->initialize_context, &options, params, error,
		                      sizeof(error)) != 0)
			wrong = error;
	} else if (fxt_session_is_idle_session(s)) {
		snprintf(error, sizeof(error),
		        "another recording is being made, into %s; only one can be made at a time",
		        options.output_file);
		wrong = error;
	}
	if (wrong) {
		if (options.filter.rules != s->config.options->filter.rules)
			fxt_record_filter_free(&options.filter);
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, wrong);
		fxt_connection_close(request->connection);
		return;
	}
	controller->config = json_incref(params);
	controller->owner = request->connection;
	fxt_recording_initialize(controller->session);
	fxt_triggers_renew(controller);
	fxt_rpc_reply(request, json_object());
}

void fxt_call_recover(struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	(void)controller, (void)params;
	fxt_rpc_refuse(request, FXT_RPC_INVALID_REQUEST,
	        "the session is recorded, and there is nothing to recover; fxtctl terminate ends it");
}

/* Keeps a request until the trace is final. False: it was refused. */
static bool recording_await_trace(struct fxt_controller *controller, const struct fxt_request *request)
{
	if (controller->session->recording.state == FXT_SESSION_READY) {
		fxt_rpc_refuse(request, FXT_RPC_INVALID_REQUEST, "tracing is not initialized");
		return false;
	}
	for (unsigned i = 0; i < FXT_CONTROLLER_TERMINATIONS; i++) {
		if (controller->terminations[i].connection)
			continue;
		controller->terminations[i] = fxt_rpc_keep(request);
		return true;
	}
	fxt_rpc_refuse(request, FXT_RPC_INVALID_REQUEST, "too many clients wait for the end of the session");
	return false;
}

void fxt_call_await_trace(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	(void)params;
	recording_await_trace(controller, request);
}

void fxt_call_terminate_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	(void)params;
	if (recording_await_trace(controller, request))
		fxt_session_terminate(controller->session);
}

bool fxt_recording_calls_wait_for_end(
        const struct fxt_controller *controller, const struct fxt_connection *connection)
{
	for (unsigned i = 0; i < FXT_CONTROLLER_TERMINATIONS; i++)
		if (controller->terminations[i].connection == connection)
			return true;
	return false;
}

void fxt_recording_calls_ended(struct fxt_controller *controller, const struct fxt_trace_result *result)
{
	const struct fxt_session *s = controller->session;
	const struct fxt_totals *totals = result->totals;

	controller->owner = NULL;
	memset(controller->triggers, 0, sizeof(controller->triggers));
	for (unsigned i = 0; i < FXT_CONTROLLER_TERMINATIONS; i++) {
		struct fxt_connection *connection = controller->terminations[i].connection;

		if (!connection)
			continue;
		fxt_rpc_finish(&controller->terminations[i],
		        json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "output",
		                fxt_rpc_text(result->output), "summary", fxt_rpc_text(result->summary),
		                "bytes", (json_int_t)result->bytes, "events", (json_int_t)totals->events,
		                "lost", (json_int_t)totals->losses.lost, "bytes_unwritten",
		                (json_int_t)totals->bytes_unwritten, "overwritten",
		                (json_int_t)totals->losses.overwritten, "complete", result->is_complete,
		                "provider_stats", fxt_query_statistics(s, true)));
		if (!fxt_session_is_idle_session(s) ||
		        s->program == 0) /* otherwise the main thread goes on */
			fxt_connection_drain(connection);
	}
	json_decref(controller->config);
	controller->config = NULL;
}

/* ---- start, stop ---- */

/* The names are Fuchsia's. */
static const struct {
	const char *name, *reason;
} start_errors[] =
        {
                [FXT_START_NOT_INITIALIZED] = {"NOT_INITIALIZED", "tracing is not initialized"},
                [FXT_START_ALREADY_STARTED] = {"ALREADY_STARTED", "tracing has been started already"},
                [FXT_START_IS_STOPPING] = {"STOPPING", "tracing is being stopped"},
                [FXT_START_IS_TERMINATING] = {"TERMINATING", "the session is ending"},
},
  stop_errors[] = {
          [FXT_STOP_NOT_INITIALIZED] = {"NOT_INITIALIZED", "tracing is not initialized"},
          [FXT_STOP_NOT_STARTED] = {"NOT_STARTED", "tracing is not started"},
          [FXT_STOP_ABORTED] = {"ABORTED", "the output cannot be written any more"},
};

static const char *start_read_disposition(json_t *value, enum fxt_start_mode *mode)
{
	static const char *const names[] = {[FXT_START_CLEAR_ENTIRE] = "CLEAR_ENTIRE",
	        [FXT_START_CLEAR_NONDURABLE] = "CLEAR_NONDURABLE",
	        [FXT_START_RETAIN] = "RETAIN"};
	unsigned index = FXT_START_RETAIN;

	if (value &&
	        !(json_is_string(value) && fxt_value_word(json_string_value(value), json_string_length(value),
	                                           names, sizeof(names) / sizeof(*names), &index)))
		return "buffer_disposition must be CLEAR_ENTIRE, CLEAR_NONDURABLE or RETAIN";
	*mode = (enum fxt_start_mode)index;
	return NULL;
}

void fxt_call_start_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_categories categories;
	enum fxt_start_mode mode;
	enum fxt_start_error error;
	size_t discarded = 0;
	const char *wrong = start_read_disposition(json_object_get(params, "buffer_disposition"), &mode);

	if (!wrong)
		wrong = fxt_option_read_more_categories(json_object_get(params, "additional_categories"),
		        fxt_recording_category_room(controller->session), &categories, &discarded);
	if (wrong) {
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, wrong);
		return;
	}
	error = fxt_recording_may_start(controller->session);
	if (error) {
		fxt_rpc_refuse_by_name(
		        request, (int)error, start_errors[error].name, start_errors[error].reason);
		return;
	}
	if (discarded > 0)
		fxt_say("%zu additional categor%s not recorded: all together may have at most %d bytes, one "
		        "more counted for each",
		        discarded, discarded == 1 ? "y is" : "ies are", FXT_CATEGORIES_BYTES);
	controller->start = fxt_rpc_keep(request);
	fxt_recording_start(controller->session, mode, &categories);
}

void fxt_call_stop_tracing(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	json_t *write_results = json_object_get(params, "write_results");
	enum fxt_stop_error error;

	if (write_results && !json_is_boolean(write_results)) {
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, "write_results must be true or false");
		return;
	}
	error = fxt_recording_may_stop(controller->session);
	if (error) {
		fxt_rpc_refuse_by_name(
		        request, (int)error, stop_errors[error].name, stop_errors[error].reason);
		return;
	}
	controller->stop = fxt_rpc_keep(request);
	fxt_recording_stop(controller->session, json_is_true(write_results));
}

/* ---- replies to those that were kept ---- */

static void start_fail(struct fxt_controller *controller, enum fxt_start_error error)
{
	fxt_rpc_fail(&controller->start, (int)error, start_errors[error].name, start_errors[error].reason);
}

/* If wanted results could not be written, the stop fails although it has happened. */
static void stop_finish(struct fxt_controller *controller)
{
	const struct fxt_session *s = controller->session;

	if (s->recording.results_written && load_relaxed(&s->archive->error))
		fxt_rpc_fail(&controller->stop, FXT_STOP_ABORTED, stop_errors[FXT_STOP_ABORTED].name,
		        stop_errors[FXT_STOP_ABORTED].reason);
	else
		fxt_rpc_finish(&controller->stop,
		        json_pack("{s:o}", "provider_stats", fxt_query_statistics(s, false)));
}

void fxt_recording_calls_state_changed(struct fxt_controller *controller)
{
	switch (controller->session->recording.state) {
	case FXT_SESSION_STARTED:
		fxt_rpc_finish(&controller->start, json_object());
		break;
	case FXT_SESSION_STOPPING:
		start_fail(controller, FXT_START_IS_STOPPING);
		break;
	case FXT_SESSION_STOPPED:
		stop_finish(controller);
		break;
	case FXT_SESSION_TERMINATING:
		start_fail(controller, FXT_START_IS_TERMINATING);
		stop_finish(controller);
		break;
	default:
		break;
	}
}

void fxt_recording_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection)
{
	if (controller->owner == connection) {
		controller->owner = NULL;
		fxt_session_terminate(controller->session);
	}
	for (unsigned i = 0; i < FXT_CONTROLLER_TERMINATIONS; i++)
		if (controller->terminations[i].connection == connection)
			fxt_rpc_forget(&controller->terminations[i]);
	if (controller->start.connection == connection)
		fxt_rpc_forget(&controller->start);
	if (controller->stop.connection == connection)
		fxt_rpc_forget(&controller->stop);
}
