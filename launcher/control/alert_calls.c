#include "alert_calls.h"
#include <string.h>
#include "launcher/message.h"
#include "writer/clock.h"

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

static const char *alert_take_snapshot(struct fxt_controller *controller, const struct fxt_trigger *trigger)
{
	/* One that is yet to be taken will have the call too, and a slow disk gets no more of them than it
	 * can take. */
	if (trigger->text && fxt_snapshots_is_one_waiting(controller->snapshots))
		return NULL;
	return fxt_snapshots_request(controller->snapshots, "", NULL, NULL);
}

static void alert_trigger(struct fxt_controller *controller, const struct fxt_trigger *trigger)
{
	const char *reason = NULL;

	switch (trigger->action) {
	case FXT_TRIGGER_STOP:
		if (fxt_recording_may_stop(controller->session) == 0)
			fxt_recording_stop(controller->session, false);
		break;
	case FXT_TRIGGER_SNAPSHOT:
		reason = alert_take_snapshot(controller, trigger);
		break;
	case FXT_TRIGGER_TERMINATE:
		fxt_session_terminate(controller->session);
	}
	if (reason)
		fxt_say("no snapshot: %s", reason);
}

/* For whoever waits for alerts. What calls raise may come without end: nobody waiting, it is kept once. */
static void alert_keep(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES])
{
	const struct fxt_options *options = controller->session->terms.options;

	for (uint32_t i = 0; i < options->trigger_count; i++)
		if (options->triggers[i].text && !strcmp(options->triggers[i].alert, name)) {
			controller->alerts.triggered |= UINT32_C(1) << i;
			return;
		}
	fxt_alerts_add(&controller->alerts, name);
}

/* Whether the trigger does what it is for, or has done so too short a time ago. */
static bool alert_is_due(struct fxt_controller *controller, uint32_t number, uint64_t every_ns)
{
	uint64_t now = fxt_monotonic_ns(), *last = &controller->triggered_ns[number];

	if (*last && now - *last < every_ns)
		return false;
	*last = now;
	return true;
}

void fxt_alert_raised(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES])
{
	const struct fxt_options *options = controller->session->terms.options;

	alert_keep(controller, name);
	alert_deliver(controller);
	for (uint32_t i = 0; i < options->trigger_count; i++)
		if (!strcmp(options->triggers[i].alert, name) &&
		        alert_is_due(controller, i, options->triggers[i].every_ns))
			alert_trigger(controller, &options->triggers[i]);
}

void fxt_call_raise_alert(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	json_t *value = json_object_get(params, "alert_name");
	char name[FXT_ALERT_NAME_BYTES] = "";
	size_t bytes = json_string_length(value);

	if (bytes == 0 || bytes >= sizeof(name) || strlen(json_string_value(value)) != bytes) {
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, "alert_name must be of 1 to 14 bytes");
		return;
	}
	memcpy(name, json_string_value(value), bytes);
	fxt_rpc_reply(request, json_object());
	fxt_alert_raised(controller, name);
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
