#include "methods.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "writer/atomics.h"

enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	METHOD_NOT_FOUND = -32601,
	INVALID_PARAMS = -32602,
};

/* Names of files and programs may hold any bytes, and JSON only UTF-8. */
static json_t *text(const char *string)
{
	char copy[PATH_MAX + 256];
	json_t *json = json_string(string);

	if (json)
		return json;
	snprintf(copy, sizeof(copy), "%s", string);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(copy);
}

/* ---- replies ---- */

static void send_json(struct fxt_client *client, json_t *message)
{
	char *line = json_dumps(message, JSON_COMPACT);

	if (line)
		fxt_client_send(client, line);
	free(line);
	json_decref(message);
}

/* Steals `result`; `id` NULL = a notification, which has no reply. */
static void reply(struct fxt_client *client, json_t *id, json_t *result)
{
	if (id)
		send_json(client, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
	else
		json_decref(result);
}

static void reply_error(struct fxt_client *client, json_t *id, int code, const char *reason)
{
	if (id)
		send_json(client, json_pack("{s:s, s:O, s:{s:i, s:o}}", "jsonrpc", "2.0", "id", id, "error",
		                          "code", code, "message", text(reason)));
}

/* ---- what can be asked ---- */

static const char *state_name(const struct fxt_control_socket *control)
{
	if (control->terminating)
		return "TERMINATING";
	return control->session->terms.ticks_per_second ? "STARTED" : "INITIALIZED";
}

static bool is_running(const struct fxt_provider *p)
{
	return p->memory.buffer && !p->ended && !load_acquire(&p->done);
}

static json_t *name_of(const struct fxt_provider *p)
{
	char name[FXT_NAME_BYTES + 1] = "";

	memcpy(name, p->identity.name, p->identity.name_bytes);
	return text(name);
}

static void get_providers(struct fxt_client *client, json_t *id, json_t *params)
{
	const struct fxt_session *s = client->control->session;
	json_t *providers = json_array();

	(void)params;
	for (uint32_t i = 0; i < s->count; i++)
		if (is_running(s->providers[i]))
			json_array_append_new(providers,
			        json_pack("{s:i, s:i, s:o}", "id", (int)s->providers[i]->identity.id, "pid",
			                (int)s->providers[i]->pid, "name", name_of(s->providers[i])));
	reply(client, id, json_pack("{s:o}", "providers", providers));
}

/* The fields of the controller's ProviderStats, as far as the buffer's header has them. It is the provider's
 * and not believed: wrong numbers there are wrong numbers here. */
static json_t *statistics(const struct fxt_provider *p, const char *mode)
{
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)p->memory.buffer;
	uint64_t durable = load_relaxed(&header->durable_buffer_size);
	uint64_t used = load_relaxed(&header->durable_data_end);
	double percentage = durable ? 100.0 * (double)used / (double)durable : 0;

	return json_pack("{s:o, s:i, s:s, s:I, s:I, s:f}", "name", name_of(p), "pid", (int)p->pid,
	        "buffering_mode", mode, "buffer_wrapped_count",
	        (json_int_t)load_relaxed(&header->wrapped_count), "records_dropped",
	        (json_int_t)load_relaxed(&header->num_records_dropped), "percentage_durable_buffer_used",
	        percentage);
}

static void get_state(struct fxt_client *client, json_t *id, json_t *params)
{
	static const char *const modes[] = {
	        [FXT_ONESHOT] = "ONESHOT", [FXT_CIRCULAR] = "CIRCULAR", [FXT_STREAMING] = "STREAMING"};
	struct fxt_control_socket *control = client->control;
	const struct fxt_session *s = control->session;
	const char *mode = modes[s->terms.options->buffering_mode];
	json_t *stats = json_array();

	(void)params;
	for (uint32_t i = 0; i < s->count; i++)
		if (is_running(s->providers[i]))
			json_array_append_new(stats, statistics(s->providers[i], mode));
	reply(client, id,
	        json_pack("{s:s, s:s, s:i, s:o, s:i, s:s, s:o, s:I, s:i, s:o}", "name", control->name,
	                "state", state_name(control), "pid", (int)getpid(), "program",
	                text(s->terms.options->program[0]), "program_pid", (int)s->program, "buffering_mode",
	                mode, "output", text(control->output), "output_bytes",
	                (json_int_t)load_relaxed(&s->archive.bytes), "snapshots_waiting",
	                (int)control->snapshots->count, "provider_stats", stats));
}

/* ---- what can be done ---- */

static void snapshot_is_done(void *context, const struct fxt_snapshot_result *result)
{
	struct fxt_client *client = context;
	json_t *id = client->snapshot_id;
	char *path = realpath(result->path, NULL);

	client->snapshot_id = NULL;
	if (result->error[0])
		reply_error(client, id, FXT_ERROR_NO_SNAPSHOT, result->error);
	else
		reply(client, id,
		        json_pack("{s:o, s:I, s:I, s:I}", "path", text(path ? path : result->path), "events",
		                (json_int_t)result->totals.events, "lost", (json_int_t)result->totals.lost,
		                "bytes", (json_int_t)result->bytes));
	free(path);
	json_decref(id);
}

static void snapshot(struct fxt_client *client, json_t *id, json_t *params)
{
	const json_t *path = json_object_get(params, "path");
	const char *reason;

	if (path && (!json_is_string(path) || *json_string_value(path) != '/' ||
	                    strlen(json_string_value(path)) != json_string_length(path))) {
		reply_error(client, id, INVALID_PARAMS, "path must be an absolute path");
		return;
	}
	if (client->snapshot_id) {
		reply_error(
		        client, id, FXT_ERROR_NO_SNAPSHOT, "this client's last snapshot is not there yet");
		return;
	}
	/* Before the request, which may be done at once. */
	client->snapshot_id = json_incref(id ? id : json_null());
	reason = fxt_snapshots_request(
	        client->control->snapshots, path ? json_string_value(path) : "", snapshot_is_done, client);
	if (reason) {
		json_decref(client->snapshot_id);
		client->snapshot_id = NULL;
		reply_error(client, id, FXT_ERROR_NO_SNAPSHOT, reason);
	}
}

static void terminate(struct fxt_client *client, json_t *id, json_t *params)
{
	struct fxt_control_socket *control = client->control;

	(void)params;
	if (control->terminating) {
		reply_error(client, id, FXT_ERROR_TERMINATING, "the session is ending already");
		return;
	}
	kill(control->session->program, SIGTERM);
	reply(client, id, json_object());
	fxt_control_terminating(control);
}

/* ---- requests ---- */

static const struct method {
	const char *name;
	void (*call)(struct fxt_client *client, json_t *id, json_t *params);
} methods[] = {
        {"GetProviders", get_providers},
        {"GetState", get_state},
        {"Snapshot", snapshot},
        {"TerminateTracing", terminate},
};

/* `params` may be left out. */
static void call(struct fxt_client *client, json_t *id, const char *name, json_t *params)
{
	for (unsigned i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		if (strcmp(name, methods[i].name) != 0)
			continue;
		if (params && !json_is_object(params))
			reply_error(client, id, INVALID_PARAMS, "params must be an object");
		else
			methods[i].call(client, id, params);
		return;
	}
	reply_error(client, id, METHOD_NOT_FOUND, "no such method");
}

void fxt_methods_call(struct fxt_client *client, const char *line, size_t bytes)
{
	json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	json_t *id = json_object_get(request, "id");
	const char *version = json_string_value(json_object_get(request, "jsonrpc"));
	const char *name = json_string_value(json_object_get(request, "method"));

	if (!request)
		reply_error(client, json_null(), PARSE_ERROR, "this is not JSON");
	else if (!version || strcmp(version, "2.0") != 0 || !name ||
	         (id && !json_is_string(id) && !json_is_number(id) && !json_is_null(id)))
		reply_error(client, json_null(), INVALID_REQUEST, "this is no request of JSON-RPC 2.0");
	else
		call(client, id, name, json_object_get(request, "params"));
	json_decref(request);
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
