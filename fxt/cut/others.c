/*
 * Decides on the records that a walk over slices does not show: other events, ends of
 * slices, losses, and heap records. Runs on the main thread, in one forward pass. It must
 * not decide on plain calls, which keep.c has decided on before.
 */
#include "others.h"

#include <stdlib.h>
#include "before.h"
#include "links.h"
#include "needs.h"
#include "reader/trace/fields.h"
#include "perfetto/function_track.h"
#include "perfetto/heap_profile.h"
#include "perfetto/open_calls.h"
#include "reader/trace/marks.h"
#include "writer/format/muted.h"

/* Ids of strings. */
struct others_names {
	uint32_t tracer, heap, cost, muted, recorded, allocate, free;
};

struct others_losses {
	uint64_t seen, kept;
};

/* The report that a provider's buffer was full. */
struct others_full {
	uint64_t provider, offset;
};

struct others {
	struct fxt_keep *k;
	struct fxt_tables tables;
	struct others_names names;
	struct fxt_links links;
	struct fxt_before before;
	struct fxt_marks marks;       /* begins and ends of slices */
	struct others_losses *losses; /* by provider */
	size_t loss_count;
	struct fxt_spill full;
	uint64_t *pointees; /* offsets of kept objects whose own pointers were not followed yet */
	size_t pointee_count, pointee_room;
	bool is_following;
	uint64_t object_offset, object_pointer; /* of the last object that was read and
	                                           belongs to a heap */
};

/* Keeps the ends of kept slices. */
static void others_keep_end(void *context, const struct fxt_slice *begin, const struct fxt_slice *end)
{
	struct fxt_keep *k = context;

	if (begin && end && fxt_keep_has(k, begin->offset / 8))
		fxt_keep_add(k, end->offset);
}

static void others_on_loss(struct others *s, const struct fxt_view *view, bool is_kept)
{
	struct fxt_loss_event loss;

	if (!fxt_tables_loss(&s->tables, view, &loss) || loss.is_overwritten)
		return;
	fxt_make_zeroed(s->losses, s->loss_count, s->tables.provider->number);
	s->losses[s->tables.provider->number].seen++;
	s->losses[s->tables.provider->number].kept += is_kept;
}

/* Decides on a heap event. The object of an allocated block stands directly before it. */
static bool others_heap(struct others *s, const struct fxt_view *view, uint64_t offset, uint64_t process)
{
	struct fxt_tables *t = &s->tables;
	uint64_t time = fxt_keep_time(s->k, t, view->event.ticks);
	uint32_t name = fxt_tables_string(t, view->event.name);
	bool is_kept = fxt_filter_has_time(s->k->filter, time);
	struct fxt_argument pointer;

	if (!fxt_keep_has_process(s->k, process))
		return false;
	if ((name != s->names.allocate && name != s->names.free) ||
	        !fxt_tables_argument(t, view, "pointer", &pointer))
		return is_kept || name == s->names.recorded;
	bool has_object = s->object_offset && s->object_pointer == pointer.value.word;

	if (time < s->k->filter->from) {
		struct fxt_block_event event = {.provider = t->provider->number,
		        .pointer = pointer.value.word,
		        .time = time,
		        .event = offset,
		        .object = has_object ? s->object_offset : offset,
		        .is_free = name == s->names.free};

		fxt_before_on_block(&s->before, &event);
	} else if (is_kept && has_object && name == s->names.allocate) {
		fxt_keep_add(s->k, s->object_offset);
	}
	return is_kept;
}

static bool others_event(struct others *s, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_tables *t = &s->tables;
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	uint32_t category = fxt_tables_string(t, view->event.category);
	uint64_t time = fxt_keep_time(s->k, t, view->event.ticks);
	bool has_thread = fxt_keep_has_thread(s->k, t->threads[thread]);
	bool is_kept = has_thread && fxt_filter_has_time(s->k->filter, time);

	switch (view->event.type) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		fxt_marks_add(&s->marks, &(struct fxt_slice){.start = time,
		                                 .offset = offset,
		                                 .thread = thread,
		                                 .is_open = view->event.type == FXT_EVENT_DURATION_BEGIN});
		return false;
	case FXT_EVENT_DURATION_COMPLETE:
		is_kept = fxt_keep_has(s->k, offset / 8);
		if (category == s->names.tracer)
			others_on_loss(s, view, is_kept);
		return is_kept;
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_END:
		fxt_links_add(&s->links, s->k, t, view, offset, has_thread && time < s->k->filter->to);
		return false;
	case FXT_EVENT_FLOW_BEGIN:
	case FXT_EVENT_FLOW_STEP:
	case FXT_EVENT_FLOW_END:
		fxt_links_add(&s->links, s->k, t, view, offset, is_kept);
		return false;
	case FXT_EVENT_INSTANT:
		if (fxt_open_calls_are_over(t, view)) /* the record may be on any thread
		                                         of the process */
			return fxt_keep_has_process(s->k, t->threads[thread].process) &&
			       fxt_filter_has_time(s->k->filter, time);
		if (category == s->names.tracer) {
			uint32_t name = fxt_tables_string(t, view->event.name);

			is_kept |= name == s->names.cost || name == s->names.muted;
			others_on_loss(s, view, is_kept);
		}
		return category == s->names.heap ? others_heap(s, view, offset, t->threads[thread].process)
		                                 : is_kept;
	default:
		return is_kept;
	}
}

/* In two steps, because looking up a thread may reallocate the table. */
static struct fxt_koids others_koids(struct fxt_tables *t, struct fxt_thread thread)
{
	uint32_t id = fxt_tables_thread(t, thread);

	return t->threads[id];
}

static bool others_scheduling(struct others *s, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_tables *t = &s->tables;
	bool is_legacy = view->scheduling.type == FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH;
	uint64_t time = fxt_keep_time(s->k, t, view->scheduling.ticks), koids[2];

	koids[0] = view->scheduling.outgoing.thread;
	koids[1] = view->scheduling.incoming.thread;
	if (is_legacy) {
		koids[0] = others_koids(t, view->scheduling.outgoing).thread;
		koids[1] = others_koids(t, view->scheduling.incoming).thread;
	}
	bool has_thread = false;

	for (unsigned i = view->scheduling.type == FXT_SCHEDULING_THREAD_WAKEUP; i < 2; i++) {
		if (koids[i] == 0 || !fxt_keep_has_koid(s->k, koids[i]))
			continue;
		has_thread = true;
		if (time < s->k->filter->from)
			fxt_before_on_switch(&s->before, koids[i],
			        view->scheduling.type == FXT_SCHEDULING_THREAD_WAKEUP, time, offset);
	}
	return has_thread && fxt_filter_has_time(s->k->filter, time);
}

struct others_any {
	struct others *s;
	bool is_kept;
};

static void others_any_field(void *context, const struct fxt_field_value *field)
{
	struct others_any *any = context;
	struct fxt_keep *k = any->s->k;
	struct fxt_tables *t = &any->s->tables;
	uint64_t process;

	switch (field->rule->type) {
	case FXT_FIELD_TICKS:
		any->is_kept &= fxt_filter_has_time(k->filter, fxt_keep_time(k, t, field->number));
		break;
	case FXT_FIELD_THREAD:
		any->is_kept &= fxt_keep_has_thread(k, others_koids(t, field->thread));
		break;
	case FXT_FIELD_PROCESS:
		process = field->thread.ref > 0 ? others_koids(t, field->thread).process
		                                : field->thread.process;
		any->is_kept &= fxt_keep_has_process(k, process);
		break;
	case FXT_FIELD_PROCESS_KOID:
		any->is_kept &= fxt_keep_has_process(k, field->number);
		break;
	case FXT_FIELD_THREAD_KOID:
		any->is_kept &= fxt_keep_has_koid(k, field->number);
		break;
	default:
		break;
	}
}

/* Decides on a record that has no rule of its own: it is kept with its threads, processes
 * and times, and always if it has none. */
static bool others_any(struct others *s, const struct fxt_record *r)
{
	struct others_any any = {s, true};

	fxt_visit_fields(r, FXT_FIELDS_ALL, others_any_field, &any);
	return any.is_kept;
}

/* Decides on an object. Blocks of a heap are kept with their allocation, and with events
 * that point to them. Places of functions and nodes of call paths are written when a kept
 * record needs them. */
static bool others_object(struct others *s, const struct fxt_record *r, const struct fxt_view *view)
{
	struct fxt_tables *t = &s->tables;

	if (fxt_tables_is_block(t, view)) {
		s->object_offset = r->offset;
		s->object_pointer = view->userspace_object.pointer;
		return false;
	}
	return !(view->userspace_object.pointer >> 63) && !fxt_needs_is_function(t, view) && others_any(s, r);
}

static bool others_blob(struct others *s, const struct fxt_view *view)
{
	struct fxt_span name = fxt_inline_text(view->blob.name);

	s->k->has_profiles |= fxt_span_is(name, FXT_HEAP_PROFILE_BLOB);
	return !fxt_span_is(name, FXT_HEAP_PROFILE_BLOB) && !fxt_span_is(name, FXT_FUNCTION_TRACK_BLOB) &&
	       !fxt_span_is(name, FXT_OPEN_CALLS_BLOB) && !fxt_span_is(name, FXT_CUT_BLOB);
}

/* Live blocks belong to the process, so the thread of the record does not matter. */
static bool others_large_blob(struct others *s, const struct fxt_record *r, const struct fxt_view *view)
{
	struct fxt_tables *t = &s->tables;
	struct fxt_view counters;

	if (fxt_view_heap_counters(view, &counters))
		return fxt_keep_has_process(s->k, others_koids(t, counters.event.thread).process) &&
		       fxt_filter_has_time(s->k->filter, fxt_keep_time(s->k, t, counters.event.ticks));
	return others_any(s, r);
}

/* Keeps the objects that a kept record's pointers mean, and those that these point to. */
static void others_keep_pointees(
        struct others *s, const struct fxt_archive *archive, uint64_t process, const struct fxt_view *view)
{
	struct fxt_arguments arguments = view->arguments;
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument)) {
		const struct fxt_label *label =
		        argument.type == FXT_ARGUMENT_POINTER
		                ? fxt_labels_find_pointer(&s->tables.labels, process, argument.value.word)
		                : NULL;

		if (!label || fxt_keep_has(s->k, label->offset / 8))
			continue;
		fxt_keep_add(s->k, label->offset);
		fxt_make_room(s->pointees, s->pointee_count, s->pointee_room);
		s->pointees[s->pointee_count++] = label->offset;
	}
	if (s->is_following)
		return;
	/* in a list, because objects may form a chain of any length */
	for (s->is_following = true; s->pointee_count > 0;) {
		const uint64_t *words = archive->words + s->pointees[--s->pointee_count] / 8;
		const struct fxt_record r = {.words = words, .size = fxt_record_words(*words)};
		struct fxt_view pointee;

		if (fxt_decode(&r, &pointee) == NULL)
			others_keep_pointees(s, archive, process, &pointee);
	}
	s->is_following = false;
}

/* Flows and async events are decided on later, as a whole. */
static bool others_is_link(const struct fxt_view *view)
{
	return view->event.type >= FXT_EVENT_ASYNC_BEGIN && view->event.type <= FXT_EVENT_FLOW_END;
}

static void others_point(struct others *s, const struct fxt_archive *archive, const struct fxt_record *r,
        const struct fxt_view *view)
{
	struct fxt_thread thread =
	        view->type == FXT_RECORD_EVENT ? view->event.thread : view->userspace_object.process;
	uint32_t id = thread.ref ? fxt_provider_thread(s->tables.provider, thread.ref) : FXT_NOTHING;
	uint64_t process = thread.ref ? s->tables.threads[id].process : thread.process;

	if (fxt_keep_has(s->k, r->offset / 8) || (view->type == FXT_RECORD_EVENT && others_is_link(view)))
		others_keep_pointees(s, archive, process, view);
}

/* Decides on a record that is no plain call. Records that the tables take over are left
 * to write.c. */
static bool others_record(struct others *s, const struct fxt_record *r, const struct fxt_view *view)
{
	struct others_full full = {.offset = r->offset};

	switch (view->type) {
	case FXT_RECORD_METADATA:
		if (view->metadata.type == FXT_METADATA_PROVIDER_EVENT) {
			struct fxt_provider_tables *p =
			        fxt_tables_provider(&s->tables, view->metadata.provider);

			full.provider = p ? p->number : 0;
			fxt_spill_add(&s->full, &full);
		}
		return false;
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_STRING:
	case FXT_RECORD_THREAD:
		return false;
	case FXT_RECORD_EVENT:
		return others_event(s, view, r->offset);
	case FXT_RECORD_BLOB:
		return others_blob(s, view);
	case FXT_RECORD_USERSPACE_OBJECT:
		return others_object(s, r, view);
	case FXT_RECORD_KERNEL_OBJECT:
		return view->kernel_object.type != FXT_OBJECT_PROCESS &&
		       view->kernel_object.type != FXT_OBJECT_THREAD;
	case FXT_RECORD_SCHEDULING:
		return others_scheduling(s, view, r->offset);
	case FXT_RECORD_LOG:
		return !fxt_begins_with(view->log.text, "{{{") && others_any(s, r);
	case FXT_RECORD_LARGE:
		return others_large_blob(s, r, view);
	default:
		return others_any(s, r);
	}
}

/* Keeps a "buffer full" event if the losses around it are kept, or if nothing else
 * reports them. */
static void others_full_buffers(struct others *s)
{
	for (uint64_t i = 0; i < s->full.count; i++) {
		struct others_full full;

		fxt_spill_read(&s->full, i, 1, &full);
		struct others_losses none = {0},
		                     *of = full.provider < s->loss_count ? &s->losses[full.provider] : &none;

		if (of->kept > 0 || of->seen == 0)
			fxt_keep_add(s->k, full.offset);
	}
}

void fxt_keep_others(struct fxt_keep *k, const struct fxt_archive *archive)
{
	struct others s = {.k = k};
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_record r;
	struct fxt_view view;

	fxt_tables_init(&s.tables);
	s.names = (struct others_names){.tracer = fxt_tables_intern(&s.tables, fxt_span("fxt")),
	        .heap = fxt_tables_intern(&s.tables, fxt_span("heap")),
	        .cost = fxt_tables_intern(&s.tables, fxt_span(FXT_CALL_COST_EVENT)),
	        .muted = fxt_tables_intern(&s.tables, fxt_span(FXT_MUTED_EVENT)),
	        .recorded = fxt_tables_intern(&s.tables, fxt_span("recorded")),
	        .allocate = fxt_tables_intern(&s.tables, fxt_span("allocate")),
	        .free = fxt_tables_intern(&s.tables, fxt_span("free"))};
	fxt_links_init(&s.links);
	fxt_marks_init(&s.marks, FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&s.full, sizeof(struct others_full), FXT_SPILL_MEMORY_BYTES);
	while (fxt_next(&cursor, &r)) {
		if (fxt_is_plain_call(r.words[0]) || fxt_decode(&r, &view) != NULL)
			continue;
		s.tables.offset = r.offset;
		fxt_tables_apply(&s.tables, &view);
		bool is_kept = others_record(&s, &r, &view);

		if (view.type != FXT_RECORD_USERSPACE_OBJECT)
			s.object_offset = 0;
		if (is_kept)
			fxt_keep_add(k, r.offset);
		if (view.arguments.left > 0 &&
		        (view.type == FXT_RECORD_EVENT || view.type == FXT_RECORD_USERSPACE_OBJECT))
			others_point(&s, archive, &r, &view);
	}
	fxt_marks_pair(&s.marks, others_keep_end, k);
	fxt_marks_free(&s.marks);
	fxt_links_keep(&s.links, k);
	fxt_before_keep(&s.before, k);
	others_full_buffers(&s);
	fxt_spill_free(&s.full);
	free(s.losses);
	free(s.pointees);
	fxt_tables_free(&s.tables);
}
