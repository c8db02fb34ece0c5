/*
 * Records calls of the ITT API (itt.h) as events of <fxt/trace.h>, on the program's
 * threads. Each pair of a domain and a name has a site, which is made at its first event.
 * Nothing here takes a lock, so handlers may call it too.
 */
#include "itt.h"
#include <string.h>
#include <sys/mman.h>
#include "said.h"
#include "writer/format/format.h"

/* Powers of two. */
#define OBJECTS 8192
#define SITES   8192
#define OPEN    4096

#define TEXTS (1u << 20)
#define DEPTH 30

/* The program gets pointers to these objects, and passes them to later calls. The API fixes
 * their members. */
struct itt_domain {
	int flags; /* 0: the program calls nothing for it */
	const char *name;
	void *unused[4];
};

struct itt_string {
	const char *text;
	void *unused[4];
};

struct itt_id {
	unsigned long long d1, d2, d3;
};

enum itt_type { ITT_U64 = 1, ITT_S64, ITT_U32, ITT_S32, ITT_U16, ITT_S16, ITT_FLOAT, ITT_DOUBLE };

struct itt_counter {
	const char *name;
	void *wide_name;
	const char *domain;
	void *wide_domain;
	int type; /* enum itt_type */
	void *unused[4];
};

enum itt_state { ITT_FREE, ITT_BEING_MADE, ITT_IS_THERE };
enum itt_kind { ITT_DOMAIN, ITT_STRING, ITT_COUNTER };

/* Made once for each name. Two threads that make one at the same moment may get two, which
 * does no harm. */
struct itt_object {
	uint32_t state; /* enum itt_state */
	uint32_t kind;  /* enum itt_kind */
	const char *name;
	union {
		struct itt_domain domain;
		struct itt_string string;
		struct itt_counter counter;
	} as;
};

struct itt_site {
	uint32_t state; /* enum itt_state */
	struct fxt_trace_site site;
	uint16_t texts[4];
	uint64_t sum; /* of a counter */
};

/* An async duration that has begun. The call that ends it does not give its name. */
struct itt_open {
	uint64_t id; /* 0: free */
	struct itt_site *site;
};

static struct itt_tables {
	struct itt_object objects[OBJECTS];
	uint64_t text_bytes;
	char texts[TEXTS];
	struct itt_site sites[SITES];
	struct itt_open open[OPEN];
} * tables;

/* The thread's tasks: the numbers of their sites. Those beyond DEPTH are only counted. */
static __thread struct {
	uint32_t epoch, depth;
	uint16_t sites[DEPTH];
} tasks __attribute__((tls_model("initial-exec")));

/* ---- domains, strings and counters ---- */

/* NULL: there is no room. */
static const char *itt_copy(const char *text)
{
	size_t bytes = strlen(text) + 1;
	uint64_t at = bytes < TEXTS ? add_relaxed(&tables->text_bytes, bytes) : TEXTS;

	return at + bytes <= TEXTS ? memcpy(tables->texts + at, text, bytes) : NULL;
}

static bool itt_is_object(
        const struct itt_object *object, uint32_t kind, const char *name, const char *domain, int type)
{
	const struct itt_counter *counter = &object->as.counter;

	return object->kind == kind && object->name && strcmp(object->name, name) == 0 &&
	       (kind != ITT_COUNTER ||
	               (counter->type == type && counter->domain && strcmp(counter->domain, domain) == 0));
}

static void itt_fill(struct itt_object *object, uint32_t kind, const char *name, const char *domain, int type)
{
	object->kind = kind;
	object->name = itt_copy(name);
	if (kind == ITT_DOMAIN)
		object->as.domain = (struct itt_domain){.flags = 1, .name = object->name};
	else if (kind == ITT_STRING)
		object->as.string.text = object->name;
	else
		object->as.counter =
		        (struct itt_counter){.name = object->name, .domain = itt_copy(domain), .type = type};
}

/* NULL: it has no name, or there is no room. */
static void *itt_object(uint32_t kind, const char *name, const char *domain, int type)
{
	uint32_t hash = kind;

	if (!name)
		return NULL;
	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x01000193u;
	for (uint32_t tried = 0; tried < OBJECTS; tried++) {
		struct itt_object *object = &tables->objects[(hash ^ tried) % OBJECTS];
		uint32_t state = load_acquire(&object->state);

		if (state == ITT_FREE && compare_exchange_acquire(&object->state, &state, ITT_BEING_MADE)) {
			itt_fill(object, kind, name, domain, type);
			/* Release: pairs with the acquire above. */
			store_release(&object->state, ITT_IS_THERE);
			return &object->as;
		}
		if (state == ITT_IS_THERE && itt_is_object(object, kind, name, domain, type))
			return &object->as;
	}
	return NULL;
}

static void *itt_domain_create(const char *name)
{
	return itt_object(ITT_DOMAIN, name, NULL, 0);
}

static void *itt_string_create(const char *name)
{
	return itt_object(ITT_STRING, name, NULL, 0);
}

static void *itt_counter_create_typed(const char *name, const char *domain, int type)
{
	return itt_object(ITT_COUNTER, name, domain ? domain : "itt", type);
}

static void *itt_counter_create(const char *name, const char *domain)
{
	return itt_counter_create_typed(name, domain, ITT_U64);
}

/* ---- sites ---- */

/* The site of these two texts, which live as long as the program. NULL: there is no room. */
static struct itt_site *itt_site(const char *category, const char *name)
{
	uint64_t hash = ((uint64_t)(uintptr_t)category * 31 + (uint64_t)(uintptr_t)name) *
	                UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t tried = 0; tried < SITES; tried++) {
		struct itt_site *site = &tables->sites[(hash >> 40 ^ tried) % SITES];
		uint32_t state = load_acquire(&site->state);

		if (state == ITT_FREE && compare_exchange_acquire(&site->state, &state, ITT_BEING_MADE)) {
			site->site =
			        (struct fxt_trace_site){&site->site.own, category, name, site->texts, 1, 0};
			/* Release: pairs with the acquire above. */
			store_release(&site->state, ITT_IS_THERE);
			return site;
		}
		if (state == ITT_IS_THERE && site->site.category == category && site->site.name == name)
			return site;
	}
	return NULL;
}

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
		tasks.sites[tasks.depth] = (uint16_t)(site ? site - tables->sites : SITES);
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
	else if (tasks.sites[tasks.depth] < SITES)
		site = &tables->sites[tasks.sites[tasks.depth]];
	itt_event(site, FXT_EVENT_DURATION_END, 0, NULL, 0);
}

/* ---- async durations ---- */

static uint64_t itt_number(struct itt_id id)
{
	return id.d1 + id.d2 * UINT64_C(0x9e3779b97f4a7c15) + (id.d1 + id.d2 == 0);
}

static struct itt_open *open_at(uint64_t id, uint32_t tried)
{
	return &tables->open[(id * UINT64_C(0x9e3779b97f4a7c15) >> 40 ^ tried) % OPEN];
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

static struct fxt_trace_value itt_value(int type, const void *from)
{
	union {
		uint64_t u64;
		uint32_t u32;
		uint16_t u16;
		float single;
		double number;
	} value = {0};
	static const uint8_t bytes[] = {8, 8, 8, 4, 4, 2, 2, 4, 8};

	memcpy(&value, from, bytes[type > 0 && type <= ITT_DOUBLE ? type : 0]);
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

static bool itt_make_tables(void)
{
	struct itt_tables *new, *none = NULL;

	if (load_acquire(&tables))
		return true;
	new = sys_map(sizeof(*new), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	/* Two libraries of the program may have such a part. */
	if (new && !compare_exchange_acquire(&tables, &none, new))
		sys_unmap(new, sizeof(*new));
	return new;
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
