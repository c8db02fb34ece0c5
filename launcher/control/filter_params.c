#include "filter_params.h"
#include <stdio.h>
#include <string.h>
#include "launcher/values.h"

static const char *filter_read_limits(struct fxt_filter_params *read, json_t *params)
{
	json_t *time = json_object_get(params, "min_duration"), *calls = json_object_get(params, "max_calls");
	struct fxt_call_limits *limits = &read->limits;

	read->has_limits = time || calls;
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

static const char *filter_read_kind(
        struct fxt_filter_params *read, enum fxt_record_filter_kind kind, json_t *patterns)
{
	json_t *pattern;
	size_t i;

	if (!json_is_array(patterns)) {
		snprintf(read->wrong, sizeof(read->wrong), "%s must be a list of patterns",
		        fxt_pattern_fields[kind]);
		return read->wrong;
	}
	json_array_foreach(patterns, i, pattern)
	{
		const char *text = json_string_value(pattern);
		const char *wrong = text ? fxt_record_filter_add(&read->filter, kind, text)
		                         : "must be a list of patterns";

		if (wrong) {
			snprintf(read->wrong, sizeof(read->wrong), "%s%s%.100s %s", fxt_pattern_fields[kind],
			        text ? " " : "", text ? text : "", wrong);
			return read->wrong;
		}
	}
	return NULL;
}

/* Replaces the patterns of a kind. */
static const char *filter_read_patterns(
        struct fxt_filter_params *read, const struct fxt_record_filter *now, json_t *params)
{
	const char *wrong = NULL;

	for (unsigned kind = 0; kind < FXT_RECORD_FILTER_PATTERNS; kind++)
		if (json_object_get(params, fxt_pattern_fields[kind]))
			read->patterns |= 1u << kind;
	if (now)
		wrong = fxt_record_filter_add_all(&read->filter, now, read->patterns);
	for (unsigned kind = 0; !wrong && kind < FXT_RECORD_FILTER_PATTERNS; kind++)
		if (read->patterns >> kind & 1)
			wrong = filter_read_kind(read, (enum fxt_record_filter_kind)kind,
			        json_object_get(params, fxt_pattern_fields[kind]));
	return wrong;
}

static const char *filter_read_depth(struct fxt_filter_params *read, json_t *params)
{
	json_t *depth = json_object_get(params, "depth");

	read->has_depth = depth != NULL;
	if (depth && !json_is_null(depth) &&
	        (!json_is_integer(depth) || json_integer_value(depth) < 1 ||
	                json_integer_value(depth) > FXT_DEPTH_MAX))
		return "depth must be a number of calls, from 1 to 4094, or null";
	if (depth)
		read->depth_limit = json_is_null(depth) ? 0 : (uint32_t)json_integer_value(depth);
	return NULL;
}

const char *fxt_filter_params_read(
        struct fxt_filter_params *read, const struct fxt_record_filter *now, json_t *params)
{
	const char *wrong = filter_read_limits(read, params);

	if (!wrong)
		wrong = filter_read_depth(read, params);
	return wrong ? wrong : filter_read_patterns(read, now, params);
}
