#include "filter_calls.h"
#include <stdio.h>
#include <string.h>
#include "filter_params.h"
#include "launcher/session/filter_change.h"

/* Why the session cannot do that now, or NULL. */
static const char *filter_refusal(const struct fxt_filter_params *wish, const struct fxt_session *session)
{
	if (wish->has_limits && !fxt_filter_may_limit(session))
		return "the session keeps no sums of calls that are left out; begin it with fxtrun "
		       "--min-duration or --max-calls, as --min-duration=0us, which leaves nothing out";
	if ((wish->patterns || wish->has_depth) && session->terms.options->raw)
		return "--raw leaves functions without names, by which filters choose";
	if (fxt_filter_is_changing(session))
		return "another change of the filter is under way; try again";
	return NULL;
}

void fxt_call_set_filter(struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_session *session = controller->session;
	struct fxt_filter_params wish = {
	        .limits = session->terms.limits, .depth_limit = session->terms.depth_limit};
	const char *wrong = fxt_filter_params_read(&wish, fxt_provider_filter(&session->terms), params),
	           *refusal;
	int error = 0;

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
		error = fxt_filter_change(session, &wish.limits,
		        wish.patterns || wish.has_depth ? &wish.filter : NULL, wish.depth_limit);
		if (error)
			fxt_rpc_fail(&controller->filter, FXT_RPC_NO_FILTER, NULL, strerror(error));
		else if (!fxt_filter_is_changing(session))
			fxt_filter_calls_changed(controller, 0);
	}
	fxt_selection_free(&wish.filter);
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
