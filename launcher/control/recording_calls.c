#include "recording_calls.h"
#include <string.h>
#include "launcher/message.h"
#include "launcher/values.h"
#include "writer/atomics.h"

/* ---- statistics ---- */

static json_t *provider_statistics(const struct fxt_provider *p, const char *mode)
{
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)p->memory.buffer;
	uint64_t durable = load_relaxed(&header->durable_buffer_size);
	uint64_t used = load_relaxed(&header->durable_data_end);
	uint64_t wrapped = load_relaxed(&header->wrapped_count);
	uint64_t rolling = wrapped * load_relaxed(&header->rolling_buffer_size) +
	                   load_relaxed(&header->rolling_data_end[wrapped & 1]);
	char name[FXT_NAME_BYTES + 1] = "";

	memcpy(name, p->identity.name, p->identity.name_bytes);
	return json_pack("{s:o, s:i, s:s, s:I, s:I, s:f, s:I}", "name", fxt_rpc_text(name), "pid",
	        (int)p->pid, "buffering_mode", mode, "buffer_wrapped_count", (json_int_t)wrapped,
	        "records_dropped", (json_int_t)load_relaxed(&header->num_records_dropped),
	        "percentage_durable_buffer_used", durable ? 100.0 * (double)used / (double)durable : 0.0,
	        "non_durable_bytes_written", (json_int_t)rolling);
}

json_t *fxt_steering_statistics(const struct fxt_session *s)
{
	const char *mode = fxt_buffering_mode_names[s->terms.options->buffering_mode];
	json_t *stats = json_array();

	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]))
			json_array_append_new(stats, provider_statistics(s->providers[i], mode));
	return stats;
}

/* ---- starting and stopping ---- */

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

static const char *read_disposition(json_t *value, enum fxt_start_mode *mode)
{
	static const char *const names[] = {[FXT_START_CLEAR_ENTIRE] = "CLEAR_ENTIRE",
	        [FXT_START_CLEAR_NONDURABLE] = "CLEAR_NONDURABLE",
	        [FXT_START_RETAIN] = "RETAIN"};

	*mode = FXT_START_RETAIN;
	if (!value)
		return NULL;
	for (unsigned i = FXT_START_CLEAR_ENTIRE; i <= FXT_START_RETAIN; i++)
		if (json_is_string(value) && !strcmp(json_string_value(value), names[i])) {
			*mode = (enum fxt_start_mode)i;
			return NULL;
		}
	return "buffer_disposition must be CLEAR_ENTIRE, CLEAR_NONDURABLE or RETAIN";
}

const char *fxt_steering_read_categories(json_t *value, struct fxt_categories *categories)
{
	json_t *name;
	size_t i;

	categories->bytes = 0;
	if (value && !json_is_array(value))
		return "categories must be an array of names";
	json_array_foreach(value, i, name)
	{
		size_t bytes = json_string_length(name);

		if (bytes == 0 || bytes > FXT_NAME_BYTES || strlen(json_string_value(name)) != bytes)
			return "categories must be names of 1 to 100 bytes";
		if (categories->bytes + bytes + 1 > sizeof(categories->names))
			break; /* there is no room for them in any session */
		memcpy(categories->names + categories->bytes, json_string_value(name), bytes + 1);
		categories->bytes += (uint32_t)bytes + 1;
	}
	return NULL;
}

void fxt_steering_start(struct fxt_client *client, json_t *id, json_t *params)
{
	static const char *const fields[] = {"buffer_disposition", "additional_categories", NULL};
	struct fxt_control_socket *control = client->control;
	struct fxt_categories categories;
	enum fxt_start_mode mode;
	enum fxt_start_error error;
	const char *wrong = read_disposition(json_object_get(params, "buffer_disposition"), &mode);

	if (!wrong)
		wrong = fxt_steering_read_categories(
		        json_object_get(params, "additional_categories"), &categories);
	if (wrong)
		fxt_rpc_error(client, id, FXT_RPC_INVALID_PARAMS, wrong);
	if (wrong || !fxt_rpc_has_only(client, id, params, fields))
		return;
	error = fxt_recording_may_start(control->session);
	if (error) {
		fxt_rpc_named_error(
		        client, id, (int)error, start_errors[error].name, start_errors[error].reason);
		return;
	}
	control->start = fxt_rpc_keep(client, id);
	fxt_recording_start(control->session, mode, &categories);
}

void fxt_steering_stop(struct fxt_client *client, json_t *id, json_t *params)
{
	static const char *const fields[] = {"write_results", NULL};
	struct fxt_control_socket *control = client->control;
	json_t *write_results = json_object_get(params, "write_results");
	enum fxt_stop_error error;

	if (write_results && !json_is_boolean(write_results)) {
		fxt_rpc_error(client, id, FXT_RPC_INVALID_PARAMS, "write_results must be true or false");
		return;
	}
	if (!fxt_rpc_has_only(client, id, params, fields))
		return;
	error = fxt_recording_may_stop(control->session);
	if (error) {
		fxt_rpc_named_error(
		        client, id, (int)error, stop_errors[error].name, stop_errors[error].reason);
		return;
	}
	control->stop = fxt_rpc_keep(client, id);
	fxt_recording_stop(control->session, json_is_true(write_results));
}

static void fail_start(struct fxt_control_socket *control, enum fxt_start_error error)
{
	fxt_rpc_fail(&control->start, (int)error, start_errors[error].name, start_errors[error].reason);
}

static void finish_stop(struct fxt_control_socket *control)
{
	const struct fxt_session *s = control->session;

	if (s->recording.results_written && load_relaxed(&s->archive.error))
		fxt_rpc_fail(&control->stop, FXT_STOP_ABORTED, stop_errors[FXT_STOP_ABORTED].name,
		        stop_errors[FXT_STOP_ABORTED].reason);
	else
		fxt_rpc_finish(
		        &control->stop, json_pack("{s:o}", "provider_stats", fxt_steering_statistics(s)));
}

void fxt_steering_state_changed(struct fxt_control_socket *control)
{
	switch (control->session->recording.state) {
	case FXT_SESSION_STARTED:
		fxt_rpc_finish(&control->start, json_object());
		break;
	case FXT_SESSION_STOPPING:
		fail_start(control, FXT_START_IS_STOPPING);
		break;
	case FXT_SESSION_STOPPED:
		finish_stop(control);
		break;
	case FXT_SESSION_TERMINATING:
		fail_start(control, FXT_START_IS_TERMINATING);
		finish_stop(control);
		break;
	default:
		break;
	}
}

/* ---- alerts ---- */

/* Alerts go to those who wait for them, both in the order in which they came. */
static void deliver(struct fxt_control_socket *control)
{
	while (control->alerts.count && control->watcher_count) {
		struct fxt_request watcher = control->watchers[0];
		char name[FXT_ALERT_NAME_BYTES];

		memmove(control->watchers, control->watchers + 1, --control->watcher_count * sizeof(watcher));
		fxt_alerts_take(&control->alerts, name);
		fxt_rpc_finish(&watcher, json_pack("{s:o}", "alert_name", fxt_rpc_text(name)));
	}
}

void fxt_steering_watch_alert(struct fxt_client *client, json_t *id, json_t *params)
{
	static const char *const fields[] = {NULL};
	struct fxt_control_socket *control = client->control;

	if (!fxt_rpc_has_only(client, id, params, fields))
		return;
	if (control->watcher_count == FXT_CONTROL_WATCHERS) {
		fxt_rpc_error(client, id, FXT_RPC_INVALID_REQUEST, "too many are waiting for alerts");
		return;
	}
	control->watchers[control->watcher_count++] = fxt_rpc_keep(client, id);
	deliver(control);
}

static void trigger(struct fxt_control_socket *control, enum fxt_trigger_action action)
{
	const char *reason = NULL;

	switch (action) {
	case FXT_TRIGGER_STOP:
		if (fxt_recording_may_stop(control->session) == 0)
			fxt_recording_stop(control->session, false);
		break;
	case FXT_TRIGGER_SNAPSHOT:
		reason = fxt_snapshots_request(control->snapshots, "", NULL, NULL);
		break;
	case FXT_TRIGGER_TERMINATE:
		fxt_session_terminate(control->session);
	}
	if (reason)
		fxt_say("no snapshot: %s", reason);
}

void fxt_steering_alert(struct fxt_control_socket *control, const char *name)
{
	const struct fxt_options *options = control->session->terms.options;

	fxt_alerts_add(&control->alerts, name);
	deliver(control);
	for (uint32_t i = 0; i < options->trigger_count; i++)
		if (!strcmp(options->triggers[i].alert, name))
			trigger(control, options->triggers[i].action);
}

void fxt_steering_raise_alert(struct fxt_client *client, json_t *id, json_t *params)
{
	static const char *const fields[] = {"alert_name", NULL};
	struct fxt_control_socket *control = client->control;
	json_t *value = json_object_get(params, "alert_name");
	char name[FXT_ALERT_NAME_BYTES] = "";
	size_t bytes = json_string_length(value);

	if (bytes == 0 || bytes >= sizeof(name) || strlen(json_string_value(value)) != bytes) {
		fxt_rpc_error(client, id, FXT_RPC_INVALID_PARAMS, "alert_name must be of 1 to 14 bytes");
		return;
	}
	if (!fxt_rpc_has_only(client, id, params, fields))
		return;
	memcpy(name, json_string_value(value), bytes);
	fxt_rpc_reply(client, id, json_object());
	fxt_steering_alert(control, name);
}

/* ---- clients ---- */

bool fxt_steering_is_awaited(const struct fxt_client *client)
{
	const struct fxt_control_socket *control = client->control;
	bool awaited = control->start.client == client || control->stop.client == client;

	for (unsigned i = 0; i < control->watcher_count; i++)
		awaited |= control->watchers[i].client == client;
	return awaited;
}

void fxt_steering_forget(struct fxt_client *client)
{
	struct fxt_control_socket *control = client->control;
	unsigned kept = 0;

	fxt_rpc_forget(&control->start, client);
	fxt_rpc_forget(&control->stop, client);
	for (unsigned i = 0; i < control->watcher_count; i++) {
		fxt_rpc_forget(&control->watchers[i], client);
		if (control->watchers[i].client)
			control->watchers[kept++] = control->watchers[i];
	}
	control->watcher_count = kept;
}
