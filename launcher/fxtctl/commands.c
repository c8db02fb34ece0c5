/*
 * The commands of fxtctl: build a request from the options, and print the reply as text or
 * JSON. Texts of a session must be made safe before they are printed (fxtctl_string()).
 */
#include "commands.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"
#include "launcher/option_table.h"
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

void fxtctl_start(void)
{
	json_t *result = fxtctl_must_call("StartTracing", fxtctl.params, FXT_CLIENT_RECORDING);

	fxtctl_show_json(result);
	json_decref(result);
}

void fxtctl_stop(void)
{
	json_t *result = fxtctl_must_call("StopTracing", fxtctl.params, FXT_CLIENT_RECORDING);

	if (!fxtctl_show_json(result))
		fxtctl_print_statistics(result);
	json_decref(result);
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
	json_t *result = fxtctl_must_call("Snapshot", fxtctl.params, FXT_CLIENT_SNAPSHOT);

	if (!fxtctl_show_json(result))
		fxtctl_print_trace(result, "path");
	json_decref(result);
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
	const char *wrong;

	if (!fxtctl.operand) {
		fxtctl_list_categories();
		return;
	}
	wrong = fxt_option_write_categories(fxtctl.params, "categories", fxtctl.operand);
	if (wrong)
		fxt_client_fail(2, "categories: %s", wrong);
	filter_must_change("SetCategories", fxtctl.params);
}

void fxtctl_filter(void)
{
	if (json_object_size(fxtctl.params) == 0)
		fxt_client_fail(
		        2, "filter: needs an option that says what to record; fxtctl --help lists them");
	filter_must_change("SetFilter", fxtctl.params);
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
	bool removes = json_object_size(fxtctl.params) > 0;

	if (removes && fxtctl.operand)
		fxt_client_fail(2, "trigger: a trigger and --remove exclude each other");
	if (fxtctl.operand)
		json_object_set_new(fxtctl.params, "trigger", json_string(fxtctl.operand));
	if (removes || fxtctl.operand)
		filter_must_change("SetTrigger", fxtctl.params);
	else
		fxtctl_list_triggers();
}

static void attach_must_call(const char *method, const char *done)
{
	json_t *result =
	        fxtctl_must_call(method, json_pack("{s:s}", "process", fxtctl.operand), FXT_CLIENT_FOREVER);
	int64_t count = fxtctl_number(result, "processes");

	if (!fxtctl_show_json(result))
		printf("%s %" PRId64 " process%s\n", done, count, count == 1 ? "" : "es");
	json_decref(result);
}

void fxtctl_attach(void)
{
	attach_must_call("AttachProcess", "attached to");
}

void fxtctl_detach(void)
{
	attach_must_call("DetachProcess", "detached from");
}

void fxtctl_alert(void)
{
	json_t *result = fxtctl_must_call(
	        "RaiseAlert", json_pack("{s:s}", "alert_name", fxtctl.operand), FXT_CLIENT_SOON);

	fxtctl_show_json(result);
	json_decref(result);
}

/* Shows every object that comes until the session ends; with --json as one object per
 * line. */
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
