/*
 * The tables of an archive's providers, strings, threads and objects, and the views that
 * undo their changes. The tables are filled by one thread; views of them may then be used
 * by several, and must not change what they share. Ids never change once given.
 */
#include "tables.h"

#include <stdlib.h>
#include <string.h>
#include "cxx_names.h"
#include "text.h"
#include "writer/engine/loss.h"
#include "writer/shared/job.h"
#include "writer/format/thread_object.h"
#include "writer/shared/search.h"

static uint32_t tables_new_string(struct fxt_tables *t, struct fxt_span text)
{
	fxt_make_room(t->strings, t->string_count, t->string_room);
	if (t->copies_texts) {
		char *copy = fxt_resize(NULL, text.bytes + 1, 1);

		if (text.bytes > 0)
			memcpy(copy, text.data, text.bytes);
		text.data = copy;
	}
	t->strings[t->string_count] = text;
	return (uint32_t)t->string_count++;
}

static uint32_t tables_new_thread(struct fxt_tables *t, struct fxt_koids koids)
{
	fxt_make_room(t->threads, t->thread_count, t->thread_room);
	t->threads[t->thread_count] = koids;
	return (uint32_t)t->thread_count++;
}

/* ---- changes ---- */

enum changed { STRING, THREAD, RATE, CURRENT };
enum { INDEX_BITS = 16 };

/* `provider` is the provider that changed or, for CURRENT, the previous one. */
static void tables_note(struct fxt_tables *t, const struct fxt_provider_tables *provider,
        enum changed changed, uint32_t index, uint64_t old)
{
	struct fxt_change change = {
	        t->offset, old, provider->number, (uint32_t)changed << INDEX_BITS | index};

	if (t->changes)
		fxt_spill_add(t->changes, &change);
}

static void tables_register_string(struct fxt_tables *t, uint16_t index, uint32_t id)
{
	struct fxt_provider_tables *provider = t->provider;
	uint32_t old = fxt_provider_string(provider, index);

	if (old != id)
		tables_note(t, provider, STRING, index, old);
	fxt_index_table_set(&provider->strings, index, id);
}

static void tables_register_thread(struct fxt_tables *t, uint8_t index, uint32_t id)
{
	struct fxt_provider_tables *provider = t->provider;
	uint32_t old = fxt_provider_thread(provider, index);

	if (old != id)
		tables_note(t, provider, THREAD, index, old);
	fxt_index_table_set(&provider->threads, index, id);
}

static void tables_set_rate(
        struct fxt_tables *t, struct fxt_provider_tables *provider, uint64_t ticks_per_second)
{
	if (provider->rate.ticks_per_second == ticks_per_second)
		return;
	tables_note(t, provider, RATE, 0, provider->rate.ticks_per_second);
	provider->rate = fxt_rate(ticks_per_second);
}

static void tables_set_current(struct fxt_tables *t, struct fxt_provider_tables *provider)
{
	if (t->provider != provider)
		tables_note(t, t->provider, CURRENT, 0, 0);
	t->provider = provider;
}

/* A view's own copy of a provider that is about to change. */
static struct fxt_provider_tables *tables_own_provider(struct fxt_tables *view, uint32_t number)
{
	struct fxt_provider_tables *viewed = view->viewed->providers[number], *own;

	if (view->providers[number] != viewed)
		return view->providers[number];
	own = fxt_allocate(sizeof(*own));
	*own = *viewed;
	own->strings = fxt_index_table_copy(&viewed->strings);
	own->threads = fxt_index_table_copy(&viewed->threads);
	view->providers[number] = own;
	if (view->provider == viewed)
		view->provider = own;
	return own;
}

void fxt_tables_undo(struct fxt_tables *view, const struct fxt_change *change)
{
	uint32_t number = change->provider, index = change->what & ((1u << INDEX_BITS) - 1);

	switch ((enum changed)(change->what >> INDEX_BITS)) {
	case STRING:
		fxt_index_table_set(&tables_own_provider(view, number)->strings, index,
		        fxt_tables_settled(view, (uint32_t)change->old));
		break;
	case THREAD:
		fxt_index_table_set(
		        &tables_own_provider(view, number)->threads, index, (uint32_t)change->old);
		break;
	case RATE:
		tables_own_provider(view, number)->rate = fxt_rate(change->old);
		break;
	case CURRENT:
		view->provider = view->providers[number];
		break;
	}
}

void fxt_tables_view(struct fxt_tables *view, const struct fxt_tables *t)
{
	*view = *t;
	view->viewed = t;
	view->changes = NULL;
	view->providers = fxt_resize(NULL, t->provider_count, sizeof(struct fxt_provider_tables *));
	memcpy(view->providers, t->providers, t->provider_count * sizeof(struct fxt_provider_tables *));
}

/* ---- the tables ---- */

static void tables_forget(struct fxt_tables *t, const struct fxt_provider_tables *provider,
        enum changed changed, struct fxt_index_table *meanings)
{
	struct fxt_index_entry entry;

	for (uint32_t at = 0; fxt_index_table_next(meanings, &at, &entry);)
		tables_note(t, provider, changed, entry.index, entry.id);
	fxt_index_table_free(meanings);
}

static bool tables_lost_uncounted(const struct fxt_provider_tables *provider)
{
	return provider->was_full && !provider->counts_losses &&
	       (provider->has_slices || !provider->has_scheduling);
}

/* Resets a provider to its state at its announcement: nothing is registered. */
static void tables_begin_provider(struct fxt_tables *t, struct fxt_provider_tables *provider, uint32_t id)
{
	tables_forget(t, provider, STRING, &provider->strings);
	tables_forget(t, provider, THREAD, &provider->threads);
	tables_set_rate(t, provider, FXT_NS_PER_SECOND);
	t->uncounted_losses += tables_lost_uncounted(provider);
	*provider =
	        (struct fxt_provider_tables){.id = id, .number = provider->number, .rate = provider->rate};
}

static struct fxt_provider_tables *tables_new_provider(struct fxt_tables *t, uint32_t id)
{
	struct fxt_provider_tables *provider = fxt_allocate(sizeof(*provider));

	provider->number = (uint32_t)t->provider_count;
	provider->rate = fxt_rate(FXT_NS_PER_SECOND);
	tables_begin_provider(t, provider, id);
	fxt_make_room(t->providers, t->provider_count, t->provider_room);
	t->providers[t->provider_count++] = provider;
	return provider;
}

static void tables_fill(struct fxt_tables *t)
{
	tables_new_string(t, fxt_span("(unregistered)"));
	fxt_tables_intern(t, fxt_span("")); /* FXT_EMPTY */
	tables_new_thread(t, (struct fxt_koids){0});
	t->provider = tables_new_provider(t, 0);
}

void fxt_tables_init(struct fxt_tables *t)
{
	*t = (struct fxt_tables){0};
	tables_fill(t);
}

void fxt_tables_init_noting(struct fxt_tables *t, struct fxt_spill *changes)
{
	*t = (struct fxt_tables){.copies_texts = true, .changes = changes};
	tables_fill(t);
}

/* Puts back the full texts. */
static void tables_free_short(struct fxt_tables *t)
{
	for (size_t i = 0; i < t->full_count; i++) {
		if (!t->full[i].data)
			continue;
		free((char *)t->strings[i].data);
		t->strings[i] = t->full[i];
	}
	free(t->full);
}

void fxt_tables_free(struct fxt_tables *t)
{
	for (size_t i = 0; i < t->provider_count; i++) {
		if (t->viewed && t->providers[i] == t->viewed->providers[i])
			continue;
		fxt_index_table_free(&t->providers[i]->strings);
		fxt_index_table_free(&t->providers[i]->threads);
		free(t->providers[i]);
	}
	free(t->providers);
	if (t->viewed)
		return;
	tables_free_short(t);
	/* An identity's text is that of its name, or its own. */
	for (size_t i = 0; i < t->identity_count; i++) {
		t->strings[t->identities[i].id] = (struct fxt_span){0};
		free(t->identities[i].text);
	}
	for (size_t i = 0; t->copies_texts && i < t->string_count; i++)
		free((char *)t->strings[i].data);
	free(t->identities);
	free(t->settled);
	free(t->strings);
	free(t->threads);
	free(t->objects);
	fxt_index_free(&t->provider_index);
	fxt_index_free(&t->string_index);
	fxt_index_free(&t->thread_index);
	fxt_index_free(&t->object_index);
	fxt_labels_free(&t->labels);
	fxt_index_free(&t->identity_index);
	free(t->spans);
	fxt_index_free(&t->span_index);
}

/* ---- shortened names ---- */

/* Shortens a name, and keeps what tells a namesake apart behind it. */
static struct fxt_span tables_short_text(const struct fxt_tables *t, uint32_t id)
{
	struct fxt_span shown = t->strings[id], name = fxt_tables_plain(t, id);
	size_t behind = shown.bytes - name.bytes, bytes;
	char *text = fxt_cxx_name_shorten(name, &bytes);

	if (!text)
		return (struct fxt_span){0};
	text = fxt_resize(text, bytes + behind + 1, 1);
	if (behind > 0)
		memcpy(text + bytes, shown.data + name.bytes, behind);
	return (struct fxt_span){text, bytes + behind};
}

void fxt_tables_shorten(struct fxt_tables *t)
{
	size_t count = t->string_count;
	struct fxt_span *full = fxt_allocate(count * sizeof(*full));

	/* All texts are shortened before any is replaced: a namesake's begins with the
	 * name. */
	for (uint32_t id = 0; id < count; id++)
		full[id] = tables_short_text(t, id);
	for (uint32_t id = 0; id < count; id++) {
		struct fxt_span text = full[id];

		if (!text.data)
			continue;
		full[id] = t->strings[id];
		t->strings[id] = text;
	}
	t->full = full;
	t->full_count = count;
}

/* ---- strings and threads ---- */

uint32_t fxt_tables_intern(struct fxt_tables *t, struct fxt_span text)
{
	uint32_t hash = fxt_hash_bytes(text.data, text.bytes);

	for (struct fxt_probe probe = fxt_probe(&t->string_index, hash);
	        fxt_probe_next(&t->string_index, &probe);) {
		if (fxt_spans_equal(fxt_tables_full(t, probe.id), text))
			return probe.id;
	}
	if (t->viewed)
		return FXT_NOTHING;
	uint32_t id = tables_new_string(t, text);

	fxt_index_add(&t->string_index, hash, id);
	return id;
}

uint32_t fxt_tables_string(struct fxt_tables *t, struct fxt_string string)
{
	if (string.ref & FXT_STRING_INLINE_BIT)
		return fxt_tables_intern(t, fxt_inline_text(string));
	return fxt_provider_string(t->provider, string.ref);
}

static uint32_t tables_intern_thread(struct fxt_tables *t, struct fxt_koids koids)
{
	uint32_t hash = fxt_hash_word(koids.process ^ fxt_hash_word(koids.thread));

	for (struct fxt_probe probe = fxt_probe(&t->thread_index, hash);
	        fxt_probe_next(&t->thread_index, &probe);) {
		struct fxt_koids known = t->threads[probe.id];

		if (known.process == koids.process && known.thread == koids.thread)
			return probe.id;
	}
	if (t->viewed)
		return FXT_NOTHING;
	uint32_t id = tables_new_thread(t, koids);

	fxt_index_add(&t->thread_index, hash, id);
	return id;
}

/* ---- functions ---- */

struct fxt_identity *fxt_tables_identity(const struct fxt_tables *t, uint32_t id)
{
	uint64_t at = partition_point(i, t->identity_count, t->identities[i].id < id);

	return at < t->identity_count && t->identities[at].id == id ? &t->identities[at] : NULL;
}

static uint32_t tables_hash_identity(const struct fxt_identity *i)
{
	return fxt_hash_word(i->offset ^ fxt_hash_word(i->name | (uint64_t)i->module << 32));
}

static struct fxt_identity *tables_find_identity(
        const struct fxt_tables *t, const struct fxt_identity *like, uint32_t hash)
{
	for (struct fxt_probe probe = fxt_probe(&t->identity_index, hash);
	        fxt_probe_next(&t->identity_index, &probe);) {
		struct fxt_identity *i = &t->identities[probe.id];

		if (i->name == like->name && i->module == like->module && i->offset == like->offset)
			return i;
	}
	return NULL;
}

/* Reads who a userspace object is about. Returns false if it does not say that. */
static bool tables_read_identity(
        struct fxt_tables *t, const struct fxt_view *view, struct fxt_identity *identity)
{
	struct fxt_argument module, offset;

	if (view->userspace_object.pointer >> 63 || !fxt_view_has_text(view) ||
	        !fxt_tables_argument(t, view, "module", &module) || module.type != FXT_ARGUMENT_STRING)
		return false;
	*identity = (struct fxt_identity){.name = fxt_tables_string(t, view->userspace_object.name),
	        .module = fxt_tables_string(t, module.value.string)};

	const struct fxt_identity *named = fxt_tables_identity(t, identity->name);

	if (named)
		identity->name = named->name;
	if (fxt_tables_argument(t, view, "offset", &offset) && offset.type == FXT_ARGUMENT_UINT64)
		identity->offset = offset.value.word;
	return identity->name != FXT_NOTHING && identity->module != FXT_NOTHING;
}

static void tables_add_identity(struct fxt_tables *t, struct fxt_identity *identity, uint32_t hash)
{
	const struct fxt_tables *by = t->settled_by;
	struct fxt_span text = t->strings[identity->name];

	/* Both have the same identities, in the order of the trace. */
	if (by && t->identity_count < by->identity_count)
		text = by->strings[fxt_tables_settled(by, by->identities[t->identity_count].id)];
	fxt_make_room(t->strings, t->string_count, t->string_room);
	t->strings[t->string_count] = text;
	identity->id = (uint32_t)t->string_count++;
	fxt_index_add(&t->identity_index, hash, (uint32_t)t->identity_count);
	fxt_make_room(t->identities, t->identity_count, t->identity_room);
	t->identities[t->identity_count++] = *identity;
}

/* From this record on, the index that names the object means this function. */
static void tables_apply_identity(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_string name = view->userspace_object.name;
	struct fxt_identity identity;
	const struct fxt_identity *known;

	if (name.ref == 0 || name.ref & FXT_STRING_INLINE_BIT || !tables_read_identity(t, view, &identity))
		return;
	uint32_t hash = tables_hash_identity(&identity);

	known = tables_find_identity(t, &identity, hash);
	if (!known)
		tables_add_identity(t, &identity, hash);
	tables_register_string(t, name.ref, known ? known->id : identity.id);
}

struct fxt_identity *fxt_tables_find_identity(
        const struct fxt_tables *t, uint32_t name, uint32_t module, uint64_t offset)
{
	const struct fxt_identity like = {.name = name, .module = module, .offset = offset};

	return tables_find_identity(t, &like, tables_hash_identity(&like));
}

uint32_t fxt_tables_described(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_identity identity;
	const struct fxt_identity *known = NULL;

	if (tables_read_identity(t, view, &identity))
		known = tables_find_identity(t, &identity, tables_hash_identity(&identity));
	return known ? known->id : fxt_tables_string(t, view->userspace_object.name);
}

/* ---- spans ---- */

static struct fxt_span_name *tables_find_span(
        const struct fxt_tables *t, uint32_t name, uint32_t category, uint32_t hash)
{
	for (struct fxt_probe probe = fxt_probe(&t->span_index, hash);
	        fxt_probe_next(&t->span_index, &probe);) {
		struct fxt_span_name *span = &t->spans[probe.id];

		if (span->name == name && span->category == category)
			return span;
	}
	return NULL;
}

static uint32_t tables_hash_span(uint32_t name, uint32_t category)
{
	return fxt_hash_word(name | (uint64_t)category << 32);
}

void fxt_tables_add_span(struct fxt_tables *t, uint32_t name, uint32_t category)
{
	name = fxt_tables_recorded(t, name);
	uint32_t hash = tables_hash_span(name, category);

	if (name == FXT_NOTHING || tables_find_span(t, name, category, hash))
		return;
	fxt_index_add(&t->span_index, hash, (uint32_t)t->span_count);
	fxt_make_room(t->spans, t->span_count, t->span_room);
	t->spans[t->span_count++] = (struct fxt_span_name){name, category, name};
}

uint32_t fxt_tables_find_span(const struct fxt_tables *t, uint32_t name, uint32_t category)
{
	if (t->shared_spans == 0)
		return name;
	uint32_t recorded = fxt_tables_recorded(t, name);
	const struct fxt_span_name *span =
	        tables_find_span(t, recorded, category, tables_hash_span(recorded, category));

	return span ? span->id : name;
}

/* "receive [span server]", behind all other strings. */
static void tables_name_span(struct fxt_tables *t, struct fxt_span_name *span)
{
	struct fxt_span name = t->strings[span->name], category = t->strings[span->category];
	char *text = NULL;
	size_t bytes;
	FILE *out = fxt_memory_open(&text, &bytes);

	fprintf(out, "%.*s [span %.*s]", (int)name.bytes, name.data, (int)category.bytes, category.data);
	fxt_memory_close(out, &text);
	span->id = tables_new_string(t, (struct fxt_span){text, bytes});
	fxt_index_add(&t->string_index, fxt_hash_bytes(text, bytes), span->id);
	free(text);
}

void fxt_tables_settle_spans(struct fxt_tables *t, const bool *is_shared, uint64_t most_bytes)
{
	t->first_of_shared = (uint32_t)t->string_count;
	fxt_index_free(&t->span_index);
	for (size_t i = 0; i < t->span_count; i++) {
		struct fxt_span_name span = t->spans[i];
		uint64_t bytes = t->strings[span.name].bytes + t->strings[span.category].bytes + 16;

		if (!is_shared[i] || bytes > most_bytes)
			continue;
		most_bytes -= bytes;
		tables_name_span(t, &span);
		t->spans[i] = t->spans[t->shared_spans];
		t->spans[t->shared_spans++] = span;
	}
	for (size_t i = 0; i < t->span_count; i++)
		fxt_index_add(&t->span_index, tables_hash_span(t->spans[i].name, t->spans[i].category),
		        (uint32_t)i);
}

uint32_t fxt_tables_recorded(const struct fxt_tables *t, uint32_t id)
{
	if (id >= t->first_of_shared && id - t->first_of_shared < t->shared_spans)
		return t->spans[id - t->first_of_shared].name;
	const struct fxt_identity *identity = fxt_tables_identity(t, id);

	return identity ? identity->name : id;
}

/* ---- providers ---- */

struct fxt_provider_tables *fxt_tables_provider(const struct fxt_tables *t, uint32_t id)
{
	uint32_t hash = fxt_hash_word(id);

	for (struct fxt_probe probe = fxt_probe(&t->provider_index, hash);
	        fxt_probe_next(&t->provider_index, &probe);)
		if (t->providers[probe.id]->id == id)
			return t->providers[probe.id];
	return NULL;
}

static struct fxt_provider_tables *tables_new_provider_of_id(struct fxt_tables *t, uint32_t id)
{
	fxt_index_add(&t->provider_index, fxt_hash_word(id), (uint32_t)t->provider_count);
	return tables_new_provider(t, id);
}

static void tables_announce_provider(struct fxt_tables *t, uint32_t id, struct fxt_span name)
{
	struct fxt_provider_tables *provider = fxt_tables_provider(t, id);

	if (provider)
		tables_begin_provider(t, provider, id);
	else
		provider = tables_new_provider_of_id(t, id);
	provider->announced = true;
	provider->name = fxt_tables_intern(t, name);
	tables_set_current(t, provider);
}

static void tables_apply_provider_event(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_provider_tables *provider = fxt_tables_provider(t, view->metadata.provider);

	if (view->metadata.event != FXT_PROVIDER_EVENT_BUFFER_FULL)
		return;
	if (provider)
		provider->was_full = true;
	else
		t->uncounted_losses++;
}

static void tables_apply_metadata(struct fxt_tables *t, const struct fxt_view *view)
{
	uint32_t id = view->metadata.provider;

	if (view->metadata.type == FXT_METADATA_PROVIDER_SECTION) {
		struct fxt_provider_tables *provider = fxt_tables_provider(t, id);

		tables_set_current(t, provider ? provider : tables_new_provider_of_id(t, id));
	} else if (view->metadata.type == FXT_METADATA_PROVIDER_INFO) {
		tables_announce_provider(t, id, view->metadata.name);
	} else if (view->metadata.type == FXT_METADATA_PROVIDER_EVENT) {
		tables_apply_provider_event(t, view);
	}
}

/* ---- objects ---- */

static struct fxt_object *tables_find_object(
        const struct fxt_tables *t, uint8_t type, uint64_t koid, uint32_t hash)
{
	for (struct fxt_probe probe = fxt_probe(&t->object_index, hash);
	        fxt_probe_next(&t->object_index, &probe);)
		if (t->objects[probe.id].koid == koid && t->objects[probe.id].type == type)
			return &t->objects[probe.id];
	return NULL;
}

static struct fxt_job_place tables_rank_of(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_argument found;
	struct fxt_job_place rank = {.host = FXT_NOTHING, .job = FXT_NOTHING};

	if (view->kernel_object.type != FXT_OBJECT_PROCESS ||
	        !fxt_tables_argument(t, view, FXT_JOB_RANK, &found) || found.type != FXT_ARGUMENT_UINT32)
		return (struct fxt_job_place){.is_known = false};
	rank.is_known = true;
	rank.rank = (uint32_t)found.value.word;
	if (fxt_tables_argument(t, view, FXT_JOB_SIZE, &found) && found.type == FXT_ARGUMENT_UINT32)
		rank.size = (uint32_t)found.value.word;
	if (fxt_tables_argument(t, view, FXT_JOB_HOST, &found) && found.type == FXT_ARGUMENT_STRING)
		rank.host = fxt_tables_string(t, found.value.string);
	if (fxt_tables_argument(t, view, FXT_JOB_NAME, &found) && found.type == FXT_ARGUMENT_STRING)
		rank.job = fxt_tables_string(t, found.value.string);
	return rank;
}

/* A later description of the same process may say nothing of its rank. */
static void tables_apply_object(struct fxt_tables *t, uint8_t type, uint64_t koid, uint32_t name,
        uint64_t row_of, struct fxt_job_place rank)
{
	uint32_t hash = fxt_hash_word(koid ^ (uint64_t)type << 56);
	struct fxt_object *object = tables_find_object(t, type, koid, hash);

	if (!object) {
		fxt_index_add(&t->object_index, hash, (uint32_t)t->object_count);
		fxt_make_room(t->objects, t->object_count, t->object_room);
		object = &t->objects[t->object_count++];
		object->rank = (struct fxt_job_place){.is_known = false};
	}
	*object = (struct fxt_object){.koid = koid,
	        .type = type,
	        .name = name,
	        .rank = rank.is_known ? rank : object->rank,
	        .row_of = row_of};
}

struct fxt_job_place fxt_tables_place(const struct fxt_tables *t, uint64_t process)
{
	uint32_t hash = fxt_hash_word(process ^ (uint64_t)FXT_OBJECT_PROCESS << 56);
	const struct fxt_object *object = tables_find_object(t, FXT_OBJECT_PROCESS, process, hash);

	return object ? object->rank : (struct fxt_job_place){.is_known = false};
}

uint32_t fxt_tables_object_name(const struct fxt_tables *t, enum fxt_object_type type, uint64_t koid)
{
	uint32_t hash = fxt_hash_word(koid ^ (uint64_t)type << 56);
	struct fxt_object *object = tables_find_object(t, (uint8_t)type, koid, hash);

	return object ? object->name : FXT_NOTHING;
}

bool fxt_tables_is_block(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_argument path;

	return !fxt_view_has_text(view) && fxt_tables_argument(t, view, "path", &path) &&
	       path.type == FXT_ARGUMENT_POINTER && (path.value.word == 0 || path.value.word >> 63);
}

static void tables_apply_label(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_label label = {.offset = t->offset};

	if (view->type == FXT_RECORD_KERNEL_OBJECT) {
		label.process = FXT_LABEL_KERNEL;
		label.value = view->kernel_object.koid;
		label.type = view->kernel_object.type;
		label.name = fxt_tables_string(t, view->kernel_object.name);
	} else if (!(view->userspace_object.pointer >> 63)) {
		struct fxt_thread process = view->userspace_object.process;
		uint32_t thread = process.ref ? fxt_provider_thread(t->provider, process.ref) : FXT_NOTHING;

		label.process = process.ref ? t->threads[thread].process : process.process;
		label.value =
		        view->userspace_object.pointer | (fxt_tables_is_block(t, view) ? FXT_LABEL_BLOCK : 0);
		label.name = fxt_tables_described(t, view);
	}
	if (label.name != FXT_NOTHING && label.name != FXT_EMPTY)
		fxt_labels_put(&t->labels, &label);
}

struct fxt_span fxt_tables_label(
        const struct fxt_tables *t, uint64_t process, const struct fxt_argument *argument)
{
	const struct fxt_label *label = NULL;

	/* A view does not know which object was described last. A lock is described after the
	 * block that it is in. */
	if (argument->type == FXT_ARGUMENT_POINTER && t->viewed)
		label = fxt_labels_find(&t->labels, process, argument->value.word)
		                ?: fxt_labels_find(
		                           &t->labels, process, argument->value.word | FXT_LABEL_BLOCK);
	else if (argument->type == FXT_ARGUMENT_POINTER)
		label = fxt_labels_find_pointer(&t->labels, process, argument->value.word);
	else if (argument->type == FXT_ARGUMENT_KOID)
		label = fxt_labels_find(&t->labels, FXT_LABEL_KERNEL, argument->value.word);
	if (!label || (t->viewed && label->is_changed))
		return (struct fxt_span){"", 0};
	return t->strings[label->name];
}

static int tables_compare_koids(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

size_t fxt_sort_koids(uint64_t *koids, size_t count)
{
	size_t left = 0;

	qsort(koids, count, sizeof(*koids), tables_compare_koids);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || koids[i] != koids[i - 1])
			koids[left++] = koids[i];
	return left;
}

const uint64_t *fxt_find_koid(const uint64_t *koids, size_t count, uint64_t koid)
{
	return bsearch(&koid, koids, count, sizeof(*koids), tables_compare_koids);
}

/* The id of a thread; for a heap or fault track, of the thread that it belongs to. */
static uint32_t tables_thread_of_row(struct fxt_tables *t, struct fxt_koids koids)
{
	uint32_t hash = fxt_hash_word(koids.thread ^ (uint64_t)FXT_OBJECT_THREAD << 56);
	const struct fxt_object *object = tables_find_object(t, FXT_OBJECT_THREAD, koids.thread, hash);

	if (object && object->row_of)
		koids.thread = object->row_of;
	return tables_intern_thread(t, koids);
}

uint32_t fxt_tables_thread(struct fxt_tables *t, struct fxt_thread thread)
{
	if (thread.ref == 0)
		return tables_thread_of_row(t, (struct fxt_koids){thread.process, thread.thread});
	return fxt_provider_thread(t->provider, thread.ref);
}

/* ---- records ---- */

static uint64_t tables_row_of(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_argument row_of;

	return fxt_tables_argument(t, view, FXT_ROW_OF, &row_of) && row_of.type == FXT_ARGUMENT_KOID
	               ? row_of.value.word
	               : 0;
}

void fxt_tables_apply(struct fxt_tables *t, const struct fxt_view *view)
{
	switch (view->type) {
	case FXT_RECORD_METADATA:
		tables_apply_metadata(t, view);
		break;
	case FXT_RECORD_INITIALIZATION:
		t->provider->initialized = true;
		tables_set_rate(t, t->provider,
		        view->initialization.ticks_per_second ? view->initialization.ticks_per_second
		                                              : FXT_NS_PER_SECOND);
		break;
	case FXT_RECORD_STRING:
		if (view->string.index != 0)
			tables_register_string(
			        t, view->string.index, fxt_tables_intern(t, view->string.text));
		break;
	case FXT_RECORD_THREAD:
		if (view->thread.index != 0)
			tables_register_thread(t, view->thread.index,
			        tables_thread_of_row(t, (struct fxt_koids){view->thread.koids.process,
			                                        view->thread.koids.thread}));
		if (t->provider->process == 0)
			t->provider->process = view->thread.koids.process;
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		if (view->kernel_object.type == FXT_OBJECT_PROCESS && !t->provider->process_described) {
			t->provider->process = view->kernel_object.koid;
			t->provider->process_described = true;
		}
		tables_apply_object(t, view->kernel_object.type, view->kernel_object.koid,
		        fxt_tables_string(t, view->kernel_object.name), tables_row_of(t, view),
		        tables_rank_of(t, view));
		tables_apply_label(t, view);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
		tables_apply_identity(t, view);
		tables_apply_label(t, view);
		break;
	case FXT_RECORD_EVENT:
		t->provider->has_slices |= view->event.type >= FXT_EVENT_DURATION_BEGIN &&
		                           view->event.type <= FXT_EVENT_DURATION_COMPLETE;
		break;
	case FXT_RECORD_SCHEDULING:
		t->provider->has_scheduling = true;
		break;
	default:
		break;
	}
}

bool fxt_tables_argument(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, struct fxt_argument *argument)
{
	struct fxt_arguments arguments = view->arguments;

	while (fxt_next_argument(&arguments, argument)) {
		if (fxt_span_is(fxt_tables_text(t, argument->name), name))
			return true;
	}
	return false;
}

bool fxt_tables_loss(struct fxt_tables *t, const struct fxt_view *view, struct fxt_loss_event *loss)
{
	struct fxt_argument records;

	if (!fxt_tables_argument(t, view, "records", &records) || records.type != FXT_ARGUMENT_UINT64)
		return false;
	*loss = (struct fxt_loss_event){records.value.word,
	        fxt_ends_with(fxt_tables_text(t, view->event.name), FXT_LOSS_OVERWRITTEN)};
	t->provider->counts_losses |= !loss->is_overwritten;
	return true;
}

uint64_t fxt_tables_uncounted_losses(const struct fxt_tables *t)
{
	uint64_t providers = t->uncounted_losses;

	for (size_t i = 0; i < t->provider_count; i++)
		providers += tables_lost_uncounted(t->providers[i]);
	return providers;
}
