#include "itt_objects.h"
#include <string.h>
#include <sys/mman.h>
#include "writer/shared/sys.h"

enum itt_kind { ITT_DOMAIN, ITT_STRING, ITT_COUNTER };

struct itt_tables *itt_tables;

bool itt_make_tables(void)
{
	struct itt_tables *new, *none = NULL;

	if (load_acquire(&itt_tables))
		return true;
	new = sys_map(sizeof(*new), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	/* Two libraries of the program may have such a part. */
	if (new && !compare_exchange_acquire(&itt_tables, &none, new))
		sys_unmap(new, sizeof(*new));
	return new;
}

/* ---- domains, strings and counters ---- */

/* NULL: there is no room. */
static const char *itt_copy(const char *text)
{
	size_t bytes = strlen(text) + 1;
	uint64_t at = bytes < ITT_TEXTS ? add_relaxed(&itt_tables->text_bytes, bytes) : ITT_TEXTS;

	return at + bytes <= ITT_TEXTS ? memcpy(itt_tables->texts + at, text, bytes) : NULL;
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
	for (uint32_t tried = 0; tried < ITT_OBJECTS; tried++) {
		struct itt_object *object = &itt_tables->objects[(hash ^ tried) % ITT_OBJECTS];
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

void *itt_domain_create(const char *name)
{
	return itt_object(ITT_DOMAIN, name, NULL, 0);
}

void *itt_string_create(const char *name)
{
	return itt_object(ITT_STRING, name, NULL, 0);
}

void *itt_counter_create_typed(const char *name, const char *domain, int type)
{
	return itt_object(ITT_COUNTER, name, domain ? domain : "itt", type);
}

void *itt_counter_create(const char *name, const char *domain)
{
	return itt_counter_create_typed(name, domain, ITT_U64);
}

/* ---- sites ---- */

struct itt_site *itt_site(const char *category, const char *name)
{
	uint64_t hash = ((uint64_t)(uintptr_t)category * 31 + (uint64_t)(uintptr_t)name) *
	                UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t tried = 0; tried < ITT_SITES; tried++) {
		struct itt_site *site = &itt_tables->sites[(hash >> 40 ^ tried) % ITT_SITES];
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
