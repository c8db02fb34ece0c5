#include "faults.h"
#include "writer/shared/search.h"

struct fault {
	uint64_t ns;
	uint64_t order; /* unique */
	uint32_t thread;
};

void fxt_faults_init(struct fxt_faults *f)
{
	*f = (struct fxt_faults){0};
	fxt_spill_init(&f->faults, sizeof(struct fault), FXT_SPILL_MEMORY_BYTES);
}

void fxt_faults_free(struct fxt_faults *f)
{
	fxt_spill_free(&f->faults);
}

void fxt_faults_clear(struct fxt_faults *f)
{
	fxt_faults_free(f);
	fxt_faults_init(f);
}

bool fxt_is_of_faults(struct fxt_tables *t, const struct fxt_view *view)
{
	return view->type == FXT_RECORD_EVENT && view->event.type == FXT_EVENT_INSTANT &&
	       fxt_span_is(fxt_tables_text(t, view->event.category), FXT_FAULT_CATEGORY);
}

void fxt_faults_record(struct fxt_faults *f, struct fxt_tables *t, const struct fxt_view *view)
{
	if (!fxt_is_of_faults(t, view))
		return;
	struct fxt_span name = fxt_tables_text(t, view->event.name);

	f->has_missing |= fxt_span_is(name, FXT_FAULTS_MISSING_EVENT);
	if (fxt_span_is(name, FXT_FAULT_EVENT))
		fxt_spill_add(&f->faults, &(struct fault){fxt_provider_ns(t->provider, view->event.ticks),
		                                  f->faults.count, fxt_tables_thread(t, view->event.thread)});
}

static int faults_by_thread_and_time(const void *left, const void *right)
{
	const struct fault *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

void fxt_faults_finish(struct fxt_faults *f)
{
	fxt_spill_sort(&f->faults, faults_by_thread_and_time);
	fxt_spill_begin_items(&f->faults);
}

/* True if the fault at `place` comes before a moment of a thread. */
static bool faults_is_before(const struct fxt_faults *f, uint64_t place, uint32_t thread, uint64_t moment)
{
	const struct fault *fault = fxt_spill_item(&f->faults, place);

	return fault->thread < thread || (fault->thread == thread && fault->ns < moment);
}

uint64_t fxt_faults_at(const struct fxt_faults *f, uint32_t thread, uint64_t moment)
{
	return partition_point(i, f->faults.count, faults_is_before(f, i, thread, moment));
}

uint64_t fxt_faults_back_to(const struct fxt_faults *f, uint64_t place, uint32_t thread, uint64_t moment)
{
	while (place > 0 && !faults_is_before(f, place - 1, thread, moment))
		place--;
	return place;
}
