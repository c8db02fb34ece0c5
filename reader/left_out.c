#include "left_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "text.h"

static bool left_out_number(struct fxt_tables *t, const struct fxt_view *view, const char *name,
        enum fxt_argument_type type, uint64_t *number)
{
	struct fxt_argument argument;

	if (!fxt_tables_argument(t, view, name, &argument) || argument.type != type)
		return false;
	*number = argument.value.word;
	return true;
}

/* The same, a time in units of the scan. */
static bool left_out_time(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, bool in_ticks, uint64_t *time)
{
	if (!left_out_number(t, view, name, FXT_ARGUMENT_UINT64, time))
		return false;
	if (!in_ticks)
		*time = fxt_provider_ns(t->provider, *time);
	return true;
}

static bool left_out_signed_time(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, bool in_ticks, int64_t *time)
{
	uint64_t word;

	if (!left_out_number(t, view, name, FXT_ARGUMENT_INT64, &word))
		return false;
	*time = (int64_t)word;
	if (!in_ticks && *time < 0)
		*time = (int64_t)(0 - fxt_provider_ns(t->provider, 0 - word));
	else if (!in_ticks)
		*time = (int64_t)fxt_provider_ns(t->provider, word);
	return true;
}

static void left_out_note_name(struct fxt_left_outs *left_outs, uint32_t name)
{
	uint32_t hash = fxt_hash_word(name);

	for (struct fxt_probe probe = fxt_probe(&left_outs->name_index, hash);
	        fxt_probe_next(&left_outs->name_index, &probe);)
		if (left_outs->names[probe.id] == name)
			return;
	fxt_index_add(&left_outs->name_index, hash, (uint32_t)left_outs->name_count);
	fxt_make_room(left_outs->names, left_outs->name_count, left_outs->name_room);
	left_outs->names[left_outs->name_count++] = name;
}

void fxt_left_outs_see(
        struct fxt_left_outs *left_outs, struct fxt_tables *t, const struct fxt_view *view, bool in_ticks)
{
	struct fxt_left_out_calls calls = {.thread = fxt_tables_thread(t, view->event.thread)};
	struct fxt_argument function;

	if (!fxt_tables_argument(t, view, "function", &function) || function.type != FXT_ARGUMENT_STRING ||
	        !left_out_number(t, view, "calls", FXT_ARGUMENT_UINT64, &calls.calls) ||
	        !left_out_time(t, view, "total_ticks", in_ticks, &calls.total) ||
	        !left_out_time(t, view, "sum_ticks", in_ticks, &calls.sum) ||
	        !left_out_signed_time(t, view, "self_ticks", in_ticks, &calls.self) ||
	        !left_out_time(t, view, "own_ticks", in_ticks, &calls.own) ||
	        !left_out_time(t, view, "longest_ticks", in_ticks, &calls.longest) ||
	        !left_out_time(t, view, "shortest_ticks", in_ticks, &calls.shortest))
		return;
	calls.name = fxt_tables_string(t, function.value.string);
	if (calls.calls)
		left_out_note_name(left_outs, calls.name);
	left_outs->calls += calls.calls;
	left_outs->own += calls.own;
	fxt_make_room(left_outs->items, left_outs->count, left_outs->room);
	left_outs->items[left_outs->count++] = calls;
}

struct fxt_left_outs_text fxt_left_outs_text(const struct fxt_left_outs *left_outs, uint64_t own_ns)
{
	struct fxt_left_outs_text text;

	snprintf(text.text, sizeof(text.text), "left out: %" PRIu64 " call%s of %zu function%s, %s",
	        left_outs->calls, fxt_plural(left_outs->calls), left_outs->name_count,
	        fxt_plural(left_outs->name_count), fxt_time_text((double)own_ns).text);
	return text;
}

void fxt_left_outs_free(struct fxt_left_outs *left_outs)
{
	free(left_outs->items);
	free(left_outs->names);
	fxt_index_free(&left_outs->name_index);
	*left_outs = (struct fxt_left_outs){0};
}
