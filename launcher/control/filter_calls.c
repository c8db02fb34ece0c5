/*
 * SetFilter, SetCategories and SetTrigger: read the parameters, begin the change, and keep
 * the request until it is made. Runs on the main thread and must not wait for the change.
 */
#include "filter_calls.h"
#include <stdio.h>
#include <string.h>
#include "filter_params.h"
#include "trigger_calls.h"
#include "launcher/manager/filter_change.h"
#include "launcher/option_table.h"

/* The reason why the session cannot make any change now, or NULL. */
static const char *filter_is_refused(const struct fxt_session *session)
{
	if (session->recording.state == FXT_SESSION_READY)
		return "no recording is being made; fxtctl record has options for the next one";
	return fxt_filter_is_changing(session) ? "another change of the filter is under way; try again"
	                                       : NULL;
}

/* The same for a change that needs names. */
static const char *filter_names_are_refused(const struct fxt_session *session)
{
	return session->config.options->raw ? "filters need the names of functions, which --raw leaves out"
	                                    : NULL;
}

/* The reason why the session cannot make this change now, or NULL. */
static const char *filter_refusal(const struct fxt_filter_params *wish, const struct fxt_session *session)
{
	const char *refusal = wish->patterns || wish->has_depth ? filter_names_are_refused(session) : NULL;

	if (wish->has_limits && !fxt_filter_may_limit(session))
		return "the session keeps no sums of elided calls; begin it with fxtrun --min-duration or "
		       "--max-calls, such as --min-duration=0us, which elides nothing";
	return refusal ? refusal : filter_is_refused(session);
}

/* Refuses a request with `wrong`, an error of the request, or else with the reason why it
 * is not possible now. Returns true if there is either. */
static bool filter_refuse(const struct fxt_request *request, const char *wrong, const char *refusal)
{
	if (wrong)
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, wrong);
	else if (refusal)
		fxt_rpc_refuse(request, FXT_RPC_NO_FILTER, refusal);
	return wrong || refusal;
}

/* Replies at once if the change failed or is made already; otherwise the request stays
 * kept. */
static void filter_await(struct fxt_controller *controller, int error)
{
	if (error) {
		controller->filter_number = 0;
		fxt_rpc_fail(&controller->filter, FXT_RPC_NO_FILTER, NULL, strerror(error));
	} else if (!fxt_filter_is_changing(controller->session)) {
		fxt_filter_calls_changed(controller, 0);
	}
}

void fxt_call_set_filter(struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_session *session = controller->session;
	struct fxt_filter_params wish = {
	        .limits = session->config.limits, .depth_limit = session->config.depth_limit};
	const char *wrong = fxt_filter_params_read(&wish, fxt_provider_filter(&session->config), params),
	           *refusal;

	if (!wrong && json_object_size(params) == 0)
		wrong = "there must be a min_duration, max_calls, include, exclude, only_under, not_under or "
		        "depth";
	refusal = wrong ? NULL : filter_refusal(&wish, session);
	if (!filter_refuse(request, wrong, refusal)) {
		controller->filter = fxt_rpc_keep(request);
		filter_await(controller,
		        fxt_filter_change(session, &wish.limits,
		                wish.patterns || wish.has_depth ? &wish.filter : NULL, wish.depth_limit));
	}
	fxt_record_filter_free(&wish.filter);
}

void fxt_call_set_categories(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_session *session = controller->session;
	json_t *names = json_object_get(params, "categories");
	struct fxt_categories categories;
	const char *wrong = json_array_size(names) ? fxt_option_read_categories(names, &categories)
	                                           : "categories must be an array of names",
	           *refusal = filter_names_are_refused(session);

	if (!refusal)
		refusal = filter_is_refused(session);
	if (filter_refuse(request, wrong, refusal))
		return;
	controller->filter = fxt_rpc_keep(request);
	filter_await(controller, fxt_filter_change_categories(session, &categories));
}

/* Returns the index for a trigger to add; FXT_TRIGGERS: there is none left. */
static uint32_t filter_free_trigger(
        const struct fxt_provider_config *config, const struct fxt_trigger *trigger)
{
	uint32_t index = 0;

	while (index < FXT_TRIGGERS &&
	        (*config->triggers[index].text ||
	                (fxt_trigger_is_of_calls(trigger) && config->had_calls >> index & 1)))
		index++;
	return index;
}

/* Reads the trigger and its index. Returns NULL, or a description of the error, in
 * text[text_bytes] or elsewhere. */
static const char *filter_read_trigger(const struct fxt_session *session, json_t *params, uint32_t *index,
        struct fxt_trigger *trigger, char *text, size_t text_bytes)
{
	json_t *add = json_object_get(params, "trigger"), *remove = json_object_get(params, "remove");
	const char *wrong;

	if (json_object_size(params) != 1 || (add && !json_is_string(add)) ||
	        (remove && !json_is_integer(remove)))
		return "there must be a trigger, as text, or the number of a trigger to remove";
	if (remove) {
		*index = (uint32_t)json_integer_value(remove) - 1;
		*trigger = (struct fxt_trigger){0};
		if (json_integer_value(remove) >= 1 && json_integer_value(remove) <= FXT_TRIGGERS &&
		        *session->config.triggers[*index].text)
			return NULL;
		snprintf(text, text_bytes, "there is no trigger %" JSON_INTEGER_FORMAT,
		        json_integer_value(remove));
		return text;
	}
	wrong = fxt_trigger_read(trigger, json_string_value(add));
	*index = filter_free_trigger(&session->config, trigger);
	if (wrong)
		snprintf(text, text_bytes, "%.100s: %s", json_string_value(add), wrong);
	return wrong ? text : NULL;
}

static const char *filter_trigger_refusal(
        const struct fxt_session *session, uint32_t index, const struct fxt_trigger *trigger)
{
	const char *refusal = fxt_trigger_is_of_calls(trigger) ? filter_names_are_refused(session) : NULL;

	if (index == FXT_TRIGGERS)
		return "a recording has at most 15 triggers, including removed ones that calls raised";
	if (trigger->action == FXT_TRIGGER_SNAPSHOT &&
	        session->config.options->buffering_mode != FXT_CIRCULAR)
		return "only a circular buffer has snapshots; fxtrun --buffering-mode=circular has one";
	return refusal ? refusal : filter_is_refused(session);
}

void fxt_call_set_trigger(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_session *session = controller->session;
	struct fxt_trigger trigger;
	uint32_t index;
	char text[512];
	const char *wrong = filter_read_trigger(session, params, &index, &trigger, text, sizeof(text)),
	           *refusal = wrong ? NULL : filter_trigger_refusal(session, index, &trigger);

	if (filter_refuse(request, wrong, refusal))
		return;
	controller->filter = fxt_rpc_keep(request);
	controller->filter_number = *trigger.text ? index + 1 : 0;
	fxt_triggers_begin(controller, index, &trigger);
	filter_await(controller, fxt_filter_change_trigger(session, index, &trigger));
}

void fxt_filter_calls_changed(struct fxt_controller *controller, uint32_t late)
{
	json_t *result = json_object();

	if (controller->filter_number)
		json_object_set_new(result, "number", json_integer(controller->filter_number));
	if (late)
		json_object_set_new(result, "late", json_integer(late));
	controller->filter_number = 0;
	fxt_rpc_finish(&controller->filter, result);
}

void fxt_filter_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection)
{
	if (controller->filter.connection == connection)
		fxt_rpc_forget(&controller->filter);
}
