/*
 * Registers texts and categories of the program's own events (said_names.h). Categories are
 * found and added without a lock, on any thread and in handlers. Two threads that add one
 * at the same moment may both get an entry for it, which does no harm.
 */
#include "said_names.h"
#include <string.h>
#include <sys/mman.h>
#include "writer/format/parts.h"

/* ---- texts ---- */

uint32_t agent_said_epoch;

#define TEXTS (UINT64_C(1) << 16)

/* Under the engine's lock. An entry is free while its index is 0. */
static struct text {
	uint64_t hash;
	uint64_t index;
} * texts;
static uint32_t texts_of;

static void said_forget_texts(void)
{
	if (texts)
		sys_unmap(texts, TEXTS * sizeof(*texts));
	texts = NULL;
}

static uint64_t said_hash(const char *text, size_t bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + bytes;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

static uint16_t said_index(const char *text)
{
	size_t bytes = text ? strlen(text) : 0;
	uint64_t hash;
	struct text *entry;

	if (!bytes || bytes > FXT_REGISTERED_BYTES)
		return 0;
	if (!texts)
		texts = sys_map(TEXTS * sizeof(*texts), PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!texts)
		return 0;
	hash = said_hash(text, bytes);
	/* There are fewer indices than half of the entries, so the search ends. */
	for (entry = &texts[hash % TEXTS]; entry->index && entry->hash != hash;
	        entry = &texts[(uint64_t)(entry - texts + 1) % TEXTS])
		;
	if (!entry->index) {
		entry->index = fxt_string_register(&agent_engine, text, bytes);
		entry->hash = hash;
	}
	return (uint16_t)entry->index;
}

/* Forgets the texts of an earlier table. Under the lock. */
static void said_renew_texts(void)
{
	if (texts_of != agent_said_texts())
		said_forget_texts();
	texts_of = agent_said_texts();
}

uint16_t agent_said_text(const char *text)
{
	uint64_t mask = fxt_engine_lock(&agent_engine);
	uint16_t index;

	said_renew_texts();
	index = said_index(text);
	fxt_engine_unlock(&agent_engine, mask);
	return index;
}

void agent_said_learn(struct fxt_trace_site *site, const struct fxt_trace_argument *arguments, size_t count)
{
	uint64_t mask;

	if (agent_said_is_known(site))
		return;
	mask = fxt_engine_lock(&agent_engine);
	said_renew_texts();
	store_relaxed(&site->texts[0], said_index(site->category));
	store_relaxed(&site->texts[1], said_index(site->name));
	for (size_t i = 0; i < count; i++)
		store_relaxed(&site->texts[2 + i], said_index(arguments[i].name));
	/* Release: pairs with the acquire in agent_said_is_known(). */
	store_release(&site->texts_of, texts_of);
	fxt_engine_unlock(&agent_engine, mask);
}

/* ---- categories ---- */

enum category_state { CATEGORY_FREE, CATEGORY_BEING_ADDED, CATEGORY_IS_THERE };

static struct category {
	uint32_t state; /* enum category_state */
	uint32_t on;
	struct fxt_program_category text;
} categories[FXT_PROGRAM_CATEGORIES];

/* For sites without a category, and those of categories that found no entry. */
static uint32_t any_is_on;

/* Grows before each change of the words, so that one that is set beside it is set again. */
static uint32_t changes;

static bool said_matches(const char *wanted, const char *category)
{
	size_t bytes = strlen(wanted);

	if (bytes && wanted[bytes - 1] == '*')
		return strncmp(wanted, category, bytes - 1) == 0;
	return strcmp(wanted, category) == 0;
}

/* Whether the manager wants the category. */
static bool said_is_requested(const char *category)
{
	const struct fxt_control *control = agent_engine.control;
	uint32_t bytes = load_acquire(&control->category_bytes);
	const char *name = control->category_names, *end = name + bytes;

	if (bytes > FXT_CATEGORY_NAMES_BYTES || end[-1] != 0)
		return true;
	while (name < end && !said_matches(name, category))
		name += strlen(name) + 1;
	return name < end || bytes == 0;
}

static bool said_is_recording(void)
{
	return load_relaxed(&agent_recording) != AGENT_QUIET && agent_engine.state != FXT_ENGINE_NONE;
}

/* Shows the category to the manager. */
static void said_list(const struct category *category)
{
	struct fxt_program_category *shown;

	if (agent_engine.state == FXT_ENGINE_NONE || fxt_engine_was_forked(&agent_engine))
		return;
	shown = fxt_program_category(agent_engine.control, (uint32_t)(category - categories));
	memcpy(shown->name, category->text.name, sizeof(shown->name));
	memcpy(shown->description, category->text.description, sizeof(shown->description));
	/* Release: pairs with the manager's acquire. */
	store_release(&shown->is_there, 1);
}

static void said_switch(struct category *category)
{
	uint32_t seen;

	do {
		seen = load_acquire(&changes);
		store_relaxed(&category->on, said_is_recording() && said_is_requested(category->text.name));
		full_fence();
	} while (load_relaxed(&changes) != seen);
}

static void said_copy(char to[FXT_CATEGORY_TEXT_BYTES], const char *text)
{
	size_t bytes = strnlen(text, FXT_CATEGORY_TEXT_BYTES - 1);

	memcpy(to, text, bytes);
	memset(to + bytes, 0, FXT_CATEGORY_TEXT_BYTES - bytes);
}

/* NULL: there is no room for it. */
static struct category *said_find_or_add(const char *name)
{
	if (strnlen(name, FXT_CATEGORY_TEXT_BYTES) == FXT_CATEGORY_TEXT_BYTES)
		return NULL;
	for (struct category *category = categories; category < categories + FXT_PROGRAM_CATEGORIES;
	        category++) {
		uint32_t state = load_acquire(&category->state);

		if (state == CATEGORY_FREE &&
		        compare_exchange_acquire(&category->state, &state, CATEGORY_BEING_ADDED)) {
			said_copy(category->text.name, name);
			store_release(&category->state, CATEGORY_IS_THERE);
			said_switch(category);
			said_list(category);
			return category;
		}
		if (state == CATEGORY_IS_THERE && strcmp(category->text.name, name) == 0)
			return category;
	}
	return NULL;
}

const uint32_t *agent_said_category(const char *name)
{
	struct category *category = name ? said_find_or_add(name) : NULL;

	return category ? &category->on : &any_is_on;
}

bool agent_said_is_wanted(const struct fxt_trace_site *site)
{
	return load_relaxed(&site->on) != &any_is_on || !site->category || said_is_requested(site->category);
}

void agent_said_declare(const char *name, const char *description)
{
	struct category *category = said_find_or_add(name);

	if (!category || category->text.description[0])
		return;
	said_copy(category->text.description, description);
	said_list(category);
}

void agent_said_follow(void)
{
	add_relaxed(&changes, 1);
	full_fence();
	store_relaxed(&any_is_on, said_is_recording());
	for (struct category *category = categories; category < categories + FXT_PROGRAM_CATEGORIES;
	        category++) {
		if (load_acquire(&category->state) != CATEGORY_IS_THERE)
			continue;
		said_switch(category);
		if (agent_engine.state != FXT_ENGINE_NONE &&
		        !load_relaxed(
		                &fxt_program_category(agent_engine.control, (uint32_t)(category - categories))
		                         ->is_there))
			said_list(category);
	}
}

void agent_said_forget(void)
{
	agent_said_epoch++;
	said_forget_texts();
	agent_said_follow();
}
