#include "filter_calls.h"
#include <stdio.h>
#include <string.h>
#include "filter_params.h"
#include "trace_config.h"
#include "launcher/session/filter_change.h"

/* Why the session cannot make any change now, or NULL. */
static const char *filter_is_refused(const struct fxt_session *session)
{
	if (session->recording.state == FXT_SESSION_READY)
		return "no recording is being made; the next one is told what it is to have by fxtctl record";
	return fxt_filter_is_changing(session) ? "another change of the filter is under way; try again"
	                                       : NULL;
}

/* The same of one of names. */
static const char *filter_names_are_refused(const struct fxt_session *session)
{
	return session->terms.options->raw ? "--raw leaves functions without names, by which filters choose"
	                                   : NULL;
}

/* Why the session cannot do that now, or NULL. */
static const char *filter_refusal(const struct fxt_filter_params *wish, const struct fxt_session *session)
{
	const char *refusal = wish->patterns || wish->has_depth ? filter_names_are_refused(session) : NULL;

	if (wish->has_limits && !fxt_filter_may_limit(session))
		return "the session keeps no sums of calls that are left out; begin it with fxtrun "
		       "--min-duration or --max-calls, as --min-duration=0us, which leaves nothing out";
	return refusal ? refusal : filter_is_refused(session);
}

/* Replies once the change that was begun is made, if there was no error. */
static void filter_await(struct fxt_controller *controller, int error)
{
	if (error)
		fxt_rpc_fail(&controller->filter, FXT_RPC_NO_FILTER, NULL, strerror(error));
	else if (!fxt_filter_is_changing(controller->session))
		fxt_filter_calls_changed(controller, 0);
}

void fxt_call_set_filter(struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_session *session = controller->session;
	struct fxt_filter_params wish = {
	        .limits = session->terms.limits, .depth_limit = session->terms.depth_limit};
	const char *wrong = fxt_filter_params_read(&wish, fxt_provider_filter(&session->terms), params),
	           *refusal;

	if (!wrong && json_object_size(params) == 0)
		wrong = "there must be a min_duration, max_calls, include, exclude, only_under, not_under or "
		        "depth";
	refusal = wrong ? NULL : filter_refusal(&wish, session);
	if (wrong)
		fxt_rpc_refuse(request, FXT_RPC_INVALID_PARAMS, wrong);
	else if (refusal)
		fxt_rpc_refuse(request, FXT_RPC_NO_FILTER, refusal);
	if (!wrong && !refusal) {
		controller->filter = fxt_rpc_keep(request);
		filter_await(controller,
		        fxt_filter_change(session, &wish.limits,
		                wish.patterns || wish.has_depth ? &wish.filter : NULL, wish.depth_limit));
	}
	fxt_selection_free(&wish.filter);
}

void fxt_call_set_categories(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_session *session = controller->session;
	json_t *names = json_object_get(params, "categories");
	struct fxt_categories categories;
	const char *wrong = json_array_size(names) ? fxt_trace_config_read_categories(names, &categories)
	                                           : "categories must be an array of names",
	           *refusal = filter_names_are_refused(session);

	if (!refusal)
		refusal = filter_is_refused(session);
	if (wrong || refusal) {
		fxt_rpc_refuse(
		        request, wrong ? FXT_RPC_INVALID_PARAMS : FXT_RPC_NO_FILTER, wrong ? wrong : refusal);
		return;
	}
	controller->filter = fxt_rpc_keep(request);
	filter_await(controller, fxt_filter_change_categories(session, &categories));
}

void fxt_filter_calls_changed(struct fxt_controller *controller, uint32_t late)
{
	fxt_rpc_finish(&controller->filter, late ? json_pack("{s:i}", "late", (int)late) : json_object());
}

void fxt_filter_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection)
{
	if (controller->filter.connection == connection)
		fxt_rpc_forget(&controller->filter);
}
