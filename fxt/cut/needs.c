/*
 * Notes the records that others refer to, and writes them before the first record that
 * needs them. Runs on the main thread while the trace is read from front to back. It must
 * never write a record twice while its index means the same.
 */
#include "needs.h"

#include <stdlib.h>
#include "reader/heap/heap.h"
#include "reader/trace/fields.h"
#include "reader/trace/utf8.h"
#include "writer/shared/buffer.h"
#include "writer/format/encode.h"

struct fxt_needs_function {
	uint64_t era;  /* its provider's */
	uint32_t name; /* id of a string */
	uint64_t address;
	struct fxt_record record;
	bool is_written;
};

struct fxt_needs_node {
	uint64_t era, id, process, parent;
	struct fxt_string name; /* as the record referred to it */
	uint32_t text;          /* its text at that time, id of a string */
	bool has_parent, is_described, is_needed;
};

/* The announcement of a loaded program or library. */
struct fxt_needs_module {
	uint64_t era;
	struct fxt_record record;
};

static void needs_put(struct fxt_needs *n, const uint64_t *words, size_t count)
{
	fxt_sections_put(&n->sections, n->sections.tables.provider, words, count);
}

static void needs_koid(struct fxt_needs *n, enum fxt_object_type type, uint64_t koid)
{
	fxt_objects_need(&n->objects, &n->sections, type, koid);
}

static void needs_thread(struct fxt_needs *n, struct fxt_thread thread)
{
	const struct fxt_tables *t = &n->sections.tables;
	uint64_t record[3];

	if (thread.ref > 0) {
		struct fxt_section *own = fxt_sections_own(&n->sections);
		uint32_t id = fxt_provider_thread(t->provider, thread.ref),
		         row = fxt_index_entry(&own->rows, thread.ref);

		if (id == FXT_NOTHING || fxt_index_entry(&own->threads, thread.ref) == id)
			return;
		fxt_index_table_set(&own->threads, thread.ref, id);
		thread.process = t->threads[id].process;
		thread.thread = row ? fxt_objects_row_koid(&n->objects, row) : t->threads[id].thread;
		needs_koid(n, FXT_OBJECT_THREAD, thread.thread); /* first, because a track's
		                                                    record names its
		                                                    thread */
		needs_put(n, record, fxt_put_thread(record, 3, thread.ref, thread.process, thread.thread));
	}
	needs_koid(n, FXT_OBJECT_PROCESS, thread.process);
	needs_koid(n, FXT_OBJECT_THREAD, thread.thread);
}

/* ---- strings and functions ---- */

static uint32_t needs_hash_name(uint64_t era, uint32_t name)
{
	return fxt_hash_word(name | era << 32);
}

/* Finds a function with this name that is not written yet (is_any) or has this address.
 * `address` 0 is the mark that the name is needed. Returns NULL if there is none. */
static struct fxt_needs_function *needs_find_function(
        struct fxt_needs *n, uint64_t era, uint32_t name, uint64_t address, bool is_any)
{
	for (struct fxt_probe probe = fxt_probe(&n->function_index, needs_hash_name(era, name));
	        fxt_probe_next(&n->function_index, &probe);) {
		struct fxt_needs_function *function = &n->functions[probe.id];

		if (function->name == name && function->era == era &&
		        (is_any ? !function->is_written : function->address == address))
			return function;
	}
	return NULL;
}

static struct fxt_needs_function *needs_add_function(
        struct fxt_needs *n, uint64_t era, uint32_t name, uint64_t address)
{
	fxt_index_add(&n->function_index, needs_hash_name(era, name), (uint32_t)n->function_count);
	fxt_make_room(n->functions, n->function_count, n->function_room);
	n->functions[n->function_count] =
	        (struct fxt_needs_function){.era = era, .name = name, .address = address};
	return &n->functions[n->function_count++];
}

static void needs_of(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view);

static void needs_put_function(struct fxt_needs *n, struct fxt_needs_function *function)
{
	struct fxt_record record = function->record;
	struct fxt_view view;

	function->is_written = true;
	if (fxt_decode(&record, &view) != NULL)
		return;
	needs_of(n, &record, &view);
	needs_put(n, record.words, record.size);
}

/* Finds the place of a function that stood in the trace before its identity, and is noted
 * under the bare name for that reason. Returns NULL if there is none to be written. */
static struct fxt_needs_function *needs_find_early_place(
        struct fxt_needs *n, uint64_t era, const struct fxt_identity *identity)
{
	for (struct fxt_probe probe = fxt_probe(&n->function_index, needs_hash_name(era, identity->name));
	        fxt_probe_next(&n->function_index, &probe);) {
		struct fxt_needs_function *function = &n->functions[probe.id];
		struct fxt_view view;

		if (function->name == identity->name && function->era == era && !function->is_written &&
		        fxt_decode(&function->record, &view) == NULL &&
		        fxt_tables_described(&n->sections.tables, &view) == identity->id)
			return function;
	}
	return NULL;
}

/* Writes the places of the functions with a name; there may be several. */
static void needs_functions(struct fxt_needs *n, uint32_t name)
{
	uint64_t era = fxt_sections_own(&n->sections)->era;
	const struct fxt_identity *identity = fxt_tables_identity(&n->sections.tables, name);
	struct fxt_needs_function *function;

	if (!needs_find_function(n, era, name, 0, false))
		needs_add_function(n, era, name, 0)->is_written = true;
	while ((function = needs_find_function(n, era, name, 0, true)) ||
	        (identity && (function = needs_find_early_place(n, era, identity))))
		needs_put_function(n, function);
}

/* The address under which a function's identity is noted (symbolizer/naming.h). */
#define IDENTITY UINT64_MAX

/* Writes who the function is that an index means. Must follow each record of its string. */
static void needs_identity(struct fxt_needs *n, uint32_t name, uint16_t index)
{
	uint64_t era = fxt_sections_own(&n->sections)->era, record[FXT_RECORD_MAX_WORDS];
	const struct fxt_needs_function *identity = needs_find_function(n, era, name, IDENTITY, false);

	if (!identity)
		return;
	memcpy(record, identity->record.words, identity->record.size * sizeof(*record));
	record[0] = fxt_userspace_object_renamed(record[0], index);

	const struct fxt_record renamed = {.words = record, .size = identity->record.size};
	struct fxt_view view;

	if (fxt_decode(&renamed, &view) != NULL)
		return;
	needs_of(n, &renamed, &view);
	needs_put(n, record, renamed.size);
}

static void needs_string(struct fxt_needs *n, struct fxt_string string)
{
	const struct fxt_provider_tables *p = n->sections.tables.provider;
	struct fxt_section *own = fxt_sections_own(&n->sections);
	uint64_t record[FXT_RECORD_MAX_WORDS];
	uint32_t id;

	if (string.ref == 0 || string.ref & FXT_STRING_INLINE_BIT)
		return;
	id = fxt_provider_string(p, string.ref);
	if (id == FXT_NOTHING || fxt_index_entry(&own->strings, string.ref) == id)
		return;
	struct fxt_span text = n->sections.tables.strings[id];

	fxt_index_table_set(&own->strings, string.ref, id);
	needs_put(n, record,
	        fxt_put_string(record, FXT_RECORD_MAX_WORDS, string.ref, text.data,
	                fxt_utf8_cut(text.data, text.bytes, FXT_STRING_MAX_BYTES)));
	needs_identity(n, id, string.ref);
	needs_functions(n, id);
}

/* ---- call paths ---- */

static struct fxt_needs_node *needs_node(struct fxt_needs *n, uint64_t id)
{
	uint64_t era = fxt_sections_own(&n->sections)->era;
	uint32_t hash = fxt_hash_word(id ^ era << 48);

	for (struct fxt_probe probe = fxt_probe(&n->node_index, hash);
	        fxt_probe_next(&n->node_index, &probe);)
		if (n->nodes[probe.id].id == id && n->nodes[probe.id].era == era)
			return &n->nodes[probe.id];
	fxt_index_add(&n->node_index, hash, (uint32_t)n->node_count);
	fxt_make_room(n->nodes, n->node_count, n->node_room);
	n->nodes[n->node_count] = (struct fxt_needs_node){.era = era, .id = id};
	return &n->nodes[n->node_count++];
}

static void needs_put_node(struct fxt_needs *n, const struct fxt_needs_node *node)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	struct fxt_argument parent =
	        fxt_argument_pointer(fxt_string_inline("parent", strlen("parent")), node->parent);
	struct fxt_span text = n->sections.tables.strings[node->text];
	struct fxt_string name = node->name;

	/* The index may have got another meaning since. */
	if (name.ref & FXT_STRING_INLINE_BIT || fxt_tables_string(&n->sections.tables, name) != node->text)
		name = fxt_string_inline(
		        text.data, fxt_utf8_cut(text.data, text.bytes, FXT_STRING_MAX_BYTES));
	needs_string(n, name);
	needs_koid(n, FXT_OBJECT_PROCESS, node->process);
	needs_put(n, record,
	        fxt_put_userspace_object(record, FXT_RECORD_MAX_WORDS, fxt_thread_inline(node->process, 0),
	                node->id, name, &parent, node->has_parent));
}

/* Writes a node and its ancestors. */
static void needs_path(struct fxt_needs *n, uint64_t id)
{
	while (id >> 63) {
		struct fxt_needs_node *node = needs_node(n, id), found = *node;

		node->is_needed = true;
		if (found.is_needed || !found.is_described)
			return;
		needs_put_node(n, &found);
		id = found.parent;
	}
}

static void needs_on_node(struct fxt_needs *n, const struct fxt_view *view)
{
	struct fxt_needs_node *node = needs_node(n, view->userspace_object.pointer), seen = *node;
	struct fxt_thread process = view->userspace_object.process;
	struct fxt_argument parent;

	/* A recorder that drops a buffer writes its nodes again. */
	if (seen.is_described)
		return;
	seen.is_described = true;
	seen.process =
	        process.ref
	                ? n->sections.tables.threads[fxt_tables_thread(&n->sections.tables, process)].process
	                : process.process;
	seen.has_parent = fxt_tables_argument(&n->sections.tables, view, "parent", &parent) &&
	                  parent.type == FXT_ARGUMENT_POINTER;
	seen.parent = seen.has_parent ? parent.value.word : 0;
	seen.name = view->userspace_object.name;
	seen.text = fxt_tables_string(&n->sections.tables, seen.name);
	*node = seen;
	if (!seen.is_needed)
		return;
	needs_put_node(n, &seen);
	needs_path(n, seen.parent);
}

/* ---- records ---- */

/* Notes the identity of a function, or its place in the source. Objects of a heap have
 * none, and are ignored. */
static void needs_on_function(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view)
{
	uint64_t era = fxt_sections_own(&n->sections)->era, address = view->userspace_object.pointer;
	uint32_t name = fxt_tables_described(&n->sections.tables, view);

	if (!(view->userspace_object.name.ref & FXT_STRING_INLINE_BIT) &&
	        fxt_tables_identity(&n->sections.tables, name) &&
	        !needs_find_function(n, era, name, IDENTITY, false)) {
		struct fxt_needs_function *identity = needs_add_function(n, era, name, IDENTITY);

		identity->record = *r;
		identity->is_written = true; /* with each string */
		return;
	}
	if (address == 0 || !fxt_needs_is_function(&n->sections.tables, view) ||
	        needs_find_function(n, era, name, address, false))
		return;
	struct fxt_needs_function *function = needs_add_function(n, era, name, address);

	function->record = *r;
	if (needs_find_function(n, era, name, 0, false))
		needs_put_function(n, function);
}

bool fxt_needs_claim_object(struct fxt_needs *n, const struct fxt_view *view)
{
	uint64_t era = fxt_sections_own(&n->sections)->era, address = view->userspace_object.pointer;
	uint32_t name = fxt_tables_described(&n->sections.tables, view);
	struct fxt_needs_function *function = needs_find_function(n, era, name, address, false);
	bool is_written = function && function->is_written;

	if (function)
		function->is_written = true;
	return !is_written;
}

/* Notes a module, which is written before the first written record of its provider. */
static void needs_on_module(struct fxt_needs *n, const struct fxt_record *r)
{
	struct fxt_section *own = fxt_sections_own(&n->sections);

	own->modules_waiting++;
	fxt_make_room(n->modules, n->module_count, n->module_room);
	n->modules[n->module_count++] = (struct fxt_needs_module){own->era, *r};
}

void fxt_needs_add(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view)
{
	fxt_sections_add(&n->sections, view);
	fxt_objects_add(&n->objects, &n->sections, view);
	if (view->type == FXT_RECORD_THREAD && view->thread.index != 0)
		fxt_index_table_set(&fxt_sections_own(&n->sections)->rows, view->thread.index,
		        fxt_objects_row(&n->objects, view->thread.koids.thread));
	if (view->type == FXT_RECORD_USERSPACE_OBJECT && view->userspace_object.pointer >> 63)
		needs_on_node(n, view);
	else if (view->type == FXT_RECORD_USERSPACE_OBJECT)
		needs_on_function(n, r, view);
	else if (view->type == FXT_RECORD_LOG && fxt_begins_with(view->log.text, "{{{"))
		needs_on_module(n, r);
}

static bool needs_is_path(struct fxt_needs *n, const struct fxt_view *view, struct fxt_string argument)
{
	struct fxt_tables *t = &n->sections.tables;

	return fxt_span_is(fxt_tables_text(t, view->event.category), "heap") &&
	       fxt_span_is(fxt_tables_text(t, argument), "path");
}

/* A koid argument may mean a process or a thread. */
static void needs_described(struct fxt_needs *n, uint64_t koid)
{
	needs_koid(n, FXT_OBJECT_PROCESS, koid);
	needs_koid(n, FXT_OBJECT_THREAD, koid);
}

static void needs_arguments(struct fxt_needs *n, const struct fxt_view *view)
{
	struct fxt_arguments arguments = view->arguments;
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument)) {
		needs_string(n, argument.name);
		if (argument.type == FXT_ARGUMENT_STRING)
			needs_string(n, argument.value.string);
		else if (argument.type == FXT_ARGUMENT_UINT32 && view->type == FXT_RECORD_EVENT &&
		         needs_is_path(n, view, argument.name))
			needs_path(n, fxt_heap_path_id(&argument));
		else if (argument.type == FXT_ARGUMENT_KOID)
			needs_described(n, argument.value.word);
		else if (argument.type == FXT_ARGUMENT_POINTER && view->type == FXT_RECORD_USERSPACE_OBJECT)
			needs_path(n, argument.value.word);
	}
}

#define NEEDED                                                                    \
	(FXT_FIELDS_OF(STRING) | FXT_FIELDS_OF(THREAD) | FXT_FIELDS_OF(PROCESS) | \
	        FXT_FIELDS_OF(PROCESS_KOID) | FXT_FIELDS_OF(THREAD_KOID) | FXT_FIELDS_OF(ARGUMENTS))

struct needs_visit {
	struct fxt_needs *n;
	const struct fxt_view *view;
};

static void needs_of_field(void *context, const struct fxt_field_value *field)
{
	const struct needs_visit *visit = context;

	switch (field->rule->type) {
	case FXT_FIELD_STRING:
		needs_string(visit->n, field->string);
		break;
	case FXT_FIELD_THREAD:
	case FXT_FIELD_PROCESS:
		needs_thread(visit->n, field->thread);
		break;
	case FXT_FIELD_PROCESS_KOID:
		needs_koid(visit->n, FXT_OBJECT_PROCESS, field->number);
		break;
	case FXT_FIELD_THREAD_KOID:
		needs_koid(visit->n, FXT_OBJECT_THREAD, field->number);
		break;
	case FXT_FIELD_ARGUMENTS:
		needs_arguments(visit->n, visit->view);
		break;
	default:
		break;
	}
}

static void needs_of(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view)
{
	fxt_visit_fields(r, NEEDED, needs_of_field, &(struct needs_visit){n, view});
}

/* Writes the modules that wait for their provider's first record, which comes next. */
static void needs_modules(struct fxt_needs *n)
{
	struct fxt_section *own = fxt_sections_own(&n->sections);
	uint64_t era = own->era; /* writing a module's needs may move the sections */
	size_t kept = 0;

	if (own->modules_waiting == 0)
		return;
	own->modules_waiting = 0;
	for (size_t i = 0; i < n->module_count; i++) {
		struct fxt_needs_module module = n->modules[i];
		struct fxt_view view;

		if (module.era != era) {
			n->modules[kept++] = module;
		} else if (fxt_decode(&module.record, &view) == NULL) {
			needs_of(n, &module.record, &view);
			needs_put(n, module.record.words, module.record.size);
		}
	}
	n->module_count = kept;
}

void fxt_needs_of(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view)
{
	needs_modules(n);
	needs_of(n, r, view);
}

void fxt_needs_of_plain_call(struct fxt_needs *n, uint64_t header)
{
	needs_modules(n);
	needs_thread(n, (struct fxt_thread){.ref = (uint16_t)fxt_field(header, 24, 8)});
	needs_string(n, (struct fxt_string){.ref = (uint16_t)fxt_field(header, 32, 16)});
	needs_string(n, (struct fxt_string){.ref = (uint16_t)(header >> 48)});
}

void fxt_needs_begin(struct fxt_needs *n, FILE *out)
{
	*n = (struct fxt_needs){0};
	fxt_sections_begin(&n->sections, out);
}

void fxt_needs_end(struct fxt_needs *n)
{
	fxt_sections_end(&n->sections);
	fxt_objects_free(&n->objects);
	free(n->functions);
	free(n->nodes);
	free(n->modules);
	fxt_index_free(&n->function_index);
	fxt_index_free(&n->node_index);
}
