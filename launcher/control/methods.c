#include "methods.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "trace_config.h"
#include "recording_calls.h"
#include "launcher/values.h"
#include "writer/atomics.h"

/* ---- what can be asked ---- */

static const char *state_name(const struct fxt_control_socket *control)
{
	static const char *const names[] = {[FXT_SESSION_READY] = "READY",
	        [FXT_SESSION_INITIALIZED] = "INITIALIZED",
	        [FXT_SESSION_STARTING] = "STARTING",
	        [FXT_SESSION_STARTED] = "STARTED",
	        [FXT_SESSION_STOPPING] = "STOPPING",
	        [FXT_SESSION_STOPPED] = "STOPPED",
	        [FXT_SESSION_TERMINATING] = "TERMINATING"};

	return names[control->session->recording.state];
}

static json_t *name_of(const struct fxt_provider *p)
{
	char name[FXT_NAME_BYTES + 1] = "";

	memcpy(name, p->identity.name, p->identity.name_bytes);
	return fxt_rpc_text(name);
}

static void get_known_categories(struct fxt_client *client, json_t *id, json_t *params)
{
	static const struct {
		const char *name, *description;
	} known[] = {
	        {"function", "calls of instrumented functions"},
	        {"heap", "allocations and frees, with --heap"},
	        {"process", "beginnings and ends of threads, processes and images"},
	        {"sync", "waits for locks and for other threads, and who ended them"},
	};
	json_t *categories = json_array();

	(void)params;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		json_array_append_new(categories,
		        json_pack("{s:s, s:s}", "name", known[i].name, "description", known[i].description));
	fxt_rpc_reply(client, id, json_pack("{s:o}", "categories", categories));
}

static void get_providers(struct fxt_client *client, json_t *id, json_t *params)
{
	const struct fxt_session *s = client->control->session;
	json_t *providers = json_array();

	(void)params;
	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]))
			json_array_append_new(providers,
			        json_pack("{s:i, s:i, s:o}", "id", (int)s->providers[i]->identity.id, "pid",
			                (int)s->providers[i]->pid, "name", name_of(s->providers[i])));
	fxt_rpc_reply(client, id, json_pack("{s:o}", "providers", providers));
}

static void get_state(struct fxt_client *client, json_t *id, json_t *params)
{
	struct fxt_control_socket *control = client->control;
	const struct fxt_session *s = control->session;
	const char *mode = fxt_buffering_mode_names[s->terms.options->buffering_mode];

	(void)params;
	fxt_rpc_reply(client, id,
	        json_pack("{s:s, s:s, s:i, s:o, s:i, s:s, s:o, s:I, s:i, s:o}", "name", control->name,
	                "state", state_name(control), "pid", (int)getpid(), "program",
	                fxt_rpc_text(s->terms.options->program[0]), "program_pid", (int)s->program,
	                "buffering_mode", mode, "output", fxt_rpc_text(s->terms.options->output_file),
	                "output_bytes", (json_int_t)load_relaxed(&s->archive.bytes), "snapshots_waiting",
	                (int)control->snapshots->count, "provider_stats", fxt_steering_statistics(s)));
}

/* ---- what can be done ---- */

static void snapshot_is_done(void *context, const struct fxt_snapshot_result *result)
{
	struct fxt_client *client = context;
	json_t *id = client->snapshot_id;
	char *path = realpath(result->path, NULL);

	client->snapshot_id = NULL;
	if (result->error[0])
		fxt_rpc_error(client, id, FXT_RPC_NO_SNAPSHOT, result->error);
	else
		fxt_rpc_reply(client, id,
		        json_pack("{s:o, s:I, s:I, s:I}", "path", fxt_rpc_text(path ? path : result->path),
		                "events", (json_int_t)result->totals.events, "lost",
		                (json_int_t)result->totals.lost, "bytes", (json_int_t)result->bytes));
	free(path);
	json_decref(id);
}

static void snapshot(struct fxt_client *client, json_t *id, json_t *params)
{
	const json_t *path = json_object_get(params, "path");
	const char *reason;

	if (path && (!json_is_string(path) || *json_string_value(path) != '/' ||
	                    strlen(json_string_value(path)) != json_string_length(path))) {
		fxt_rpc_error(client, id, FXT_RPC_INVALID_PARAMS, "path must be an absolute path");
		return;
	}
	if (client->control->session->recording.state == FXT_SESSION_READY) {
		fxt_rpc_error(client, id, FXT_RPC_NO_SNAPSHOT, "tracing is not initialized");
		return;
	}
	if (client->snapshot_id) {
		fxt_rpc_error(
		        client, id, FXT_RPC_NO_SNAPSHOT, "this client's last snapshot is not there yet");
		return;
	}
	/* Before the request, which may be done at once. */
	client->snapshot_id = json_incref(id ? id : json_null());
	reason = fxt_snapshots_request(
	        client->control->snapshots, path ? json_string_value(path) : "", snapshot_is_done, client);
	if (reason) {
		json_decref(client->snapshot_id);
		client->snapshot_id = NULL;
		fxt_rpc_error(client, id, FXT_RPC_NO_SNAPSHOT, reason);
	}
}

static void terminate(struct fxt_client *client, json_t *id, json_t *params)
{
	(void)params;
	if (client->control->session->recording.state == FXT_SESSION_READY) {
		fxt_rpc_error(client, id, FXT_RPC_INVALID_REQUEST, "tracing is not initialized");
		return;
	}
	fxt_rpc_reply(client, id, json_object());
	fxt_session_terminate(client->control->session);
}

/* ---- requests ---- */

static const struct method {
	const char *name;
	void (*call)(struct fxt_client *client, json_t *id, json_t *params);
} methods[] = {
        {"GetKnownCategories", get_known_categories},
        {"GetProviders", get_providers},
        {"GetState", get_state},
        {"InitializeTracing", fxt_initialize_tracing},
        {"RaiseAlert", fxt_steering_raise_alert},
        {"Snapshot", snapshot},
        {"StartTracing", fxt_steering_start},
        {"StopTracing", fxt_steering_stop},
        {"TerminateTracing", terminate},
        {"WatchAlert", fxt_steering_watch_alert},
};

/* `params` may be left out. */
static void call(struct fxt_client *client, json_t *id, const char *name, json_t *params)
{
	for (unsigned i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		if (strcmp(name, methods[i].name) != 0)
			continue;
		if (params && !json_is_object(params))
			fxt_rpc_error(client, id, FXT_RPC_INVALID_PARAMS, "params must be an object");
		else
			methods[i].call(client, id, params);
		return;
	}
	fxt_rpc_error(client, id, FXT_RPC_METHOD_NOT_FOUND, "no such method");
}

void fxt_methods_call(struct fxt_client *client, const char *line, size_t bytes)
{
	json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	json_t *id = json_object_get(request, "id");
	const char *version = json_string_value(json_object_get(request, "jsonrpc"));
	const char *name = json_string_value(json_object_get(request, "method"));

	if (!request)
		fxt_rpc_error(client, json_null(), FXT_RPC_PARSE_ERROR, "this is not JSON");
	else if (!version || strcmp(version, "2.0") != 0 || !name ||
	         (id && !json_is_string(id) && !json_is_number(id) && !json_is_null(id)))
		fxt_rpc_error(
		        client, json_null(), FXT_RPC_INVALID_REQUEST, "this is no request of JSON-RPC 2.0");
	else
		call(client, id, name, json_object_get(request, "params"));
	json_decref(request);
}

void fxt_methods_refuse_line(struct fxt_client *client)
{
	fxt_rpc_error(client, json_null(), FXT_RPC_INVALID_REQUEST, "no request may be so long");
	fxt_client_end(client);
}

void fxt_methods_state_line(const struct fxt_control_socket *control, char *line, size_t line_bytes)
{
	snprintf(line, line_bytes,
	        "{\"jsonrpc\":\"2.0\",\"method\":\"OnSessionStateChange\",\"params\":{\"state\":\"%s\"}}",
	        state_name(control));
}

void fxt_methods_forget(struct fxt_client *client)
{
	json_decref(client->snapshot_id);
	client->snapshot_id = NULL;
}
