/*
 * Reads a controller's configuration from JSON into options (launcher/option_table.h), on
 * the main thread. The options must not be used after an error.
 */
#include "trace_config.h"
#include <stdio.h>
#include <string.h>
#include "filter_params.h"
#include "launcher/option_table.h"

/* Replaces the triggers. */
static const char *config_triggers(
        json_t *texts, struct fxt_options *o, struct fxt_record_filter *filter, char *text, size_t text_bytes)
{
	const char *wrong = NULL;
	json_t *given;

	if (!json_is_array(texts) || json_array_size(texts) > FXT_TRIGGERS)
		return "triggers must be an array of at most 15";
	for (o->trigger_count = 0; !wrong && (given = json_array_get(texts, o->trigger_count));
	        o->trigger_count++) {
		struct fxt_trigger *trigger = &o->triggers[o->trigger_count];

		if (!json_is_string(given))
			return "triggers must be texts";
		wrong = fxt_trigger_read(trigger, json_string_value(given));
		if (!wrong)
			wrong = fxt_trigger_select(trigger, o->trigger_count, filter);
		if (wrong)
			snprintf(text, text_bytes, "%.100s: %s", json_string_value(given), wrong);
	}
	return wrong ? text : NULL;
}

/* Patterns and triggers make a new filter. */
static const char *config_filter(json_t *config, struct fxt_options *o, char *text, size_t text_bytes)
{
	json_t *triggers = json_object_get(config, "triggers");
	struct fxt_filter_params read = {.limits = o->limits,
	        .depth_limit = o->depth_limit,
	        .patterns = triggers ? FXT_TRIGGER_KINDS : 0};
	const char *wrong = fxt_filter_params_read(&read, &o->filter, config);

	if (!wrong && triggers)
		wrong = config_triggers(triggers, o, &read.filter, text, text_bytes);
	if (!wrong && read.patterns && o->raw)
		wrong = "filters need the names of functions, which --raw leaves out";
	if (wrong || !read.patterns) {
		if (wrong != text)
			snprintf(text, text_bytes, "%s", wrong ? wrong : "");
		fxt_record_filter_free(&read.filter);
	} else {
		o->filter = read.filter;
	}
	o->limits = read.limits;
	o->has_min_duration = o->has_min_duration || json_object_get(config, "min_duration");
	o->depth_limit = read.depth_limit;
	return wrong ? text : NULL;
}

const char *fxt_trace_config_read(json_t *config, struct fxt_options *options, char *text, size_t text_bytes)
{
	const char *wrong = NULL, *name;
	json_t *value;

	for (unsigned i = 0; i < fxt_option_count && !wrong; i++) {
		const struct fxt_option *option = &fxt_option_table[i];

		value = option->read ? json_object_get(config, option->field) : NULL;
		if (value)
			wrong = option->read(value, options);
	}
	json_object_foreach(config, name, value)
	{
		if (!wrong && !fxt_option_has_field(FXTCTL_RECORD, name))
			wrong = "there is a field that a TraceConfig does not have";
	}
	if (!wrong && options->muting_percent && options->buffering_mode != FXT_STREAMING)
		wrong = "buffering_mode must be STREAMING to mute functions (--auto)";
	return wrong ? wrong : config_filter(config, options, text, text_bytes);
}
