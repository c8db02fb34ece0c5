#include "queries.h"
#include <string.h>
#include "trigger_calls.h"
#include "launcher/categories.h"
#include "launcher/values.h"
#include "writer/shared/atomics.h"

const char *fxt_query_state_name(const struct fxt_session *s)
{
	static const char *const names[] = {[FXT_SESSION_READY] = "READY",
	        [FXT_SESSION_INITIALIZED] = "INITIALIZED",
	        [FXT_SESSION_STARTING] = "STARTING",
	        [FXT_SESSION_STARTED] = "STARTED",
	        [FXT_SESSION_STOPPING] = "STOPPING",
	        [FXT_SESSION_STOPPED] = "STOPPED",
	        [FXT_SESSION_TERMINATING] = "TERMINATING"};

	return names[s->recording.state];
}

static json_t *query_provider_name(const struct fxt_provider *p)
{
	char name[FXT_NAME_BYTES + 1] = "";

	memcpy(name, p->identity.name, p->identity.name_bytes);
	return fxt_rpc_text(name);
}

static json_t *query_provider_statistics(const struct fxt_provider *p, const char *mode)
{
	struct fxt_provider_statistics s = fxt_provider_statistics(p);

	return json_pack("{s:o, s:i, s:s, s:I, s:I, s:I, s:f, s:I}", "name", query_provider_name(p), "pid",
	        (int)p->pid, "buffering_mode", mode, "buffer_wrapped_count", (json_int_t)s.wrapped,
	        "records_dropped", (json_int_t)s.losses.lost, "records_overwritten",
	        (json_int_t)s.losses.overwritten, "percentage_durable_buffer_used",
	        s.durable_bytes ? 100.0 * (double)s.durable_used / (double)s.durable_bytes : 0.0,
	        "non_durable_bytes_written", (json_int_t)s.rolling_bytes);
}

json_t *fxt_query_statistics(const struct fxt_session *s, bool of_all)
{
	const char *mode = fxt_buffering_mode_names[s->config.options->buffering_mode];
	json_t *statistics = json_array();

	for (uint32_t i = 0; i < s->count; i++)
		if (of_all || fxt_provider_is_live(s->providers[i]))
			json_array_append_new(statistics, query_provider_statistics(s->providers[i], mode));
	return statistics;
}

void fxt_call_get_known_categories(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	struct fxt_session *s = controller->session;
	json_t *categories = json_array();

	(void)params;
	for (const struct fxt_known_category *known = fxt_known_categories;
	        known < fxt_known_categories + FXT_CATEGORIES; known++)
		json_array_append_new(categories,
		        json_pack("{s:s, s:s}", "name", known->name, "description", known->description));
	for (uint32_t i = 0; i < s->count; i++)
		if (s->providers[i]->memory.control)
			fxt_program_categories_take(&s->program_categories, s->providers[i]->memory.control);
	for (uint32_t i = 0; i < s->program_categories.count; i++)
		json_array_append_new(categories,
		        json_pack("{s:o, s:o}", "name", fxt_rpc_text(s->program_categories.list[i].name),
		                "description", fxt_rpc_text(s->program_categories.list[i].description)));
	fxt_rpc_reply(request, json_pack("{s:o}", "categories", categories));
}

void fxt_call_get_providers(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	const struct fxt_session *s = controller->session;
	json_t *providers = json_array();

	(void)params;
	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]) ||
		        fxt_provider_state(s->providers[i]) == FXT_STATE_REGISTERED)
			json_array_append_new(providers,
			        json_pack("{s:i, s:i, s:o}", "id", (int)s->providers[i]->identity.id, "pid",
			                (int)s->providers[i]->pid, "name",
			                query_provider_name(s->providers[i])));
	fxt_rpc_reply(request, json_pack("{s:o}", "providers", providers));
}

void fxt_call_get_state(struct fxt_controller *controller, const struct fxt_request *request, json_t *params)
{
	const struct fxt_session *s = controller->session;
	const struct fxt_options *options = s->config.options;

	(void)params;
	fxt_rpc_reply(request,
	        json_pack("{s:s, s:s, s:i, s:o, s:i, s:s, s:o, s:I, s:i, s:o, s:o}", "name", controller->name,
	                "state", fxt_query_state_name(s), "pid", (int)s->supervisor, "program",
	                fxt_rpc_text(options->program[0]), "program_pid", (int)s->program, "buffering_mode",
	                fxt_buffering_mode_names[options->buffering_mode], "output",
	                fxt_rpc_text(options->output_file), "output_bytes",
	                (json_int_t)load_relaxed(&s->archive->bytes), "snapshots_waiting",
	                (int)controller->snapshots->count, "triggers", fxt_triggers_list(controller),
	                "provider_stats", fxt_query_statistics(s, false)));
}
