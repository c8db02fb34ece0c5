/*
 * Keeps the descriptions of processes and threads for fxt cut, and writes those that kept
 * records need (objects.h). Runs while the trace is read. Must never invent a description
 * or drop an argument of one.
 */
#include "objects.h"

#include <stdlib.h>
#include "reader/trace/utf8.h"
#include "writer/format/encode.h"
#include "writer/format/thread_object.h"

struct fxt_objects_item {
	uint64_t koid, process, row_of;
	enum fxt_object_type type;
	uint32_t name;                               /* id of a string */
	const struct fxt_provider_tables *described; /* the provider that described it;
	                                                NULL: none so far */
	struct fxt_argument *arguments;              /* all of them; texts are inline */
	size_t argument_count;
	bool is_needed;
};

static struct fxt_objects_item *objects_find(struct fxt_objects *o, enum fxt_object_type type, uint64_t koid)
{
	uint32_t hash = fxt_hash_word(koid ^ (uint64_t)type << 56);

	for (struct fxt_probe probe = fxt_probe(&o->index, hash); fxt_probe_next(&o->index, &probe);)
		if (o->items[probe.id].koid == koid && o->items[probe.id].type == type)
			return &o->items[probe.id];
	fxt_index_add(&o->index, hash, (uint32_t)o->count);
	fxt_make_room(o->items, o->count, o->room);
	o->items[o->count] = (struct fxt_objects_item){.koid = koid, .type = type};
	return &o->items[o->count++];
}

/* The index that a text was referred to by may have got another text since. */
static struct fxt_string objects_text(const struct fxt_tables *t, uint32_t id)
{
	struct fxt_span text = t->strings[id];

	return fxt_string_inline(text.data, fxt_utf8_cut(text.data, text.bytes, FXT_STRING_MAX_BYTES));
}

static void objects_put(struct fxt_sections *s, const struct fxt_objects_item *object)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	size_t words = 0;

	/* Texts that were references take more room now: an object that has too many loses
	 * its last arguments. */
	for (size_t count = object->argument_count; words == 0; count--) {
		words = fxt_put_kernel_object(record, FXT_RECORD_MAX_WORDS, object->type, object->koid,
		        objects_text(&s->tables, object->name), object->arguments, count);
		if (count == 0)
			break;
	}
	fxt_sections_put(s, object->described, record, words);
}

/* Takes a copy of the arguments that does not depend on the state of the tables. */
static size_t objects_arguments(
        struct fxt_tables *t, const struct fxt_view *view, struct fxt_argument copies[FXT_ARGUMENTS_MAX])
{
	struct fxt_arguments arguments = view->arguments;
	size_t count = 0;

	while (count < FXT_ARGUMENTS_MAX && fxt_next_argument(&arguments, &copies[count])) {
		struct fxt_argument *copy = &copies[count];

		if (copy->type > FXT_ARGUMENT_BLOB)
			continue;
		count++;
		copy->name = objects_text(t, fxt_tables_string(t, copy->name));
		if (copy->type == FXT_ARGUMENT_STRING)
			copy->value.string = objects_text(t, fxt_tables_string(t, copy->value.string));
	}
	return count;
}

static void objects_keep_arguments(
        struct fxt_objects_item *object, const struct fxt_argument *arguments, size_t count)
{
	free(object->arguments);
	object->arguments = NULL;
	object->argument_count = count;
	if (count == 0)
		return;
	object->arguments = fxt_resize(NULL, count, sizeof(*arguments));
	memcpy(object->arguments, arguments, count * sizeof(*arguments));
}

void fxt_objects_need(struct fxt_objects *o, struct fxt_sections *s, enum fxt_object_type type, uint64_t koid)
{
	struct fxt_objects_item *object, found;

	if (koid == 0)
		return;
	object = objects_find(o, type, koid);
	found = *object;
	object->is_needed = true;
	if (found.is_needed || !found.described)
		return;
	if (type == FXT_OBJECT_THREAD)
		fxt_objects_need(o, s, FXT_OBJECT_PROCESS, found.process);
	/* A track of a track would make this recurse deeply. No recorder writes such
	 * tracks, so they are skipped. */
	if (found.row_of && !objects_find(o, type, found.row_of)->row_of)
		fxt_objects_need(o, s, type, found.row_of);
	objects_put(s, &found);
}

uint32_t fxt_objects_row(struct fxt_objects *o, uint64_t koid)
{
	const struct fxt_objects_item *object = objects_find(o, FXT_OBJECT_THREAD, koid);

	return object->row_of ? (uint32_t)(object - o->items) + 1 : 0;
}

uint64_t fxt_objects_row_koid(const struct fxt_objects *o, uint32_t row)
{
	return o->items[row - 1].koid;
}

void fxt_objects_add(struct fxt_objects *o, struct fxt_sections *s, const struct fxt_view *view)
{
	struct fxt_objects_item *object;
	struct fxt_argument process = {0}, row_of = {0}, arguments[FXT_ARGUMENTS_MAX];

	if (view->type != FXT_RECORD_KERNEL_OBJECT || (view->kernel_object.type != FXT_OBJECT_PROCESS &&
	                                                      view->kernel_object.type != FXT_OBJECT_THREAD))
		return;
	uint32_t name = fxt_tables_string(&s->tables, view->kernel_object.name);
	size_t count = objects_arguments(&s->tables, view, arguments);

	object = objects_find(o, (enum fxt_object_type)view->kernel_object.type, view->kernel_object.koid);
	if (!fxt_tables_argument(&s->tables, view, "process", &process))
		process = (struct fxt_argument){0};
	if (!fxt_tables_argument(&s->tables, view, FXT_ROW_OF, &row_of) || row_of.type != FXT_ARGUMENT_KOID)
		row_of = (struct fxt_argument){0};
	/* Both the program and the scheduler describe an object, and each does so again
	 * after a change of name. */
	if (object->described && object->name == name && object->process == process.value.word &&
	        object->row_of == row_of.value.word && object->argument_count == count)
		return;
	objects_keep_arguments(object, arguments, count);
	object->row_of = row_of.value.word;
	object->process = process.value.word;
	object->name = name;
	object->described = s->tables.provider;
	if (object->is_needed)
		objects_put(s, object);
}

void fxt_objects_free(struct fxt_objects *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->items[i].arguments);
	free(o->items);
	fxt_index_free(&o->index);
}
