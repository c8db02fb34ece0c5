#include "alert_calls.h"
#include <string.h>

static void alert_deliver(struct fxt_controller *controller)
{
	char name[FXT_ALERT_NAME_BYTES];

	while (controller->watcher_count && fxt_alerts_take(&controller->alerts, name)) {
		struct fxt_request watcher = controller->watchers[0];

		memmove(controller->watchers, controller->watchers + 1,
		        --controller->watcher_count * sizeof(watcher));
		fxt_rpc_finish(&watcher, json_pack("{s:o}", "alert_name", fxt_rpc_text(name)));
	}
}

void fxt_call_watch_alert(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	(void)params;
	if (controller->watcher_count == FXT_CONTROLLER_WATCHERS) {
		fxt_rpc_refuse(request, FXT_RPC_INVALID_REQUEST, "too many are waiting for alerts");
		return;
	}
	controller->watchers[controller->watcher_count++] = fxt_rpc_keep(request);
	alert_deliver(controller);
}

void fxt_alert_raised(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES])
{
	fxt_alerts_add(&controller->alerts, name);
	alert_deliver(controller);
}

void fxt_alert_report_trigger(struct fxt_controller *controller, uint32_t index)
{
	controller->alerts.triggered[index] = 1;
	alert_deliver(controller);
}

void fxt_alert_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection)
{
	unsigned count = controller->watcher_count, kept = 0;

	for (unsigned i = 0; i < count; i++) {
		if (controller->watchers[i].connection == connection)
			fxt_rpc_forget(&controller->watchers[i]);
		else
			controller->watchers[kept++] = controller->watchers[i];
	}
	controller->watcher_count = kept;
}
