/*
 * The table of options, and the readers of their values. These must change nothing but what
 * they fill in, and print nothing.
 */
#include "option_table.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher/filter_file.h"
#include "launcher/planning/argument_requests.h"
#include "launcher/planning/probe_requests.h"
#include "launcher/runtime_dir.h"
#include "launcher/values.h"
#include "reader/trace/duration.h"
#include "reader/slices/query_filter.h"
#include "writer/engine/heap.h"

#define MIB UINT64_C(1048576)

/* The manager looks at the time every 100 ms. */
#define FXT_ROTATE_MIN_NS UINT64_C(100000000)
#define FXT_KEEP_MAX      100000

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define CATEGORIES_TOO_MANY "may have at most 2048 bytes together, one more counted for each"

/* Returns false if there is no room for the name. */
static bool categories_add(struct fxt_categories *categories, const char *name, size_t bytes)
{
	if (categories->bytes + bytes + 1 > sizeof(categories->names))
		return false;
	memcpy(categories->names + categories->bytes, name, bytes);
	categories->names[categories->bytes + bytes] = 0;
	categories->bytes += (uint32_t)bytes + 1;
	return true;
}

/* ---- fxtrun: values as text (message.h) ---- */

static const char *option_output_file(struct fxt_options *o, const char *value)
{
	o->output_file = value;
	o->keeps_old = false;
	return fxt_value_trace_file(value);
}

static const char *option_rotate(struct fxt_options *o, const char *value)
{
	uint64_t ns = 0, bytes = 0;
	bool is_time = fxt_duration_parse(value, &ns) && ns > 0;
	const char *wrong = is_time ? NULL : fxt_value_size(value, &bytes);

	if (is_time && (ns < FXT_ROTATE_MIN_NS || ns > FXT_TIME_MAX_NS))
		return "must be at least 100ms";
	if (wrong && !strpbrk(value, "0123456789"))
		return "must be a size, such as 100M, or a time with a unit, such as 10min";
	if (!wrong && is_time)
		o->rotate.ns = ns;
	else if (!wrong)
		o->rotate.bytes = bytes;
	return wrong;
}

static const char *option_keep(struct fxt_options *o, const char *value)
{
	char *end;
	unsigned long files = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || files < 1 || files > FXT_KEEP_MAX)
		return "must be a number of files, from 1 to 100000";
	o->rotate.keep = (uint32_t)files;
	return NULL;
}

static const char *option_session(struct fxt_options *o, const char *value)
{
	o->session = value;
	return fxt_session_name_is_valid(value)
	               ? NULL
	               : "must be at most 31 letters, digits, - _ or ., and not begin with .";
}

static const char *option_buffer_size(struct fxt_options *o, const char *value)
{
	const char *wrong = fxt_value_buffer_bytes(value, &o->buffer_bytes);

	o->descendant_buffer_bytes = o->buffer_bytes;
	return wrong;
}

static const char *option_provider_buffer_size(struct fxt_options *o, const char *value)
{
	const char *colon = strrchr(value, ':'); /* the last one: a name may contain colons */
	struct fxt_provider_spec spec = {value, colon ? (size_t)(colon - value) : 0, 0};
	const char *wrong;

	if (spec.name_bytes == 0)
		return "must be the name of a program and a size, such as server:256";
	if (spec.name_bytes > FXT_NAME_BYTES)
		return "a name may have at most 100 bytes";
	if (o->provider_spec_count == FXT_PROVIDER_SPECS)
		return "may be given for at most 100 programs";
	wrong = fxt_value_buffer_bytes(colon + 1, &spec.buffer_bytes);
	if (!wrong)
		o->provider_specs[o->provider_spec_count++] = spec;
	return wrong;
}

static const char *option_heap(struct fxt_options *o, const char *value)
{
	return fxt_heap_mode_read(value, &o->heap_mode, &o->heap_sample_bytes);
}

static const char *option_heap_stacks(struct fxt_options *o, const char *value)
{
	return fxt_heap_stacks_read(value, &o->heap_stacks);
}

/* Reads words with commas between them. Each word is the bit that is its index. */
static bool option_bits(const char *value, const char *const words[], size_t count, unsigned *bits)
{
	for (*bits = 0;; value++) {
		size_t bytes = strcspn(value, ",");
		unsigned bit;

		if (!fxt_value_word(value, bytes, words, count, &bit))
			return false;
		*bits |= bit;
		value += bytes;
		if (!*value)
			return true;
	}
}

static const char *option_follow(struct fxt_options *o, const char *value)
{
	static const char *const words[] = {[FXT_FOLLOW_FORK] = "fork", [FXT_FOLLOW_EXEC] = "exec"};

	o->follow = FXT_FOLLOW_NONE;
	if (!strcmp(value, "none"))
		return NULL;
	return option_bits(value, words, COUNT(words), &o->follow)
	               ? NULL
	               : "must be fork, exec, both with a comma between them, or none";
}

static const char *option_log(struct fxt_options *o, const char *value)
{
	static const char *const words[] = {
	        [FXT_LOG_STDOUT] = "stdout", [FXT_LOG_STDERR] = "stderr", [FXT_LOG_SYSLOG] = "syslog"};

	return option_bits(value, words, COUNT(words), &o->logs)
	               ? NULL
	               : "must be stderr, stdout or syslog, or several with a comma between them";
}

static const char *option_categories(struct fxt_options *o, const char *value)
{
	o->categories.bytes = 0;
	for (;;) {
		size_t bytes = strcspn(value, ",");

		if (bytes == 0)
			return "must be names with one comma between two of them";
		if (bytes > FXT_NAME_BYTES)
			return "a name may have at most 100 bytes";
		if (!categories_add(&o->categories, value, bytes))
			return "the names " CATEGORIES_TOO_MANY;
		if (!value[bytes])
			return NULL;
		value += bytes + 1;
	}
}

static const char *option_depth(struct fxt_options *o, const char *value)
{
	return fxt_value_depth(value, &o->depth_limit);
}

/* Reads [PATTERN:]NUMBER. A pattern makes it a limit of these functions in the filter;
 * without one, the limit is stored in *for_all. */
static const char *option_limit(struct fxt_options *o, enum fxt_record_filter_kind kind, const char *value,
        const char *(*read)(const char *text, uint64_t *number), uint64_t *for_all)
{
	const char *colon = strrchr(value, ':'); /* the last one: a pattern may contain colons */
	uint64_t number;

	if (!colon)
		return read(value, for_all);
	if (read(colon + 1, &number))
		return kind == FXT_RECORD_FILTER_MAX_CALLS
		               ? "must be a pattern and a number of calls, such as parse:100"
		               : "must be a pattern and a time with a unit, such as parse:10us";
	return fxt_record_filter_add_limit(&o->filter, kind, value, (size_t)(colon - value), number);
}

static const char *option_min_duration(struct fxt_options *o, const char *value)
{
	o->has_min_duration |= !strchr(value, ':');
	return option_limit(o, FXT_RECORD_FILTER_MIN_DURATION, value, fxt_options_read_min_duration,
	        &o->limits.min_duration_ns);
}

static const char *option_max_calls(struct fxt_options *o, const char *value)
{
	uint64_t calls = o->limits.first_counted - 1;
	const char *wrong = option_limit(o, FXT_RECORD_FILTER_MAX_CALLS, value, fxt_value_max_calls, &calls);

	o->limits.first_counted = calls + 1;
	return wrong;
}

static const char *option_library_calls(struct fxt_options *o, const char *value)
{
	struct fxt_library_calls *list = &o->library_patterns;
	size_t bytes;

	o->library_calls = true;
	if (!value || strcmp(value, "all") == 0)
		value = "*";
	if (!*value || strcmp(value, "module:") == 0)
		return "is empty";
	if (value[0] == '/' || strncmp(value, "file:", 5) == 0)
		return "must be a name as the libraries export it, with * and ?, or module:FILE; --include "
		       "takes other patterns";
	bytes = strlen(value) + 1;
	if (list->bytes + bytes + 1 > sizeof(list->patterns))
		return "may have at most 510 bytes in all patterns together";
	memcpy(list->patterns + list->bytes, value, bytes);
	list->bytes += (uint32_t)bytes;
	return NULL;
}

static const char *option_auto(struct fxt_options *o, const char *value)
{
	o->calibrate = true; /* the cost of a call gives the share of time that recording
	                      * takes */
	return fxt_value_muting_percent(value ? value : FXT_MUTING_PERCENT, &o->muting_percent);
}

static const char *option_argument_list(struct fxt_options *o, const char *value, bool is_of_results)
{
	struct fxt_argument_requests requests = {0};
	const char *wrong = fxt_argument_requests_add(&requests, value, is_of_results);

	fxt_argument_requests_free(&requests);
	if (!wrong && o->argument_list_count == FXT_ARGUMENT_LISTS)
		wrong = "may be given 32 times, together with --args and --returns";
	if (!wrong)
		o->argument_lists[o->argument_list_count++] =
		        (struct fxt_argument_list){value, is_of_results};
	return wrong;
}

static const char *option_attach(struct fxt_options *o, const char *value)
{
	char *end;
	unsigned long pid = strtoul(value, &end, 10);

	o->attach = value;
	return (*end ? !strchr(value, '/') : *value >= '1' && *value <= '9' && pid <= INT_MAX)
	               ? NULL
	               : "must be the number of a process, or the name of a systemd unit";
}

static const char *option_args(struct fxt_options *o, const char *value)
{
	return option_argument_list(o, value, false);
}

static const char *option_returns(struct fxt_options *o, const char *value)
{
	return option_argument_list(o, value, true);
}

static const char *option_usdt(struct fxt_options *o, const char *value)
{
	const char *wrong = fxt_probe_request_check(value);

	if (!wrong && o->usdt_count == FXT_USDT_VALUES)
		wrong = "may be given 16 times";
	if (!wrong)
		o->usdt[o->usdt_count++] = value;
	return wrong;
}

static const char *option_patch(struct fxt_options *o, const char *value)
{
	o->patch = value ? value : "";
	return value && !*value ? "must be patterns of modules, such as libz.so*" : NULL;
}

static const char *option_take_pattern(void *options, enum fxt_record_filter_kind kind, const char *pattern)
{
	struct fxt_options *o = options;

	return fxt_record_filter_add(&o->filter, kind, pattern);
}

static const char *option_filter_file(struct fxt_options *o, const char *value)
{
	return fxt_filter_file_read(value, option_take_pattern, o);
}

static const char *option_trigger(struct fxt_options *o, const char *value)
{
	struct fxt_trigger *trigger = &o->triggers[o->trigger_count];
	const char *wrong;

	if (o->trigger_count == FXT_TRIGGERS)
		return "may be given 15 times";
	wrong = fxt_trigger_read(trigger, value);
	if (!wrong)
		wrong = fxt_trigger_select(trigger, o->trigger_count, &o->filter);
	o->trigger_count += !wrong;
	return wrong;
}

static const char *const on_full_words[] = {[FXT_ON_FULL_BLOCK] = "block", [FXT_ON_FULL_DROP] = "drop"};
static const char *const start_words[] = {[FXT_START_NOW] = "now",
        [FXT_START_PAUSED] = "paused",
        [FXT_START_CONTROLLER] = "controller",
        [FXT_START_IDLE] = "idle"};

/* ---- the control socket: fields of a configuration ---- */

/* Categories past `room` bytes are counted in *discarded; NULL: they are an error. */
static const char *option_read_names(
        json_t *value, struct fxt_categories *categories, size_t room, size_t *discarded)
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
		bool has_room = categories->bytes + bytes + 1 <= room &&
		                categories_add(categories, json_string_value(name), bytes);

		if (!has_room && !discarded)
			return "categories " CATEGORIES_TOO_MANY;
		if (!has_room)
			++*discarded;
	}
	return NULL;
}

const char *fxt_option_read_categories(json_t *value, struct fxt_categories *categories)
{
	return option_read_names(value, categories, sizeof(categories->names), NULL);
}

const char *fxt_option_read_more_categories(
        json_t *value, size_t room, struct fxt_categories *categories, size_t *discarded)
{
	*discarded = 0;
	return option_read_names(value, categories, room, discarded);
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
	return fxt_option_read_categories(value, &o->categories);
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

/* ---- fxtctl: values as text, for the control socket ---- */

static const char *write_text(json_t *params, const char *field, const char *value)
{
	return json_object_set_new(params, field, json_string(value)) == 0 ? NULL : "is not UTF-8";
}

static const char *write_true(json_t *params, const char *field, const char *value)
{
	(void)value;
	json_object_set_new(params, field, json_true());
	return NULL;
}

static const char *write_to_list(json_t *params, const char *field, const char *value)
{
	json_t *list = json_object_get(params, field);

	if (!list) {
		list = json_array();
		json_object_set_new(params, field, list);
	}
	return json_array_append_new(list, json_string(value)) == 0 ? NULL : "is not UTF-8";
}

/* An empty pattern stands for none. */
static const char *write_pattern(json_t *params, const char *field, const char *value)
{
	if (*value)
		return write_to_list(params, field, value);
	if (!json_object_get(params, field))
		json_object_set_new(params, field, json_array());
	return NULL;
}

static const char *write_pattern_of_kind(void *params, enum fxt_record_filter_kind kind, const char *pattern)
{
	return write_pattern(params, fxt_pattern_fields[kind], pattern);
}

static const char *write_filter_file(json_t *params, const char *field, const char *value)
{
	(void)field;
	return fxt_filter_file_read(value, write_pattern_of_kind, params);
}

static const char *write_or_any(
        json_t *params, const char *field, const char *value, const char *wrong, uint64_t number)
{
	static char text[128];

	if (strcmp(value, "any") != 0 && wrong) {
		snprintf(text, sizeof(text), "%s, or any", wrong);
		return text;
	}
	json_object_set_new(
	        params, field, strcmp(value, "any") == 0 ? json_null() : json_integer((json_int_t)number));
	return NULL;
}

static const char *write_max_calls(json_t *params, const char *field, const char *value)
{
	uint64_t calls = 0;
	const char *wrong = fxt_value_max_calls(value, &calls);

	return write_or_any(params, field, value, wrong, calls);
}

static const char *write_depth(json_t *params, const char *field, const char *value)
{
	uint32_t depth = 0;
	const char *wrong = fxt_value_depth(value, &depth);

	return write_or_any(params, field, value, wrong, depth);
}

static const char *write_buffering_mode(json_t *params, const char *field, const char *value)
{
	unsigned mode;

	if (!fxt_value_word(value, strlen(value), fxt_buffering_mode_words, FXT_BUFFERING_MODES, &mode))
		return "must be oneshot, circular or streaming";
	return write_text(params, field, fxt_buffering_mode_names[mode]);
}

static const char *write_disposition(json_t *params, const char *field, const char *value)
{
	static const char *const words[] = {"entire", "nondurable", "retain"}, *const names[] = {
	                                                                               "CLEAR_ENTIRE",
	                                                                               "CLEAR_NONDURABLE",
	                                                                               "RETAIN"};
	unsigned index;

	if (!fxt_value_word(value, strlen(value), words, COUNT(words), &index))
		return "must be entire, nondurable or retain";
	return write_text(params, field, names[index]);
}

static const char *write_muting_percent(json_t *params, const char *field, const char *value)
{
	unsigned percent;
	const char *wrong = fxt_value_muting_percent(value ? value : FXT_MUTING_PERCENT, &percent);

	if (!wrong)
		json_object_set_new(params, field, json_integer(percent));
	return wrong;
}

/* The session has another working directory, so a path is made absolute. */
static const char *write_path(json_t *params, const char *field, const char *value)
{
	char directory[PATH_MAX], path[2 * PATH_MAX];

	if (strcmp(value, "-") == 0)
		return "must be a file: fxtrun writes the trace, and has another standard output";
	if (*value == '/')
		return write_text(params, field, value);
	if (!getcwd(directory, sizeof(directory)))
		return strerror(errno);
	snprintf(path, sizeof(path), "%s/%s", directory, value);
	return write_text(params, field, path);
}

static const char *write_trigger_number(json_t *params, const char *field, const char *value)
{
	char *end;
	long number = strtol(value, &end, 10);

	if (end == value || *end)
		return "must be the number of a trigger, which fxtctl trigger shows";
	json_object_set_new(params, field, json_integer((int)number));
	return NULL;
}

const char *fxt_option_write_categories(json_t *params, const char *field, const char *names)
{
	json_t *array = json_array();

	json_object_set_new(params, field, array);
	for (;;) {
		size_t bytes = strcspn(names, ",");

		if (bytes == 0 || json_array_append_new(array, json_stringn(names, bytes)) != 0)
			return "must be names with one comma between two of them";
		if (!names[bytes])
			return NULL;
		names += bytes + 1;
	}
}

/* ---- the options ---- */

#define FLAG(name) .is_flag = true, .member = offsetof(struct fxt_options, name)
#define WORDS(array, name) \
	.words = array, .word_count = COUNT(array), .member = offsetof(struct fxt_options, name)

const struct fxt_option fxt_option_table[] = {
        {"output-file", "FILE",
                "the trace; - is standard output (the program's own output then goes to standard error); "
                "compressed if it ends in .zst; in its name, %p is the number of fxtrun's process, %h the "
                "host, "
                "%r the rank in an MPI job, %t the time, %n the program's name [trace.fxt, or trace.%r.fxt "
                "in an "
                "MPI job]",
                .letter = 'o', .set = option_output_file, .is_for_command_line = true,
                .takers = FXTCTL_RECORD | FXTCTL_SNAPSHOT, .field = "output", .field_of_call = "path",
                .read = config_output, .write = write_path},
        {"buffer-size", "MB",
                "memory for the records of a process, in MiB or with K, M, G [64 for the program, 16 for "
                "each process it starts]",
                .set = option_buffer_size, .field = "buffer_size_megabytes_hint", .read = config_buffer_size},
        {"provider-buffer-size", "NAME:MB",
                "the same for processes of that name only; may be given again for other names",
                .set = option_provider_buffer_size, .field = "provider_specs", .read = config_provider_specs},
        {"populate", NULL,
                "touch all of that memory before the program runs: a longer start, and no slower calls at "
                "first",
                FLAG(populate)},
        {"buffering-mode", "MODE",
                "oneshot: keep the beginning; circular: keep the end; streaming: keep all [streaming]",
                WORDS(fxt_buffering_mode_words, buffering_mode), .takers = FXTCTL_RECORD,
                .field = "buffering_mode", .read = config_buffering_mode, .write = write_buffering_mode},
        {"total-size", "MB",
                "circular: limit the trace to this size; drops whole processes that have ended, the oldest "
                "first [256, or 4 times --buffer-size if that is more]",
                .number = fxt_value_size, .member = offsetof(struct fxt_options, total_bytes),
                .field = "total_size_megabytes", .read = config_total_size},
        {"max-size", "MB",
                "streaming and oneshot: end the recording when the trace has this size, in MiB or with K, M, "
                "G; the program runs on [no limit]",
                .number = fxt_value_size, .member = offsetof(struct fxt_options, max_bytes)},
        {"rotate", "SIZE|TIME",
                "streaming: go on in another file when the file has this size, in MiB or with K, M, G, or "
                "after this time, as 10min; both may be given; trace.fxt becomes trace.000001.fxt, "
                "trace.000002.fxt ...; each is a whole trace, and fxt merge puts them together",
                .set = option_rotate, .is_for_command_line = true},
        {"keep", "N", "with --rotate: keep the last N files and delete older ones [4]", .set = option_keep,
                .is_for_command_line = true},
        {"file-per-process", NULL,
                "make a file of each process when the recording ends, trace.1234.fxt for process 1234; in "
                "the name, %p and %n are then the number and name of each process; fxt merge puts them "
                "together",
                FLAG(file_per_process), .is_for_command_line = true},
        {"on-full", "block|drop",
                "streaming, when the disk is too slow: make the program wait, or drop records and count them "
                "[block]",
                WORDS(on_full_words, on_full)},
        {"categories", "A,B",
                "record only these categories; a * at the end of a name stands for any rest [all]",
                .set = option_categories, .takers = FXTCTL_START | FXTCTL_RECORD, .field = "categories",
                .field_of_call = "additional_categories", .read = config_categories,
                .write = fxt_option_write_categories},
        {"include", "PATTERN",
                "record only the calls of these functions; a pattern is 'parse*' or '/^parse_/' for names, "
                "file:parse.c, module:libz*; may be given again",
                .kind = FXT_RECORD_FILTER_INCLUDE, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "--include=PATTERN", .field = "include", .write = write_pattern},
        {"exclude", "PATTERN", "do not record the calls of these functions, even if included",
                .kind = FXT_RECORD_FILTER_EXCLUDE, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "--exclude=PATTERN", .field = "exclude", .write = write_pattern},
        {"only-under", "PATTERN", "record only the calls of these functions and the calls inside them",
                .letter = 'F', .kind = FXT_RECORD_FILTER_ONLY_UNDER, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "-F or --only-under=PATTERN", .field = "only_under", .write = write_pattern},
        {"not-under", "PATTERN", "record neither the calls of these functions nor the calls inside them",
                .letter = 'N', .kind = FXT_RECORD_FILTER_NOT_UNDER, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "-N or --not-under=PATTERN (repeatable; an empty one removes all)",
                .field = "not_under", .write = write_pattern},
        {"filter-file", "FILE",
                "read patterns from a file: each line has one of these four options without dashes, and a "
                "pattern",
                .set = option_filter_file, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "--filter-file=FILE", .write = write_filter_file},
        {"depth", "N", "record at most N nested calls; the count restarts inside each --only-under function",
                .letter = 'D', .set = option_depth, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "-D or --depth=N or any", .field = "depth", .write = write_depth},
        {"min-duration", "[PATTERN:]TIME",
                "record a call only if it takes at least this long, or something inside it is recorded; "
                "others are counted; may be given again for other functions",
                .letter = 't', .set = option_min_duration, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "and, where fxtrun was given one of them, -t or --min-duration=TIME",
                .field = "min_duration", .write = write_text},
        {"max-calls", "[PATTERN:]N",
                "record the first N calls of each function, and count the others; may be given again for "
                "other functions",
                .set = option_max_calls, .takers = FXTCTL_FILTER | FXTCTL_RECORD,
                .fxtctl_help = "--max-calls=N or any", .field = "max_calls", .write = write_max_calls},
        {"patch", "[=MODULE,...]",
                "record the functions of programs that nothing was compiled into for it, or of the modules "
                "with these names, such as libz.so*: a jump is written over their first bytes in memory",
                .set = option_patch, .is_optional = true},
        {"usdt", "PROVIDER:PROBE,...",
                "record the probes of <sys/sdt.h> that the program and its libraries have, such as "
                "postgresql:*, with their arguments; @arg1/s behind it: the first argument is a text; list: "
                "only lists the probes, and runs nothing",
                .set = option_usdt},
        {"log", "LOG,...",
                "record the lines that programs write to a log, on the thread that writes them: stderr, "
                "stdout, "
                "syslog",
                .set = option_log},
        {"connections", NULL,
                "note at each send and receive how far the TCP connection is; by that fxt merge puts "
                "traces of several machines on one clock",
                FLAG(connections)},
        {"no-patch", NULL,
                "do not change the programs' code in memory; by default hook calls are patched out for "
                "excluded functions, and for all functions while no calls are recorded",
                FLAG(no_patch)},
        {"verbose", NULL, "list the functions that --patch leaves out, with the reason of each",
                .letter = 'v', FLAG(verbose)},
        {"args", "PATTERN,...",
                "record the arguments of these functions, by their debug information: 'parse_*', one "
                "argument or member as in handle:req->path, or by hand as in f@arg1/i32,arg2/s,retval/x64; "
                "for prepared entries, --patch and --library-calls",
                .set = option_args},
        {"returns", "PATTERN,...", "record the return values of these functions", .set = option_returns},
        {"library-calls", "[=PATTERN]",
                "record the calls that the program and its libraries make to functions of other libraries, "
                "also in programs that are not compiled for it; a pattern is 'SSL_*' for the names of "
                "these functions, or module:libssl*; may be given again [all]",
                .set = option_library_calls, .is_optional = true},
        {"auto", "[=PERCENT]",
                "mute functions with many short calls while recording takes more than PERCENT of the "
                "program's processor time [20]; measures the cost of a call first, as --calibrate does",
                .set = option_auto, .is_optional = true, .takers = FXTCTL_RECORD, .field = "muting_percent",
                .read = config_muting_percent, .write = write_muting_percent},
        {"start", "WHEN",
                "when to record: now; paused: when fxtctl says start; controller: the same, and the program "
                "begins when a controller has initialized the session; idle: whenever fxtctl record asks for "
                "a recording, each into its own file [now]",
                WORDS(start_words, start), .is_for_command_line = true},
        {"trigger", "EVENT:ACTION",
                "start, stop, snapshot or terminate when an alert of that name is raised, a call takes at "
                "least TIME ('FUNC>TIME'), begins or ends ('FUNC=begin', 'FUNC=end'), or a process dies "
                "(signal=SEGV, exit!=0); snapshot/10s: at most one in 10 s, or in 1 s by default; may be "
                "given again",
                .set = option_trigger, .is_for_command_line = true, .takers = FXTCTL_RECORD,
                .field = "triggers", .write = write_to_list},
        {"heap", "MODE",
                "auto: record every allocation and free of processes with instrumented code; objects: of "
                "all; "
                "sampled:BYTES: one in so many bytes; counters: only live bytes and objects; off [auto]",
                .set = option_heap},
        {"heap-stacks", "FROM",
                "call paths of allocations from the shadow stack, unwind (walked stacks), auto: either, or "
                "none [auto]",
                .set = option_heap_stacks},
        {"no-perfetto-heap", NULL, "no heap flame graph for the Perfetto UI in the trace",
                FLAG(no_perfetto_heap)},
        {"raw", NULL, "leave functions without names in the trace; fxt symbolize adds them", FLAG(raw)},
        {"no-sched", NULL, "do not record when threads ran and waited, nor page faults", FLAG(no_sched)},
        {"calibrate", NULL, "first measure the cost of recording a call, for fxt report --corrected",
                FLAG(calibrate)},
        {"duration", "TIME",
                "end the session after this time, and the program with it (by SIGTERM) [when the program "
                "ends]",
                .number = fxt_value_time, .member = offsetof(struct fxt_options, duration_ns),
                .is_for_command_line = true, .takers = FXTCTL_RECORD},
        {"attach", "PID|UNIT",
                "record a process that runs already, and its descendants, instead of a program, or the "
                "processes of a systemd unit; they go on when the session ends",
                .set = option_attach, .is_for_command_line = true},
        {"detach", NULL, "let the program go on, untraced, when the session ends", FLAG(detach),
                .is_for_command_line = true},
        {"decouple", NULL, "go on when the program ends, until its last descendant has ended", FLAG(decouple),
                .is_for_command_line = true},
        {"follow", "fork,exec|none",
                "record forked children, programs that are executed, or neither [fork,exec]",
                .set = option_follow},
        {"session", "NAME", "the session's name for fxtctl [the process number of fxtrun]",
                .set = option_session, .is_for_command_line = true, .takers = FXTCTL_ANY,
                .fxtctl_help = "the session, by name or process number [the only one that runs]"},
        {"build", NULL,
                "record nothing: run a build, such as make or ./configure, with fxt-cc and fxt-c++ as its "
                "compilers",
                .result = FXT_COMMAND_LINE_BUILD, .is_for_command_line = true},
        {"help", NULL, "show this and exit", .letter = 'h', .result = FXT_COMMAND_LINE_HELP,
                .is_for_command_line = true, .takers = FXTCTL_ANY, .fxtctl_help = "show this and exit"},
        {"version", NULL, "show the version and exit", .result = FXT_COMMAND_LINE_VERSION,
                .is_for_command_line = true, .takers = FXTCTL_ANY,
                .fxtctl_help = "show the version and exit"},
        {"json", NULL, .takers = FXTCTL_ANY, .fxtctl_help = "show replies as they come, for programs"},
        {"clear", "WHAT", .takers = FXTCTL_START, .field = "buffer_disposition", .write = write_disposition},
        {"write-results", NULL, .takers = FXTCTL_STOP, .field = "write_results", .write = write_true},
        {"remove", "N", .takers = FXTCTL_TRIGGER, .field = "remove", .write = write_trigger_number},
        {.field = "version", .read = config_version},
        {.field = "start_timeout_milliseconds", .read = config_start_timeout},
        {.field = "defer_transfer", .read = config_defer_transfer},
};
const unsigned fxt_option_count = COUNT(fxt_option_table);
_Static_assert(COUNT(fxt_option_table) <= FXT_OPTIONS_MAX, "the parser's tables hold all options");

/* ---- look-ups ---- */

const struct fxt_option *fxt_option_of(int value)
{
	if (value >= FXT_OPTION_LONG)
		return &fxt_option_table[value - FXT_OPTION_LONG];
	for (unsigned i = 0; i < fxt_option_count; i++)
		if (value && fxt_option_table[i].letter == value)
			return &fxt_option_table[i];
	return NULL;
}

void fxt_getopt_fill(struct fxt_getopt *tables, bool is_fxtctl)
{
	/* fxtrun stops at the program, which has its own options. A missing value is not
	 * the same as an unknown option. */
	char *letter = stpcpy(tables->letters, is_fxtctl ? ":" : "+:");
	unsigned count = 0;

	for (unsigned i = 0; i < fxt_option_count; i++) {
		const struct fxt_option *o = &fxt_option_table[i];

		if (is_fxtctl ? !o->takers : !o->help)
			continue;
		tables->options[count++] = (struct option){o->name,
		        !o->argument     ? no_argument
		        : o->is_optional ? optional_argument
		                         : required_argument,
		        NULL, FXT_OPTION_LONG + (int)i};
		if (o->letter) {
			*letter++ = o->letter;
			if (o->argument)
				*letter++ = ':';
		}
	}
	*letter = 0;
	tables->options[count] = (struct option){0};
}

bool fxt_option_has_field(unsigned taker, const char *field)
{
	for (unsigned i = 0; i < fxt_option_count; i++) {
		const struct fxt_option *o = &fxt_option_table[i];
		bool is_taken = o->takers & taker || (taker == FXTCTL_RECORD && o->read);

		if (is_taken && o->field && strcmp(fxt_option_field(o, taker), field) == 0)
			return true;
	}
	return false;
}

int fxt_option_print(const struct fxt_option *option)
{
	int column = option->letter ? printf("  -%c, ", option->letter) : printf("      ");

	return column + printf("--%s%s%s", option->name, option->argument && !option->is_optional ? "=" : "",
	                        option->argument ? option->argument : "");
}

void fxt_option_print_completion(const struct fxt_option *o, const char *help)
{
	const char *argument = o->argument && !o->is_optional ? o->argument : "";

	if (o->letter)
		printf("-%c\t%s\t%s\n", o->letter, argument, help);
	printf("--%s%s\t%s\t%s\n", o->name, *argument ? "=" : "", argument, help);
	for (size_t i = 0; i < o->word_count; i++)
		if (o->words[i])
			printf("--%s=%s\t\t%s\n", o->name, o->words[i], help);
}

void fxt_help_print(const char *text, int column, int indent)
{
	enum { WIDTH = 80 };

	if (column >= indent)
		column = printf("\n") - 1;
	while (*text) {
		int line = (int)strlen(text);

		while (line > WIDTH - indent || (text[line] && text[line] != ' '))
			line--;
		printf("%*s%.*s\n", indent - column, "", line, text);
		column = 0;
		text += line + strspn(text + line, " ");
	}
}
