#include "snapshot_calls.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/values.h"

static void snapshot_done(void *context, const struct fxt_snapshot_result *result)
{
	struct fxt_request *kept = context;
	char *path;

	if (result->error[0]) {
		fxt_rpc_fail(kept, FXT_RPC_NO_SNAPSHOT, NULL, result->error);
		return;
	}
	path = realpath(result->path, NULL);
	fxt_rpc_finish(kept,
	        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "path", fxt_rpc_text(path ? path : result->path),
	                "events", (json_int_t)result->totals.events, "lost",
	                (json_int_t)result->totals.losses.lost, "bytes_unwritten",
	                (json_int_t)result->totals.bytes_unwritten, "overwritten",
	                (json_int_t)result->totals.losses.overwritten, "bytes", (json_int_t)result->bytes));
	free(path);
}

/* The kept request of that connection, or NULL; without a connection (NULL): an unused
 * one. */
static struct fxt_request *snapshot_find(
        struct fxt_controller *controller, const struct fxt_connection *connection)
{
	for (struct fxt_snapshot_call *call = controller->snapshot_calls; call; call = call->next)
		if (call->request.connection == connection)
			return &call->request;
	return NULL;
}

/* Makes an unused one; NULL: no memory. */
static struct fxt_request *snapshot_new(struct fxt_controller *controller)
{
	struct fxt_request *found = snapshot_find(controller, NULL);
	struct fxt_snapshot_call *call = found ? NULL : calloc(1, sizeof(*call));

	if (!call)
		return found;
	call->next = controller->snapshot_calls;
	controller->snapshot_calls = call;
	return &call->request;
}

/* The reason why the session gives this client no snapshot now, or NULL. */
static const char *snapshot_refusal(
        struct fxt_controller *controller, const struct fxt_connection *connection)
{
	if (controller->session->recording.state == FXT_SESSION_READY)
		return "tracing is not initialized";
	if (snapshot_find(controller, connection))
		return "this client's last snapshot is not complete yet";
	return NULL;
}

void fxt_call_snapshot(struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	const json_t *path = json_object_get(params, "path");
	const char *reason = snapshot_refusal(controller, request->connection);
	struct fxt_request *kept;

	if (path && (!json_is_string(path) || *json_string_value(path) != '/' ||
	                    strlen(json_string_value(path)) != json_string_length(path))) {
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, "path must be an absolute path");
		return;
	}
	if (path && fxt_value_trace_file(json_string_value(path))) {
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, "path cannot be a .gz; name a .zst");
		return;
	}
	if (reason) {
		fxt_rpc_refuse(request, FXT_RPC_NO_SNAPSHOT, reason);
		return;
	}
	/* Before the request to the session, which may fail at once and report it by
	 * snapshot_done(). */
	kept = snapshot_new(controller);
	if (!kept) {
		fxt_rpc_refuse(request, FXT_RPC_NO_SNAPSHOT, strerror(ENOMEM));
		return;
	}
	*kept = fxt_rpc_keep(request);
	reason = fxt_snapshots_request(
	        controller->snapshots, path ? json_string_value(path) : "", snapshot_done, kept);
	if (reason)
		fxt_rpc_fail(kept, FXT_RPC_NO_SNAPSHOT, NULL, reason);
}

void fxt_snapshot_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection)
{
	struct fxt_request *kept = snapshot_find(controller, connection);

	if (!kept)
		return;
	fxt_snapshots_forget(controller->snapshots, kept);
	fxt_rpc_forget(kept);
}

void fxt_snapshot_calls_free(struct fxt_controller *controller)
{
	while (controller->snapshot_calls) {
		struct fxt_snapshot_call *call = controller->snapshot_calls;

		controller->snapshot_calls = call->next;
		free(call);
	}
}
