#include "filter_calls.h"
#include <stdio.h>
#include <string.h>
#include "launcher/session/filter_change.h"
#include "launcher/values.h"

/* What a call asks for. */
struct filter_wish {
	struct fxt_call_limits limits;
	bool has_limits;
	struct fxt_selection filter; /* if there are patterns, or a depth */
	unsigned patterns;           /* kinds of which some, or none, are given: a sum of 1 << kind */
	bool has_depth;
	uint32_t depth_limit;
	char wrong[256];
};

/* The fields of patterns. */
static const char *const filter_fields[FXT_SELECTION_PATTERNS] = {
        [FXT_SELECTION_INCLUDE] = "include",
        [FXT_SELECTION_EXCLUDE] = "exclude",
        [FXT_SELECTION_ONLY_UNDER] = "only_under",
        [FXT_SELECTION_NOT_UNDER] = "not_under",
};

static const char *filter_read_limits(struct filter_wish *wish, json_t *params)
{
	json_t *time = json_object_get(params, "min_duration"), *calls = json_object_get(params, "max_calls");
	struct fxt_call_limits *limits = &wish->limits;

	wish->has_limits = time || calls;
	if (time && (!json_is_string(time) ||
	                    fxt_options_read_min_duration(json_string_value(time), &limits->min_duration_ns)))
		return "min_duration must be a time with a unit, such as 10us";
	if (calls && !json_is_null(calls) &&
	        (!json_is_integer(calls) || json_integer_value(calls) < 0 ||
	                (uint64_t)json_integer_value(calls) > FXT_MAX_CALLS_MAX))
		return "max_calls must be a number of calls, or null";
	if (calls)
		limits->first_counted = json_is_null(calls) ? 0 : (uint64_t)json_integer_value(calls) + 1;
	return NULL;
}

static const char *filter_read_kind(struct filter_wish *wish, enum fxt_selection_kind kind, json_t *patterns)
{
	json_t *pattern;
	size_t i;

	if (!json_is_array(patterns)) {
		snprintf(wish->wrong, sizeof(wish->wrong), "%s must be a list of patterns",
		        filter_fields[kind]);
		return wish->wrong;
	}
	json_array_foreach(patterns, i, pattern)
	{
		const char *text = json_string_value(pattern);
		const char *wrong =
		        text ? fxt_selection_add(&wish->filter, kind, text) : "must be a list of patterns";

		if (wrong) {
			snprintf(wish->wrong, sizeof(wish->wrong), "%s%s%.100s %s", filter_fields[kind],
			        text ? " " : "", text ? text : "", wrong);
			return wish->wrong;
		}
	}
	return NULL;
}

/* Patterns of a kind take the place of those there were. */
static const char *filter_read_patterns(
        struct filter_wish *wish, const struct fxt_session *session, json_t *params)
{
	const struct fxt_selection *now = fxt_provider_filter(&session->terms);
	const char *wrong = NULL;

	for (unsigned kind = 0; kind < FXT_SELECTION_PATTERNS; kind++)
		if (json_object_get(params, filter_fields[kind]))
			wish->patterns |= 1u << kind;
	if (now)
		wrong = fxt_selection_add_all(&wish->filter, now, wish->patterns);
	for (unsigned kind = 0; !wrong && kind < FXT_SELECTION_PATTERNS; kind++)
		if (wish->patterns >> kind & 1)
			wrong = filter_read_kind(wish, (enum fxt_selection_kind)kind,
			        json_object_get(params, filter_fields[kind]));
	return wrong;
}

static const char *filter_read_depth(struct filter_wish *wish, json_t *params)
{
	json_t *depth = json_object_get(params, "depth");

	wish->has_depth = depth != NULL;
	if (depth && !json_is_null(depth) &&
	        (!json_is_integer(depth) || json_integer_value(depth) < 1 ||
	                json_integer_value(depth) > FXT_DEPTH_MAX))
		return "depth must be a number of calls, from 1 to 4094, or null";
	if (depth)
		wish->depth_limit = json_is_null(depth) ? 0 : (uint32_t)json_integer_value(depth);
	return NULL;
}

/* Why the session cannot do that now, or NULL. */
static const char *filter_refusal(const struct filter_wish *wish, const struct fxt_session *session)
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
	struct filter_wish wish = {
	        .limits = session->terms.limits, .depth_limit = session->terms.depth_limit};
	const char *wrong = filter_read_limits(&wish, params), *refusal;
	int error = 0;

	if (!wrong)
		wrong = filter_read_depth(&wish, params);
	if (!wrong)
		wrong = filter_read_patterns(&wish, session, params);
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
