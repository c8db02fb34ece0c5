#include "wait_files.h"
#include "timeline.h"
#include "waits.h"
#include "writer/shared/search.h"

void fxt_wait_files_record(struct fxt_spill *files, struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_wait_file one = {.ns = fxt_provider_ns(t->provider, view->event.ticks)};
	struct fxt_argument argument;

	if (view->event.type != FXT_EVENT_INSTANT ||
	        !fxt_span_is(fxt_tables_text(t, view->event.name), FXT_DESCRIPTOR_EVENT))
		return;
	one.owner = fxt_tables_thread(t, view->event.thread);
	if (fxt_tables_argument(t, view, FXT_BLOCKED_FD, &argument) && argument.type == FXT_ARGUMENT_INT32) {
		one.object = (uint32_t)argument.value.word + UINT64_C(1);
		one.owner = t->threads[one.owner].process;
	}
	if (!fxt_tables_argument(t, view, FXT_BLOCKED_FILE, &argument) ||
	        argument.type != FXT_ARGUMENT_STRING)
		return;
	one.file = fxt_tables_string(t, argument.value.string);
	fxt_spill_add(files, &one);
}

static int files_compare(const void *left, const void *right)
{
	const struct fxt_wait_file *a = left, *b = right;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The file of the instant at `place`; FXT_NOTHING: it is about another descriptor. */
static uint32_t files_at(const struct fxt_spill *files, uint64_t place, const struct fxt_wait_file *key)
{
	const struct fxt_wait_file *one = place < files->count ? fxt_spill_item(files, place) : NULL;

	return one && one->owner == key->owner && one->object == key->object ? one->file : FXT_NOTHING;
}

static uint32_t files_of(const struct fxt_spill *files, const struct fxt_wait *wait)
{
	const struct fxt_wait_file key = {
	        wait->object ? wait->process : wait->thread, wait->object, wait->start, FXT_NOTHING};
	uint64_t next = partition_point(i, files->count, files_compare(fxt_spill_item(files, i), &key) < 0);
	uint32_t after = files_at(files, next, &key);

	if (after == FXT_NOTHING ||
	        ((const struct fxt_wait_file *)fxt_spill_item(files, next))->ns <= wait->end)
		return after;
	if (next == 0 || !wait->object || wait->end - wait->start < FXT_BLOCKED_NS)
		return FXT_NOTHING;
	return files_at(files, next - 1, &key) == after ? after : FXT_NOTHING;
}

void fxt_wait_files_join(struct fxt_spill *files, struct fxt_spill *waits)
{
	if (files->count == 0)
		return;
	fxt_spill_sort(files, files_compare);
	fxt_spill_begin_items(files);
	for (uint64_t i = 0; i < waits->count; i++) {
		const struct fxt_wait wait = *(const struct fxt_wait *)fxt_spill_item(waits, i);

		if (wait.kind == FXT_WAIT_DESCRIPTOR && wait.file == FXT_NOTHING)
			((struct fxt_wait *)fxt_spill_change_item(waits, i))->file = files_of(files, &wait);
	}
}
