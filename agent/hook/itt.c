/*
 * Records calls of the ITT API (itt.h) as events of <fxt/trace.h>, on the program's
 * threads. Each pair of a domain and a name has a site (itt_objects.h). Nothing here takes a
 * lock, so handlers may call it too.
 */
#include "itt.h"
#include <string.h>
#include "itt_objects.h"
#include "writer/format/format.h"

/* The thread remembers the sites of so many tasks inside each other. */
#define DEPTH 30

/* The thread's open tasks: the numbers of their sites. Deeper ones are only counted. */
static __thread struct {
	uint32_t epoch, depth;
	uint16_t sites[DEPTH];
} tasks __attribute__((tls_model("initial-exec")));

static const char *itt_category(const struct itt_domain *domain)
{
	return domain && domain->name ? domain->name : "itt";
}

static const char *itt_name(const struct itt_string *name, const char *otherwise)
{
	return name && name->text ? name->text : otherwise;
}

static void itt_event(struct itt_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	if (site && fxt_trace_is_on_(&site->site))
		fxt_trace_agent.event(&site->site, type, id, arguments, count);
}

/* ---- tasks ---- */

static void itt_forget_parents_tasks(void)
{
	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth();
	if (tasks.epoch != agent_said_epoch)
		tasks.depth = 0;
	tasks.epoch = agent_said_epoch;
}

static void itt_begin(const char *category, const char *name, const struct fxt_trace_argument *argument)
{
	struct itt_site *site = itt_site(category, name);

	itt_event(site, FXT_EVENT_DURATION_BEGIN, 0, argument, argument != NULL);
	itt_forget_parents_tasks();
	if (tasks.depth < DEPTH)
		tasks.sites[tasks.depth] = (uint16_t)(site ? site - itt_tables->sites : ITT_SITES);
	tasks.depth++;
}

static void itt_task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
        const struct itt_string *name)
{
	(void)id;
	(void)parent;
	itt_begin(itt_category(domain), itt_name(name, "task"), NULL);
}

static void itt_task_begin_fn(
        const struct itt_domain *domain, struct itt_id id, struct itt_id parent, void *function)
{
	struct fxt_trace_argument argument = {"function", fxt_trace_pointer_(function)};

	(void)id;
	(void)parent;
	itt_begin(itt_category(domain), "task", &argument);
}

static void itt_task_end(const struct itt_domain *domain)
{
	struct itt_site *site = NULL;

	itt_forget_parents_tasks();
	if (!tasks.depth)
		return;
	if (--tasks.depth >= DEPTH)
		site = itt_site(itt_category(domain), "task");
	else if (tasks.sites[tasks.depth] < ITT_SITES)
		site = &itt_tables->sites[tasks.sites[tasks.depth]];
	itt_event(site, FXT_EVENT_DURATION_END, 0, NULL, 0);
}

/* ---- async durations ---- */

static uint64_t itt_number(struct itt_id id)
{
	return id.d1 + id.d2 * UINT64_C(0x9e3779b97f4a7c15) + (id.d1 + id.d2 == 0);
}

static struct itt_open *open_at(uint64_t id, uint32_t tried)
{
	return &itt_tables->open[(id * UINT64_C(0x9e3779b97f4a7c15) >> 40 ^ tried) % ITT_OPENS];
}

/* A duration that finds no place in so many tries ends under another name. */
#define TRIES 16

static void itt_async_begin(const char *category, const char *name, uint64_t id)
{
	struct itt_site *site = itt_site(category, name);

	for (uint32_t tried = 0; tried < TRIES; tried++) {
		struct itt_open *open = open_at(id, tried);
		uint64_t none = 0;

		if (compare_exchange_acquire(&open->id, &none, id) || none == id) {
			store_relaxed(&open->site, site);
			break;
		}
	}
	itt_event(site, FXT_EVENT_ASYNC_BEGIN, id, NULL, 0);
}

static void itt_async_end(const char *category, const char *otherwise, uint64_t id)
{
	struct itt_site *site = NULL;

	for (uint32_t tried = 0; tried < TRIES && !site; tried++) {
		struct itt_open *open = open_at(id, tried);

		if (load_acquire(&open->id) != id)
			continue;
		site = load_relaxed(&open->site);
		store_release(&open->id, 0);
	}
	itt_event(site ? site : itt_site(category, otherwise), FXT_EVENT_ASYNC_END, id, NULL, 0);
}

static void itt_overlapped_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
        const struct itt_string *name)
{
	(void)parent;
	itt_async_begin(itt_category(domain), itt_name(name, "task"), itt_number(id));
}

static void itt_overlapped_end(const struct itt_domain *domain, struct itt_id id)
{
	itt_async_end(itt_category(domain), "task", itt_number(id));
}

static void itt_region_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
        const struct itt_string *name)
{
	(void)parent;
	itt_async_begin(itt_category(domain), itt_name(name, "region"), itt_number(id));
}

static void itt_region_end(const struct itt_domain *domain, struct itt_id id)
{
	itt_async_end(itt_category(domain), "region", itt_number(id));
}

/* A domain has one frame without an id at a time. */
static uint64_t itt_frame(const struct itt_domain *domain, const struct itt_id *id)
{
	return id ? itt_number(*id) : (uint64_t)(uintptr_t)domain;
}

static void itt_frame_begin(const struct itt_domain *domain, const struct itt_id *id)
{
	itt_async_begin(itt_category(domain), "frame", itt_frame(domain, id));
}

static void itt_frame_end(const struct itt_domain *domain, const struct itt_id *id)
{
	itt_async_end(itt_category(domain), "frame", itt_frame(domain, id));
}

/* ---- instants and names ---- */

static void itt_marker(
        const struct itt_domain *domain, struct itt_id id, const struct itt_string *name, int scope)
{
	(void)id;
	(void)scope;
	itt_event(itt_site(itt_category(domain), itt_name(name, "marker")), FXT_EVENT_INSTANT, 0, NULL, 0);
}

static void itt_thread_name(const char *name)
{
	if (name)
		fxt_trace_agent.name_thread(name);
}

/* ---- values ---- */

static size_t itt_bytes(int type)
{
	static const uint8_t bytes[] = {8, 8, 8, 4, 4, 2, 2, 4, 8};

	return bytes[type > 0 && type <= ITT_DOUBLE ? type : 0];
}

static struct fxt_trace_value itt_value(int type, const void *from)
{
	union {
		uint64_t u64;
		uint32_t u32;
		uint16_t u16;
		float single;
		double number;
	} value = {0};

	memcpy(&value, from, itt_bytes(type));
	switch (type) {
	case ITT_S64:
		return fxt_trace_int64_((int64_t)value.u64);
	case ITT_U32:
		return fxt_trace_uint32_(value.u32);
	case ITT_S32:
		return fxt_trace_int32_((int32_t)value.u32);
	case ITT_U16:
		return fxt_trace_uint32_(value.u16);
	case ITT_S16:
		return fxt_trace_int32_((int16_t)value.u16);
	case ITT_FLOAT:
		return fxt_trace_double_((double)value.single);
	case ITT_DOUBLE:
		return fxt_trace_double_(value.number);
	default:
		return fxt_trace_uint64_(value.u64);
	}
}

/* ---- metadata ---- */

/* Metadata become an instant in the task. The key is its name. */
static void itt_say_metadata(
        const struct itt_domain *domain, const struct itt_string *key, struct fxt_trace_value value)
{
	struct fxt_trace_argument argument = {"value", value};

	itt_event(itt_site(itt_category(domain), itt_name(key, "metadata")), FXT_EVENT_INSTANT, 0, &argument,
	        1);
}

/* More than one number is a blob. */
static void itt_metadata(const struct itt_domain *domain, struct itt_id id, const struct itt_string *key,
        int type, size_t count, const void *data)
{
	(void)id;
	if (data && count == 1)
		itt_say_metadata(domain, key, itt_value(type, data));
	else if (data && count > 1)
		itt_say_metadata(
		        domain, key, fxt_trace_bytes_(FXT_TRACE_BLOB, data, count * itt_bytes(type)));
}

static void itt_metadata_text(const struct itt_domain *domain, struct itt_id id, const struct itt_string *key,
        const char *text, size_t bytes)
{
	(void)id;
	if (text)
		itt_say_metadata(domain, key, fxt_trace_bytes_(FXT_TRACE_STRING, text, strnlen(text, bytes)));
}

/* ---- counters ---- */

static void itt_count(struct itt_site *site, struct fxt_trace_value value)
{
	struct fxt_trace_argument argument = {"value", value};

	itt_event(site, FXT_EVENT_COUNTER, 0, &argument, 1);
}

static void itt_add(const char *category, const char *name, uint64_t difference)
{
	struct itt_site *site = itt_site(category, name);

	if (site)
		itt_count(
		        site, fxt_trace_int64_((int64_t)(add_relaxed(&site->sum, difference) + difference)));
}

static void itt_counter_add(const struct itt_counter *counter, uint64_t difference)
{
	if (counter && counter->name)
		itt_add(counter->domain ? counter->domain : "itt", counter->name, difference);
}

static void itt_counter_inc(const struct itt_counter *counter)
{
	itt_counter_add(counter, 1);
}

static void itt_counter_dec(const struct itt_counter *counter)
{
	itt_counter_add(counter, (uint64_t)-1);
}

static void itt_counter_inc_delta(const struct itt_counter *counter, unsigned long long difference)
{
	itt_counter_add(counter, difference);
}

static void itt_counter_dec_delta(const struct itt_counter *counter, unsigned long long difference)
{
	itt_counter_add(counter, -(uint64_t)difference);
}

static void itt_counter_inc_v3(const struct itt_domain *domain, const struct itt_string *name)
{
	itt_add(itt_category(domain), itt_name(name, "counter"), 1);
}

static void itt_counter_dec_v3(const struct itt_domain *domain, const struct itt_string *name)
{
	itt_add(itt_category(domain), itt_name(name, "counter"), (uint64_t)-1);
}

static void itt_counter_inc_delta_v3(
        const struct itt_domain *domain, const struct itt_string *name, unsigned long long difference)
{
	itt_add(itt_category(domain), itt_name(name, "counter"), difference);
}

static void itt_counter_dec_delta_v3(
        const struct itt_domain *domain, const struct itt_string *name, unsigned long long difference)
{
	itt_add(itt_category(domain), itt_name(name, "counter"), -(uint64_t)difference);
}

static void itt_counter_set(const struct itt_counter *counter, const void *value)
{
	if (counter && counter->name && value)
		itt_count(itt_site(counter->domain ? counter->domain : "itt", counter->name),
		        itt_value(counter->type, value));
}

/* ---- the program's pointers ---- */

/* clang-format off */
static const struct {
	const char *name;
	void *function;
} functions[] = {
        {"__itt_domain_create", itt_domain_create},
        {"__itt_string_handle_create", itt_string_create},
        {"__itt_counter_create", itt_counter_create},
        {"__itt_counter_create_typed", itt_counter_create_typed},
        {"__itt_task_begin", itt_task_begin},
        {"__itt_task_begin_fn", itt_task_begin_fn},
        {"__itt_task_end", itt_task_end},
        {"__itt_task_begin_overlapped", itt_overlapped_begin},
        {"__itt_task_end_overlapped", itt_overlapped_end},
        {"__itt_region_begin", itt_region_begin},
        {"__itt_region_end", itt_region_end},
        {"__itt_frame_begin_v3", itt_frame_begin},
        {"__itt_frame_end_v3", itt_frame_end},
        {"__itt_marker", itt_marker},
        {"__itt_thread_set_name", itt_thread_name},
        {"__itt_metadata_add", itt_metadata},
        {"__itt_metadata_str_add", itt_metadata_text},
        {"__itt_counter_inc", itt_counter_inc},
        {"__itt_counter_dec", itt_counter_dec},
        {"__itt_counter_inc_delta", itt_counter_inc_delta},
        {"__itt_counter_dec_delta", itt_counter_dec_delta},
        {"__itt_counter_inc_v3", itt_counter_inc_v3},
        {"__itt_counter_dec_v3", itt_counter_dec_v3},
        {"__itt_counter_inc_delta_v3", itt_counter_inc_delta_v3},
        {"__itt_counter_dec_delta_v3", itt_counter_dec_delta_v3},
        {"__itt_counter_set_value", itt_counter_set},
        {"__itt_counter_set_value_v3", itt_counter_set},
};
/* clang-format on */

static void *itt_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].function;
	return NULL;
}

/* Earlier versions have another list of functions. */
static bool itt_is_known(const struct itt_global *program)
{
	static const unsigned char magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};

	return program && memcmp(program->magic, magic, sizeof(magic)) == 0 && program->major == 3 &&
	       program->build > 20101001;
}

void __itt_api_init(struct itt_global *program, int groups)
{
	bool has_tables;

	if (!itt_is_known(program))
		return;
	has_tables = itt_make_tables();
	for (struct itt_function *f = program->functions; f->name; f++) {
		void *ours = has_tables && (f->group & groups) ? itt_function(f->name) : NULL;

		*f->pointer = ours ? ours : f->none;
	}
}
