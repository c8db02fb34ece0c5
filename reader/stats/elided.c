#include "elided.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader/trace/text.h"

static bool elided_number(struct fxt_tables *t, const struct fxt_view *view, const char *name,
        enum fxt_argument_type type, uint64_t *number)
{
	struct fxt_argument argument;

	if (!fxt_tables_argument(t, view, name, &argument) || argument.type != type)
		return false;
	*number = argument.value.word;
	return true;
}

/* The same for a time, in units of the scan. */
static bool elided_time(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, bool in_ticks, uint64_t *time)
{
	if (!elided_number(t, view, name, FXT_ARGUMENT_UINT64, time))
		return false;
	if (!in_ticks)
		*time = fxt_provider_ns(t->provider, *time);
	return true;
}

static bool elided_signed_time(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, bool in_ticks, int64_t *time)
{
	uint64_t word;

	if (!elided_number(t, view, name, FXT_ARGUMENT_INT64, &word))
		return false;
	*time = (int64_t)word;
	if (!in_ticks && *time < 0)
		*time = (int64_t)(0 - fxt_provider_ns(t->provider, 0 - word));
	else if (!in_ticks)
		*time = (int64_t)fxt_provider_ns(t->provider, word);
	return true;
}

static void elided_note_name(struct fxt_elided_sums *elided_sums, uint32_t name)
{
	uint32_t hash = fxt_hash_word(name);

	for (struct fxt_probe probe = fxt_probe(&elided_sums->name_index, hash);
	        fxt_probe_next(&elided_sums->name_index, &probe);)
		if (elided_sums->names[probe.id] == name)
			return;
	fxt_index_add(&elided_sums->name_index, hash, (uint32_t)elided_sums->name_count);
	fxt_make_room(elided_sums->names, elided_sums->name_count, elided_sums->name_room);
	elided_sums->names[elided_sums->name_count++] = name;
}

void fxt_elided_sums_add(
        struct fxt_elided_sums *elided_sums, struct fxt_tables *t, const struct fxt_view *view, bool in_ticks)
{
	struct fxt_elided_calls calls = {.thread = fxt_tables_thread(t, view->event.thread)};
	struct fxt_argument function;

	if (!fxt_tables_argument(t, view, "function", &function) || function.type != FXT_ARGUMENT_STRING ||
	        !elided_number(t, view, "calls", FXT_ARGUMENT_UINT64, &calls.calls) ||
	        !elided_time(t, view, "total_ticks", in_ticks, &calls.total) ||
	        !elided_time(t, view, "sum_ticks", in_ticks, &calls.sum) ||
	        !elided_signed_time(t, view, "self_ticks", in_ticks, &calls.self) ||
	        !elided_time(t, view, "own_ticks", in_ticks, &calls.own) ||
	        !elided_time(t, view, "longest_ticks", in_ticks, &calls.longest) ||
	        !elided_time(t, view, "shortest_ticks", in_ticks, &calls.shortest))
		return;
	calls.name = fxt_tables_string(t, function.value.string);
	if (calls.calls)
		elided_note_name(elided_sums, calls.name);
	elided_sums->calls += calls.calls;
	elided_sums->own += calls.own;
	fxt_make_room(elided_sums->items, elided_sums->count, elided_sums->room);
	elided_sums->items[elided_sums->count++] = calls;
}

struct fxt_elided_sums_text fxt_elided_sums_text(const struct fxt_elided_sums *elided_sums, uint64_t own_ns)
{
	struct fxt_elided_sums_text text;

	snprintf(text.text, sizeof(text.text), "elided: %" PRIu64 " call%s of %zu function%s, %s",
	        elided_sums->calls, fxt_plural(elided_sums->calls), elided_sums->name_count,
	        fxt_plural(elided_sums->name_count), fxt_time_text((double)own_ns).text);
	return text;
}

void fxt_elided_sums_settle(struct fxt_elided_sums *elided_sums, const struct fxt_tables *t)
{
	if (!t->settled)
		return;
	elided_sums->name_count = 0;
	fxt_index_free(&elided_sums->name_index);
	for (size_t i = 0; i < elided_sums->count; i++) {
		struct fxt_elided_calls *calls = &elided_sums->items[i];

		calls->name = fxt_tables_settled(t, calls->name);
		if (calls->calls)
			elided_note_name(elided_sums, calls->name);
	}
}

void fxt_elided_sums_free(struct fxt_elided_sums *elided_sums)
{
	free(elided_sums->items);
	free(elided_sums->names);
	fxt_index_free(&elided_sums->name_index);
	*elided_sums = (struct fxt_elided_sums){0};
}
