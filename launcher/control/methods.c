#include "methods.h"
#include <stdio.h>
#include <string.h>
#include "alert_calls.h"
#include "attach_calls.h"
#include "filter_calls.h"
#include "launcher/option_table.h"
#include "queries.h"
#include "recording_calls.h"
#include "snapshot_calls.h"
#include "trigger_calls.h"

static const struct method {
	const char *name;
	/* `params` is an object, or NULL. */
	void (*call)(struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
	bool has_fields_only; /* other fields of params are an error: it has this one, and those
	                       * of options */
	const char *field;
	enum fxtctl_taker options;
} methods[] = {
        {"AttachProcess", fxt_call_attach_process, true, "process", 0},
        {"AwaitTrace", fxt_call_await_trace, true, NULL, 0},
        {"DetachProcess", fxt_call_detach_process, true, "process", 0},
        {"GetKnownCategories", fxt_call_get_known_categories, false, NULL, 0},
        {"GetProviders", fxt_call_get_providers, false, NULL, 0},
        {"GetState", fxt_call_get_state, false, NULL, 0},
        /* checks its fields itself */
        {"InitializeTracing", fxt_call_initialize_tracing, false, NULL, 0},
        {"RaiseAlert", fxt_call_raise_alert, true, "alert_name", 0},
        {"Recover", fxt_call_recover, true, NULL, 0},
        {"SetCategories", fxt_call_set_categories, true, "categories", 0},
        {"SetFilter", fxt_call_set_filter, true, NULL, FXTCTL_FILTER},
        {"SetTrigger", fxt_call_set_trigger, true, "trigger", FXTCTL_TRIGGER},
        {"Snapshot", fxt_call_snapshot, false, NULL, 0},
        {"StartTracing", fxt_call_start_tracing, true, NULL, FXTCTL_START},
        {"StopTracing", fxt_call_stop_tracing, true, NULL, FXTCTL_STOP},
        {"TerminateTracing", fxt_call_terminate_tracing, false, NULL, 0},
        {"WatchAlert", fxt_call_watch_alert, true, NULL, 0},
};

static bool method_has_field(const struct method *method, const char *name)
{
	return (method->field && strcmp(method->field, name) == 0) ||
	       fxt_option_has_field(method->options, name);
}

/* Checks params (NULL = none were given). Returns NULL, or a description of the error, in
 * text[text_bytes] or elsewhere. */
static const char *method_check(const struct method *method, json_t *params, char *text, size_t text_bytes)
{
	const char *name;
	json_t *value;

	if (params && !json_is_object(params))
		return "params must be an object";
	json_object_foreach(params, name, value)
	{
		if (!method->has_fields_only || method_has_field(method, name))
			continue;
		snprintf(text, text_bytes, "%.64s: no such field", name);
		return text;
	}
	return NULL;
}

static void method_call(struct fxt_controller *controller, const struct fxt_request *request,
        const char *name, json_t *params)
{
	char text[128];

	for (unsigned i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		const char *wrong;

		if (strcmp(name, methods[i].name) != 0)
			continue;
		wrong = method_check(&methods[i], params, text, sizeof(text));
		if (wrong)
			fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, wrong);
		else
			methods[i].call(controller, request, params);
		return;
	}
	fxt_rpc_refuse(request, FXT_RPC_METHOD_NOT_FOUND, "no such method");
}

void fxt_methods_call(
        struct fxt_controller *controller, struct fxt_connection *connection, const char *line, size_t bytes)
{
	json_t *object = json_loadb(line, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	json_t *id = json_object_get(object, "id");
	const char *version = json_string_value(json_object_get(object, "jsonrpc"));
	const char *name = json_string_value(json_object_get(object, "method"));
	const struct fxt_request request = {connection, id}, unknown = {connection, json_null()};

	if (!object)
		fxt_rpc_refuse(&unknown, FXT_RPC_PARSE_ERROR, "this is not JSON");
	else if (!version || strcmp(version, "2.0") != 0 || !name ||
	         (id && !json_is_string(id) && !json_is_number(id) && !json_is_null(id)))
		fxt_rpc_refuse(&unknown, FXT_RPC_INVALID_REQUEST, "this is not a JSON-RPC 2.0 request");
	else
		method_call(controller, &request, name, json_object_get(object, "params"));
	json_decref(object);
}

void fxt_methods_refuse_line(struct fxt_connection *connection)
{
	const struct fxt_request unknown = {connection, json_null()};

	fxt_rpc_refuse(&unknown, FXT_RPC_INVALID_REQUEST, "the request is longer than 16384 bytes");
}
