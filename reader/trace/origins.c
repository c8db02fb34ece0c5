#include "origins.h"

#include <stdlib.h>

enum { ORIGINS_OF_A_NAME = 16 }; /* kept */

static uint32_t origins_string_argument(struct fxt_tables *t, const struct fxt_view *view, const char *name)
{
	struct fxt_argument argument;

	if (!fxt_tables_argument(t, view, name, &argument) || argument.type != FXT_ARGUMENT_STRING)
		return FXT_NOTHING;
	return fxt_tables_string(t, argument.value.string);
}

static void origins_put(struct fxt_origins *origins, const struct fxt_origin *origin)
{
	unsigned known = 1;

	/* Every process of a program reports the same origin, and a function's identity
	 * says the module before its place in the source is known. */
	for (const struct fxt_origin *o = NULL; (o = fxt_origins_next(origins, origin->name, o)); known++) {
		struct fxt_origin *there = &origins->items[o - origins->items];

		if (o->module == origin->module && o->file == FXT_NOTHING)
			*there = *origin;
		if ((o->module == origin->module && origin->file == FXT_NOTHING) ||
		        (o->module == origin->module && o->file == origin->file && o->line == origin->line) ||
		        known == ORIGINS_OF_A_NAME)
			return;
	}
	fxt_index_add(&origins->index, fxt_hash_word(origin->name), (uint32_t)origins->count);
	fxt_make_room(origins->items, origins->count, origins->room);
	origins->items[origins->count++] = *origin;
}

void fxt_origins_add(struct fxt_origins *origins, struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_argument line, offset;

	if (!fxt_view_has_text(view))
		return;
	struct fxt_origin origin = {
	        .name = fxt_tables_described(t, view),
	        .module = origins_string_argument(t, view, "module"),
	        .file = origins_string_argument(t, view, "file"),
	};

	if (fxt_tables_argument(t, view, "line", &line) && line.type == FXT_ARGUMENT_UINT32)
		origin.line = (uint32_t)line.value.word;
	if (fxt_tables_argument(t, view, "offset", &offset) && offset.type == FXT_ARGUMENT_UINT64)
		origin.offset = offset.value.word;
	struct fxt_identity *identity = fxt_tables_identity(t, origin.name);

	if (identity && identity->file == FXT_NOTHING)
		identity->file = origin.file;
	if (origin.name == FXT_NOTHING || (origin.module == FXT_NOTHING && origin.file == FXT_NOTHING))
		return;
	origins_put(origins, &origin);
}

const struct fxt_origin *fxt_origins_next(
        const struct fxt_origins *origins, uint32_t name, const struct fxt_origin *before)
{
	size_t first = before ? (size_t)(before - origins->items) + 1 : 0, next = origins->count;

	/* Growth of the index may have changed the order of the entries of a name. */
	for (struct fxt_probe probe = fxt_probe(&origins->index, fxt_hash_word(name));
	        fxt_probe_next(&origins->index, &probe);)
		if (probe.id >= first && probe.id < next && origins->items[probe.id].name == name)
			next = probe.id;
	return next < origins->count ? &origins->items[next] : NULL;
}

void fxt_origins_identify(struct fxt_origins *origins, const struct fxt_tables *t)
{
	for (struct fxt_origin *o = origins->items; o < origins->items + origins->count; o++) {
		struct fxt_identity *identity = fxt_tables_find_identity(t, o->name, o->module, o->offset);

		if (!identity)
			continue;
		o->name = identity->id;
		if (identity->file == FXT_NOTHING)
			identity->file = o->file;
	}
}

void fxt_origins_settle(struct fxt_origins *origins, const struct fxt_tables *t)
{
	struct fxt_origins settled = {0};

	for (size_t i = 0; i < origins->count; i++) {
		origins->items[i].name = fxt_tables_settled(t, origins->items[i].name);
		origins_put(&settled, &origins->items[i]);
	}
	fxt_origins_free(origins);
	*origins = settled;
}

void fxt_origins_free(struct fxt_origins *origins)
{
	free(origins->items);
	fxt_index_free(&origins->index);
	*origins = (struct fxt_origins){0};
}
