#include "attach_calls.h"
#include <limits.h>

static void attach_call(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params, bool is_detach)
{
	const char *target = json_string_value(json_object_get(params, "process"));
	char error[PATH_MAX + 512];

	if (!target)
		fxt_rpc_refuse(
		        request, FXT_RPC_INVALID_PARAMS, "process must be a text: a number, or a unit");
	else if (controller->attach(
	                 controller->initialize_context, is_detach, target, error, sizeof(error)) != 0)
		fxt_rpc_refuse(request, FXT_RPC_NO_ATTACH, error);
	else
		controller->attaching = fxt_rpc_keep(request);
}

void fxt_call_attach_process(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	attach_call(controller, request, params, false);
}

void fxt_call_detach_process(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	attach_call(controller, request, params, true);
}

void fxt_attach_calls_done(void *context, const char *error, size_t count)
{
	struct fxt_controller *controller = context;

	if (error)
		fxt_rpc_fail(&controller->attaching, FXT_RPC_NO_ATTACH, NULL, error);
	else
		fxt_rpc_finish(&controller->attaching, json_pack("{s:I}", "processes", (json_int_t)count));
}

void fxt_attach_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection)
{
	if (controller->attaching.connection == connection)
		fxt_rpc_forget(&controller->attaching);
}
