/*
 * The commands of fxtctl: build a request from the options, and print the reply as text or
 * JSON. Texts of a session must be made safe before they are printed (fxtctl_string()).
 */
#include "commands.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "client.h"
#include "launcher/filter_file.h"
#include "launcher/values.h"
#include "reader/trace/text.h"

struct fxtctl fxtctl;

static struct fxt_client client;

static json_t *fxtctl_must_call(const char *method, json_t *params, unsigned timeout_seconds)
{
	json_t *result;

	fxt_client_connect(&client, fxtctl.session);
	result = fxt_client_call(&client, method, params, timeout_seconds);
	if (!result)
		fxt_client_fail(1, "session %s has ended", client.session);
	return result;
}

const char *fxtctl_string(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	char *shown = NULL;
	size_t bytes;
	FILE *out;

	if (!json_is_string(value))
		return "";
	out = open_memstream(&shown, &bytes);
	if (out) {
		fxt_write_text(out, fxt_span(json_string_value(value)));
		fclose(out);
	}
	if (!shown || json_string_set_nocheck(value, shown) != 0)
		fxt_client_fail(1, "%s", strerror(ENOMEM));
	free(shown);
	return json_string_value(value);
}

static int64_t fxtctl_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

bool fxtctl_show_json(const json_t *object)
{
	if (!fxtctl.json)
		return false;
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	putchar('\n');
	return true;
}

/* ---- what can be asked ---- */

static json_t *listed;

static void fxtctl_list_session(struct fxt_client *found)
{
	json_array_append_new(listed, fxt_client_call(found, "GetState", json_object(), FXT_CLIENT_SOON));
}

void fxtctl_list(void)
{
	json_t *state;
	size_t i;

	listed = json_array();
	fxt_client_each(fxtctl_list_session);
	if (!fxtctl_show_json(listed)) {
		printf("%-16s %8s  %-12s %-10s %s\n", "SESSION", "PID", "STATE", "MODE", "PROGRAM");
		json_array_foreach(listed, i, state)
		        printf("%-16s %8" PRId64 "  %-12s %-10s %s\n", fxtctl_string(state, "name"),
		                fxtctl_number(state, "pid"), fxtctl_string(state, "state"),
		                fxtctl_string(state, "buffering_mode"), fxtctl_string(state, "program"));
	}
	json_decref(listed);
}

static void fxtctl_print_statistics(const json_t *result)
{
	json_t *stats;
	size_t i;

	printf("%8s  %10s %12s %12s %8s %14s  %s\n", "PID", "WRAPPED", "LOST", "OVERWRITTEN", "DURABLE",
	        "BYTES", "PROVIDER");
	json_array_foreach(json_object_get(result, "provider_stats"), i, stats)
	        printf("%8" PRId64 "  %10" PRId64 " %12" PRId64 " %12" PRId64 " %7.1f%% %14" PRId64 "  %s\n",
	                fxtctl_number(stats, "pid"), fxtctl_number(stats, "buffer_wrapped_count"),
	                fxtctl_number(stats, "records_dropped"), fxtctl_number(stats, "records_overwritten"),
	                json_number_value(json_object_get(stats, "percentage_durable_buffer_used")),
	                fxtctl_number(stats, "non_durable_bytes_written"), fxtctl_string(stats, "name"));
}

void fxtctl_status(void)
{
	json_t *state = fxtctl_must_call("GetState", json_object(), FXT_CLIENT_SOON);

	if (!fxtctl_show_json(state)) {
		printf("session    %s\nstate      %s\nprogram    %s (process %" PRId64 ")\nmode       %s\n"
		       "output     %s (%" PRId64 " bytes so far)\n\n",
		        fxtctl_string(state, "name"), fxtctl_string(state, "state"),
		        fxtctl_string(state, "program"), fxtctl_number(state, "program_pid"),
		        fxtctl_string(state, "buffering_mode"), fxtctl_string(state, "output"),
		        fxtctl_number(state, "output_bytes"));
		fxtctl_print_statistics(state);
	}
	json_decref(state);
}

void fxtctl_providers(void)
{
	json_t *result = fxtctl_must_call("GetProviders", json_object(), FXT_CLIENT_SOON), *provider;
	size_t i;

	if (!fxtctl_show_json(result)) {
		printf("%4s %8s  %s\n", "ID", "PID", "NAME");
		json_array_foreach(json_object_get(result, "providers"), i, provider)
		        printf("%4" PRId64 " %8" PRId64 "  %s\n", fxtctl_number(provider, "id"),
		                fxtctl_number(provider, "pid"), fxtctl_string(provider, "name"));
	}
	json_decref(result);
}

static void fxtctl_list_categories(void)
{
	json_t *result = fxtctl_must_call("GetKnownCategories", json_object(), FXT_CLIENT_SOON), *category;
	size_t i;

	if (!fxtctl_show_json(result))
		json_array_foreach(json_object_get(result, "categories"), i, category) printf("%-10s %s\n",
		        fxtctl_string(category, "name"), fxtctl_string(category, "description"));
	json_decref(result);
}

/* ---- what can be done ---- */

static json_t *start_disposition(void)
{
	static const char *const words[][2] = {
	        {"entire", "CLEAR_ENTIRE"}, {"nondurable", "CLEAR_NONDURABLE"}, {"retain", "RETAIN"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(fxtctl.clear, words[i][0]))
			return json_string(words[i][1]);
	fxt_client_fail(2, "--clear=%s: must be entire, nondurable or retain", fxtctl.clear);
}

json_t *fxtctl_category_names(const char *list)
{
	json_t *array = json_array();

	for (;;) {
		size_t bytes = strcspn(list, ",");

		if (bytes == 0 || json_array_append_new(array, json_stringn(list, bytes)) != 0)
			fxt_client_fail(2, "%scategories: must be names with one comma between two of them",
			        fxtctl.operand ? "" : "--");
		if (!list[bytes])
			return array;
		list += bytes + 1;
	}
}

void fxtctl_start(void)
{
	json_t *params = json_object(), *result;

	if (fxtctl.clear)
		json_object_set_new(params, "buffer_disposition", start_disposition());
	if (fxtctl.categories)
		json_object_set_new(
		        params, "additional_categories", fxtctl_category_names(fxtctl.categories));
	result = fxtctl_must_call("StartTracing", params, FXT_CLIENT_RECORDING);
	fxtctl_show_json(result);
	json_decref(result);
}

void fxtctl_stop(void)
{
	json_t *result = fxtctl_must_call("StopTracing",
	        json_pack("{s:b}", "write_results", fxtctl.write_results), FXT_CLIENT_RECORDING);

	if (!fxtctl_show_json(result))
		fxtctl_print_statistics(result);
	json_decref(result);
}

json_t *fxtctl_absolute_path(const char *file)
{
	char directory[PATH_MAX], path[2 * PATH_MAX];

	if (*file == '/')
		return json_string(file);
	if (!getcwd(directory, sizeof(directory)))
		fxt_client_fail(1, "no working directory: %s", strerror(errno));
	snprintf(path, sizeof(path), "%s/%s", directory, file);
	return json_string(path);
}

/* For data that could not be written, only the number of bytes is known. */
static void fxtctl_print_trace(const json_t *result, const char *path)
{
	int64_t lost = fxtctl_number(result, "lost"), unwritten = fxtctl_number(result, "bytes_unwritten");

	printf("%s: %" PRId64 " event%s, ", fxtctl_string(result, path), fxtctl_number(result, "events"),
	        fxt_plural((uint64_t)fxtctl_number(result, "events")));
	if (lost || !unwritten)
		printf("%" PRId64 "%s", lost, unwritten ? " and " : "");
	if (unwritten)
		printf("%" PRId64 " bytes", unwritten);
	printf(" lost, %" PRId64 " bytes\n", fxtctl_number(result, "bytes"));
}

void fxtctl_snapshot(void)
{
	json_t *result = fxtctl_must_call("Snapshot",
	        fxtctl.file ? json_pack("{s:o}", "path", fxtctl_absolute_path(fxtctl.file)) : json_object(),
	        FXT_CLIENT_SNAPSHOT);

	if (!fxtctl_show_json(result))
		fxtctl_print_trace(result, "path");
	json_decref(result);
}

static const char *filter_add_pattern(void *context, enum fxt_record_filter_kind kind, const char *pattern)
{
	json_t *list;

	(void)context;
	if (!fxtctl.patterns)
		fxtctl.patterns = json_object();
	list = json_object_get(fxtctl.patterns, fxt_pattern_fields[kind]);
	if (!list) {
		list = json_array();
		json_object_set_new(fxtctl.patterns, fxt_pattern_fields[kind], list);
	}
	return !*pattern || json_array_append_new(list, json_string(pattern)) == 0 ? NULL : "is not UTF-8";
}

void fxtctl_take_pattern(enum fxt_record_filter_kind kind, const char *pattern)
{
	const char *wrong = filter_add_pattern(NULL, kind, pattern);

	if (wrong)
		fxt_client_fail(2, "--%s: %s", fxt_record_filter_words[kind], wrong);
}

void fxtctl_take_filter_file(const char *path)
{
	const char *wrong = fxt_filter_file_read(path, filter_add_pattern, NULL);

	if (wrong)
		fxt_client_fail(2, "--filter-file=%s: %s", path, wrong);
}

/* Changes the session's settings from now on. */
static void filter_must_change(const char *method, json_t *params)
{
	json_t *result = fxtctl_must_call(method, params, FXT_CLIENT_FILTER);
	int64_t late = fxtctl_number(result, "late");

	if (!fxtctl_show_json(result) && late)
		fprintf(stderr,
		        "fxtctl: %" PRId64 " process%s ha%s not changed yet: stopped, perhaps, or confined\n",
		        late, late == 1 ? "" : "es", late == 1 ? "s" : "ve");
	json_decref(result);
}

void fxtctl_categories(void)
{
	if (fxtctl.operand)
		filter_must_change("SetCategories",
		        json_pack("{s:o}", "categories", fxtctl_category_names(fxtctl.operand)));
	else
		fxtctl_list_categories();
}

json_t *fxtctl_filter_params(void)
{
	json_t *params = fxtctl.patterns ? fxtctl.patterns : json_object();
	const char *wrong = NULL;
	uint64_t number;
	uint32_t depth;

	if (fxtctl.min_duration)
		json_object_set_new(params, "min_duration", json_string(fxtctl.min_duration));
	if (fxtctl.max_calls && !strcmp(fxtctl.max_calls, "any"))
		json_object_set_new(params, "max_calls", json_null());
	else if (fxtctl.max_calls && (wrong = fxt_value_max_calls(fxtctl.max_calls, &number)) != NULL)
		fxt_client_fail(2, "--max-calls=%s: %s, or any", fxtctl.max_calls, wrong);
	else if (fxtctl.max_calls)
		json_object_set_new(params, "max_calls", json_integer((json_int_t)number));
	if (fxtctl.depth && !strcmp(fxtctl.depth, "any"))
		json_object_set_new(params, "depth", json_null());
	else if (fxtctl.depth && (wrong = fxt_value_depth(fxtctl.depth, &depth)) != NULL)
		fxt_client_fail(2, "--depth=%s: %s, or any", fxtctl.depth, wrong);
	else if (fxtctl.depth)
		json_object_set_new(params, "depth", json_integer(depth));
	return params;
}

void fxtctl_filter(void)
{
	json_t *params = fxtctl_filter_params();

	if (json_object_size(params) == 0)
		fxt_client_fail(
		        2, "filter: needs an option that says what to record; fxtctl --help lists them");
	filter_must_change("SetFilter", params);
}

void fxtctl_take_trigger(const char *trigger)
{
	if (!fxtctl.triggers)
		fxtctl.triggers = json_array();
	if (json_array_append_new(fxtctl.triggers, json_string(trigger)) != 0)
		fxt_client_fail(2, "--trigger: is not UTF-8");
}

static void fxtctl_list_triggers(void)
{
	json_t *state = fxtctl_must_call("GetState", json_object(), FXT_CLIENT_SOON), *trigger;
	size_t i;

	if (!fxtctl_show_json(json_object_get(state, "triggers"))) {
		printf("%6s %12s  %s\n", "NUMBER", "RAISED", "TRIGGER");
		json_array_foreach(json_object_get(state, "triggers"), i, trigger)
		        printf("%6" PRId64 " %12" PRId64 "  %s\n", fxtctl_number(trigger, "number"),
		                fxtctl_number(trigger, "raised"), fxtctl_string(trigger, "trigger"));
	}
	json_decref(state);
}

void fxtctl_trigger(void)
{
	char *end;
	long number;

	if (fxtctl.remove && fxtctl.operand)
		fxt_client_fail(2, "trigger: a trigger and --remove exclude each other");
	if (!fxtctl.remove && !fxtctl.operand) {
		fxtctl_list_triggers();
		return;
	}
	if (fxtctl.operand) {
		filter_must_change("SetTrigger", json_pack("{s:s}", "trigger", fxtctl.operand));
		return;
	}
	number = strtol(fxtctl.remove, &end, 10);
	if (end == fxtctl.remove || *end)
		fxt_client_fail(2, "--remove=%s: must be the number of a trigger, which fxtctl trigger shows",
		        fxtctl.remove);
	filter_must_change("SetTrigger", json_pack("{s:i}", "remove", (int)number));
}

void fxtctl_alert(void)
{
	json_t *result = fxtctl_must_call(
	        "RaiseAlert", json_pack("{s:s}", "alert_name", fxtctl.operand), FXT_CLIENT_SOON);

	fxtctl_show_json(result);
	json_decref(result);
}

/* Shows every object that comes until the session ends; with --json as one object per line. */
void fxtctl_watch(void)
{
	json_t *object;

	fxt_client_connect(&client, fxtctl.session);
	fxt_client_send_request(&client, "WatchAlert", json_object());
	while ((object = fxt_client_next(&client, FXT_CLIENT_FOREVER))) {
		json_t *result = json_object_get(object, "result"),
		       *params = json_object_get(object, "params");

		fxt_client_check(&client, object);
		if (fxtctl.json) {
			json_dumpf(result ? result : params, stdout, JSON_COMPACT);
			putchar('\n');
		} else if (result) {
			printf("alert %s\n", fxtctl_string(result, "alert_name"));
		} else {
			printf("state %s\n", fxtctl_string(params, "state"));
		}
		fflush(stdout);
		if (result)
			fxt_client_send_request(&client, "WatchAlert", json_object());
		json_decref(object);
	}
}

void fxtctl_recover(void)
{
	json_t *result = fxtctl_must_call("Recover", json_object(), FXT_CLIENT_FOREVER);

	if (!fxtctl_show_json(result))
		fxtctl_print_trace(result, "output");
	json_decref(result);
}

void fxtctl_terminate(void)
{
	/* The trace is final only after the program has ended, which takes as long as the
	 * program needs. */
	json_t *result = fxtctl_must_call("TerminateTracing", json_object(), FXT_CLIENT_FOREVER);

	if (!fxtctl_show_json(result)) {
		fxtctl_print_statistics(result);
		putchar('\n');
		fxtctl_print_trace(result, "output");
	}
	json_decref(result);
}
