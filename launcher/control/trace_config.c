/*
 * Reads a controller's configuration from JSON into options, on the main thread. The
 * options must not be used after an error.
 */
#include "trace_config.h"
#include <stdio.h>
#include <string.h>
#include "filter_params.h"
#include "launcher/values.h"

#define MIB UINT64_C(1048576)

const char *fxt_trace_config_read_categories(json_t *value, struct fxt_categories *categories)
{
	json_t *name;
	size_t i;

	categories->bytes = 0;
	if (value && !json_is_array(value))
		return "categories must be an array of names";
	json_array_foreach(value, i, name)
	{
		size_t bytes = json_string_length(name);

		if (bytes == 0 || bytes > FXT_NAME_BYTES || strlen(json_string_value(name)) != bytes)
			return "categories must be names of 1 to 100 bytes";
		if (categories->bytes + bytes + 1 > sizeof(categories->names))
			return "categories may have at most 2048 bytes together, one more counted for each";
		memcpy(categories->names + categories->bytes, json_string_value(name), bytes + 1);
		categories->bytes += (uint32_t)bytes + 1;
	}
	return NULL;
}

static const char *config_output(json_t *value, struct fxt_options *o)
{
	o->output_file = json_string_value(value);
	o->keeps_old = false;
	if (!o->output_file || *o->output_file != '/' || strlen(o->output_file) != json_string_length(value))
		return "output must be an absolute path";
	return fxt_value_trace_file(o->output_file) ? "output cannot be a .gz; name a .zst" : NULL;
}

static const char *config_categories(json_t *value, struct fxt_options *o)
{
	return fxt_trace_config_read_categories(value, &o->categories);
}

static const char *config_size(json_t *value, uint64_t *bytes)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || (uint64_t)number > FXT_BUFFER_MAX_BYTES / MIB)
		return "buffer_size_megabytes_hint must be a number up to 4096";
	*bytes = number ? (uint64_t)number * MIB : MIB;
	return NULL;
}

static const char idle_buffers[] = "the sizes of buffers are those given to fxtrun --start=idle: the "
                                   "processes have their buffers already";

static const char *config_buffer_size(json_t *value, struct fxt_options *o)
{
	const char *wrong = o->start == FXT_START_IDLE ? idle_buffers : config_size(value, &o->buffer_bytes);

	o->descendant_buffer_bytes = o->buffer_bytes;
	return wrong;
}

static const char *config_total_size(json_t *value, struct fxt_options *o)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || (uint64_t)number > FXT_SIZE_MAX_BYTES / MIB)
		return "total_size_megabytes must be a number up to 1048576";
	o->total_bytes = (uint64_t)number * MIB;
	return NULL;
}

static const char *config_start_timeout(json_t *value, struct fxt_options *o)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number > UINT32_MAX)
		return "start_timeout_milliseconds must be a number";
	o->start_timeout_ns = (uint64_t)number * 1000000;
	return NULL;
}

static const char *config_buffering_mode(json_t *value, struct fxt_options *o)
{
	return json_is_string(value) &&
	                       fxt_value_word(json_string_value(value), json_string_length(value),
	                               fxt_buffering_mode_names, FXT_BUFFERING_MODES, &o->buffering_mode)
	               ? NULL
	               : "buffering_mode must be ONESHOT, CIRCULAR or STREAMING";
}

static const char *config_provider_specs(json_t *value, struct fxt_options *o)
{
	json_t *item;
	size_t i;

	if (o->start == FXT_START_IDLE)
		return idle_buffers;
	o->provider_spec_count = 0;
	if (!json_is_array(value) || json_array_size(value) > FXT_PROVIDER_SPECS)
		return "provider_specs must be an array of at most 100";
	json_array_foreach(value, i, item)
	{
		json_t *name = json_object_get(item, "name");
		struct fxt_provider_spec *spec = &o->provider_specs[i];
		json_t *size = json_object_get(item, "buffer_size_megabytes_hint");
		const char *wrong;

		if (!name || !size || json_object_size(item) != 2)
			return "provider_specs must each have both a name and a buffer_size_megabytes_hint";
		wrong = config_size(size, &spec->buffer_bytes);
		if (wrong)
			return wrong;
		spec->name = json_string_value(name);
		spec->name_bytes = json_string_length(name);
		if (spec->name_bytes == 0 || spec->name_bytes > FXT_NAME_BYTES)
			return "provider_specs must have names of 1 to 100 bytes";
	}
	o->provider_spec_count = (unsigned)json_array_size(value);
	return NULL;
}

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

/* 0: no functions are muted, even if fxtrun was started with --auto. */
static const char *config_muting_percent(json_t *value, struct fxt_options *o)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number > FXT_MUTING_PERCENT_MAX)
		return "muting_percent must be a number of percent, up to 99";
	if (number && o->raw)
		return "muting_percent: functions are muted by their names, which --raw leaves out";
	if (number && !o->calibrate)
		return "muting_percent: what a call costs is not known; begin the session with fxtrun "
		       "--calibrate";
	o->muting_percent = (unsigned)number;
	return NULL;
}

static const char *config_version(json_t *value, struct fxt_options *o)
{
	json_t *major = json_object_get(value, "major"), *minor = json_object_get(value, "minor");

	(void)o;
	if (!json_is_object(value) || (major && !json_is_integer(major)) ||
	        (minor && !json_is_integer(minor)))
		return "version must have numbers as major and minor";
	/* Compares with the latest version that the client can read. Ours is 0.1; a missing
	 * part stands for our value. */
	return json_integer_value(major) < 0 ||
	                       (json_integer_value(major) == 0 && minor && json_integer_value(minor) < 1)
	               ? "version: only traces of version 0.1 can be made"
	               : NULL;
}

static const char *config_defer_transfer(json_t *value, struct fxt_options *o)
{
	o->defer_transfer = json_is_true(value);
	return json_is_boolean(value) ? NULL : "defer_transfer must be true or false";
}

const char *fxt_trace_config_read(json_t *config, struct fxt_options *options, char *text, size_t text_bytes)
{
	static const struct {
		const char *name;
		const char *(*read)(json_t *, struct fxt_options *);
	} fields[] = {
	        {"output", config_output},
	        {"categories", config_categories},
	        {"buffer_size_megabytes_hint", config_buffer_size},
	        {"total_size_megabytes", config_total_size},
	        {"start_timeout_milliseconds", config_start_timeout},
	        {"buffering_mode", config_buffering_mode},
	        {"provider_specs", config_provider_specs},
	        {"muting_percent", config_muting_percent},
	        {"version", config_version},
	        {"defer_transfer", config_defer_transfer},
	};
	const char *wrong = NULL, *name;
	json_t *value;
	size_t known = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields) && !wrong; i++) {
		value = json_object_get(config, fields[i].name);
		known += value != NULL;
		if (value)
			wrong = fields[i].read(value, options);
	}
	json_object_foreach(config, name, value) known +=
	        fxt_filter_params_has(name) || !strcmp(name, "triggers");
	if (!wrong && known < json_object_size(config))
		wrong = "there is a field that a TraceConfig does not have";
	if (!wrong && options->muting_percent && options->buffering_mode != FXT_STREAMING)
		wrong = "buffering_mode must be STREAMING to mute functions (--auto)";
	return wrong ? wrong : config_filter(config, options, text, text_bytes);
}
