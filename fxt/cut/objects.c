#include "objects.h"

#include <stdlib.h>
#include "reader/utf8.h"
#include "writer/encode.h"

struct fxt_objects_item {
	uint64_t koid, process;
	enum fxt_object_type type;
	uint32_t name;                               /* id of a string */
	const struct fxt_provider_tables *described; /* by whom; NULL: by nobody so far */
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

/* Its text is inline, for who described it may have given the index to another one since. */
static void objects_put(struct fxt_sections *s, const struct fxt_objects_item *object)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	struct fxt_span name = s->tables.strings[object->name];
	struct fxt_argument process =
	        fxt_argument_koid(fxt_string_inline("process", strlen("process")), object->process);
	size_t words = fxt_put_kernel_object(record, FXT_RECORD_MAX_WORDS, object->type, object->koid,
	        fxt_string_inline(name.data, fxt_utf8_cut(name.data, name.bytes, FXT_STRING_MAX_BYTES)),
	        &process, object->type == FXT_OBJECT_THREAD);

	fxt_sections_put(s, object->described, record, words);
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
	objects_put(s, &found);
}

void fxt_objects_see(struct fxt_objects *o, struct fxt_sections *s, const struct fxt_view *view)
{
	struct fxt_objects_item *object;
	struct fxt_argument process = {0};

	if (view->type != FXT_RECORD_KERNEL_OBJECT || (view->kernel_object.type != FXT_OBJECT_PROCESS &&
	                                                      view->kernel_object.type != FXT_OBJECT_THREAD))
		return;
	uint32_t name = fxt_tables_string(&s->tables, view->kernel_object.name);

	object = objects_find(o, (enum fxt_object_type)view->kernel_object.type, view->kernel_object.koid);
	fxt_tables_argument(&s->tables, view, "process", &process);
	/* Both the program and the scheduler tell of it, and each again under a new name. */
	if (object->described && object->name == name && object->process == process.value.word)
		return;
	object->process = process.value.word;
	object->name = name;
	object->described = s->tables.provider;
	if (object->is_needed)
		objects_put(s, object);
}

void fxt_objects_free(struct fxt_objects *o)
{
	free(o->items);
	fxt_index_free(&o->index);
}
