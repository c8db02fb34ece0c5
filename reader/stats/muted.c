#include "muted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader/trace/text.h"

struct fxt_muted_function *fxt_muted_find(const struct fxt_muted *muted, uint32_t name)
{
	for (struct fxt_probe probe = fxt_probe(&muted->by_name, fxt_hash_word(name));
	        fxt_probe_next(&muted->by_name, &probe);)
		if (muted->items[probe.id].name == name)
			return &muted->items[probe.id];
	return NULL;
}

static void muted_put(struct fxt_muted *muted, const struct fxt_muted_function *more)
{
	struct fxt_muted_function *f = fxt_muted_find(muted, more->name);

	if (!f) {
		fxt_index_add(&muted->by_name, fxt_hash_word(more->name), (uint32_t)muted->count);
		fxt_make_room(muted->items, muted->count, muted->room);
		f = &muted->items[muted->count++];
		*f = (struct fxt_muted_function){.name = more->name, .since = more->since};
	}
	f->since = more->since < f->since ? more->since : f->since;
	f->calls += more->calls;
}

void fxt_muted_add(struct fxt_muted *muted, struct fxt_tables *t, const struct fxt_view *view, uint64_t time)
{
	struct fxt_argument function, calls;

	if (!fxt_tables_argument(t, view, "function", &function) || function.type != FXT_ARGUMENT_STRING ||
	        !fxt_tables_argument(t, view, "calls", &calls) || calls.type != FXT_ARGUMENT_UINT64)
		return;
	muted_put(muted, &(struct fxt_muted_function){.name = fxt_tables_string(t, function.value.string),
	                         .since = time,
	                         .calls = calls.value.word});
}

void fxt_muted_settle(struct fxt_muted *muted, const struct fxt_tables *t)
{
	struct fxt_muted settled = {0};

	if (!t->settled)
		return;
	for (size_t i = 0; i < muted->count; i++) {
		muted->items[i].name = fxt_tables_settled(t, muted->items[i].name);
		muted_put(&settled, &muted->items[i]);
	}
	fxt_muted_free(muted);
	*muted = settled;
}

struct fxt_muted_text fxt_muted_text(const struct fxt_muted_function *f, uint64_t since_ns)
{
	struct fxt_muted_text text;

	snprintf(text.text, sizeof(text.text), " since %s: %" PRIu64 " call%s until then",
	        fxt_time_text((double)since_ns).text, f->calls, fxt_plural(f->calls));
	return text;
}

void fxt_muted_free(struct fxt_muted *muted)
{
	free(muted->items);
	fxt_index_free(&muted->by_name);
	*muted = (struct fxt_muted){0};
}
