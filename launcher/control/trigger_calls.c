/*
 * Carries out triggers: decides whether an event leads to an action, and when. Runs on the
 * main thread; must not wait, so a delayed action is due by a timer.
 */
#include "trigger_calls.h"
#include <inttypes.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "alert_calls.h"
#include "launcher/message.h"
#include "writer/shared/clock.h"

static const struct fxt_trigger *trigger_of(const struct fxt_controller *controller, uint32_t index)
{
	return &controller->session->config.triggers[index];
}

/* ---- what is done ---- */

static const char *trigger_take_snapshot(struct fxt_controller *controller, const struct fxt_trigger *trigger)
{
	/* A snapshot that is yet to be taken will include this call too; this also limits
	 * the number for a slow disk. */
	if (fxt_trigger_is_of_calls(trigger) && fxt_snapshots_is_one_waiting(controller->snapshots))
		return NULL;
	return fxt_snapshots_request(controller->snapshots, "", NULL, NULL);
}

static void trigger_act(struct fxt_controller *controller, const struct fxt_trigger *trigger)
{
	static const struct fxt_categories none;
	struct fxt_session *session = controller->session;
	const char *reason = NULL;

	switch (trigger->action) {
	case FXT_TRIGGER_START:
		if (fxt_recording_may_start(session) == 0)
			fxt_recording_start(session, FXT_START_RETAIN, &none);
		break;
	case FXT_TRIGGER_STOP:
		if (fxt_recording_may_stop(session) == 0)
			fxt_recording_stop(session, false);
		break;
	case FXT_TRIGGER_SNAPSHOT:
		reason = trigger_take_snapshot(controller, trigger);
		break;
	default:
		fxt_session_terminate(session);
	}
	if (reason)
		fxt_say("no snapshot: %s", reason);
}

/* ---- when ---- */

/* Sets the timer to the earliest due action. */
static void trigger_set_timer(const struct fxt_controller *controller)
{
	struct itimerspec at = {0};
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (controller->triggers[i].due_ns && controller->triggers[i].due_ns < first)
			first = controller->triggers[i].due_ns;
	if (first != UINT64_MAX)
		at.it_value = (struct timespec){(time_t)(first / 1000000000), (long)(first % 1000000000)};
	timerfd_settime(controller->trigger_timer.fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void trigger_timer_ready(struct fxt_watch *watch, void *context)
{
	struct fxt_controller *controller = context;
	uint64_t now = fxt_monotonic_ns(), expirations;

	(void)!read(watch->fd, &expirations, sizeof(expirations));
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++) {
		struct fxt_trigger_state *state = &controller->triggers[i];

		if (!state->due_ns || state->due_ns > now)
			continue;
		state->due_ns = 0;
		trigger_act(controller, trigger_of(controller, i));
	}
	trigger_set_timer(controller);
}

/* Decides whether the trigger acts now, after being raised `times` more times. */
static bool trigger_is_due(
        const struct fxt_trigger *trigger, struct fxt_trigger_state *state, uint64_t times, uint64_t now)
{
	uint64_t before = state->raised;

	state->raised += times;
	if (trigger->once_after && (before >= trigger->once_after || state->raised < trigger->once_after))
		return false;
	if (state->due_ns)
		return false;
	if (state->last_ns && now - state->last_ns < trigger->every_ns) {
		state->passed += times;
		return false;
	}
	state->last_ns = now;
	state->passed += trigger->once_after ? 0 : times - 1; /* one action serves all of them */
	return true;
}

/* Prints how often the default limit has suppressed the action, and resets that count. */
static void trigger_say_passed(struct fxt_controller *controller, uint32_t index)
{
	const struct fxt_trigger *trigger = trigger_of(controller, index);
	struct fxt_trigger_state *state = &controller->triggers[index];

	if (state->passed && trigger->is_limited)
		fxt_say("--trigger=%s was raised %" PRIu64
		        " time%s more within a second of a snapshot, and took none; snapshot/100ms takes "
		        "more, snapshot/0s takes each",
		        trigger->text, state->passed, state->passed == 1 ? "" : "s");
	*state = (struct fxt_trigger_state){0};
}

static void trigger_raised(struct fxt_controller *controller, uint32_t index, uint64_t times)
{
	const struct fxt_trigger *trigger = trigger_of(controller, index);
	struct fxt_trigger_state *state = &controller->triggers[index];
	uint64_t now = fxt_monotonic_ns();

	if (!trigger_is_due(trigger, state, times, now))
		return;
	if (trigger->after_ns && controller->trigger_timer.fd >= 0) {
		state->due_ns = now + trigger->after_ns;
		trigger_set_timer(controller);
	} else {
		trigger_act(controller, trigger);
	}
}

/* ---- what happens ---- */

void fxt_triggers_on_alert(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES])
{
	fxt_alert_raised(controller, name);
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (trigger_of(controller, i)->event == FXT_TRIGGER_ON_ALERT &&
		        !strcmp(trigger_of(controller, i)->alert, name))
			trigger_raised(controller, i, 1);
}

void fxt_triggers_on_calls(struct fxt_controller *controller, uint32_t index, uint64_t times)
{
	if (!fxt_trigger_is_of_calls(trigger_of(controller, index))) /* it just was */
		return;
	fxt_alert_report_trigger(controller, index);
	trigger_raised(controller, index, times);
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
	fxt_triggers_on_alert(controller, name);
}

static bool trigger_is_of_end(const struct fxt_trigger *trigger, bool by_signal, int number)
{
	switch (trigger->event) {
	case FXT_TRIGGER_ON_SIGNAL:
		return by_signal && number == trigger->number;
	case FXT_TRIGGER_ON_EXIT:
		return !by_signal && number == trigger->number;
	case FXT_TRIGGER_ON_OTHER_EXIT:
		return !by_signal && number != trigger->number;
	default:
		return false;
	}
}

void fxt_triggers_on_end(struct fxt_controller *controller, bool by_signal, int number)
{
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (trigger_is_of_end(trigger_of(controller, i), by_signal, number)) {
			fxt_alert_report_trigger(controller, i);
			trigger_raised(controller, i, 1);
		}
}

static void trigger_need_timer(struct fxt_controller *controller, const struct fxt_trigger *trigger)
{
	if (!trigger->after_ns || controller->trigger_timer.fd >= 0)
		return;
	controller->trigger_timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (controller->trigger_timer.fd >= 0)
		fxt_watch_add(controller->session->epoll, &controller->trigger_timer);
}

void fxt_triggers_begin(struct fxt_controller *controller, uint32_t index, const struct fxt_trigger *trigger)
{
	trigger_say_passed(controller, index);
	trigger_need_timer(controller, trigger);
}

void fxt_triggers_end(struct fxt_controller *controller)
{
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		trigger_say_passed(controller, i);
}

json_t *fxt_triggers_list(const struct fxt_controller *controller)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (*trigger_of(controller, i)->text)
			json_array_append_new(
			        list, json_pack("{s:i, s:o, s:I}", "number", (int)i + 1, "trigger",
			                      fxt_rpc_text(trigger_of(controller, i)->text), "raised",
			                      (json_int_t)controller->triggers[i].raised));
	return list;
}

void fxt_triggers_renew(struct fxt_controller *controller)
{
	memset(controller->triggers, 0, sizeof(controller->triggers));
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		trigger_need_timer(controller, trigger_of(controller, i));
}

void fxt_triggers_open(struct fxt_controller *controller)
{
	controller->trigger_timer = (struct fxt_watch){-1, trigger_timer_ready, controller};
	fxt_triggers_renew(controller);
}

void fxt_triggers_close(struct fxt_controller *controller)
{
	if (controller->trigger_timer.fd < 0)
		return;
	fxt_watch_remove(controller->session->epoll, &controller->trigger_timer);
	close(controller->trigger_timer.fd);
	controller->trigger_timer.fd = -1;
}
