#include "fields.h"

#include "reader/trace/text.h"

struct fields {
	struct fxt_tables *tables;
	const struct fxt_record *record;
	fxt_merge_visit *visit;
	void *context;
};

/* Visits a reference to a thread, which may be inline in the record. Returns the index
 * after it. */
static size_t fields_thread(const struct fields *f, struct fxt_thread thread, size_t index)
{
	if (thread.ref != 0)
		return index;
	f->visit(f->context, FXT_MERGE_KOID, index);
	f->visit(f->context, FXT_MERGE_KOID, index + 1);
	return index + 2;
}

/* Visits the arguments; the value of an argument is its last word. `koid` is the kind of
 * those that are koids. */
static void fields_arguments(
        const struct fields *f, struct fxt_arguments arguments, enum fxt_merge_field koid)
{
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument)) {
		size_t index = (size_t)(arguments.next - f->record->words) - 1;

		if (argument.type == FXT_ARGUMENT_KOID)
			f->visit(f->context, koid, index);
		else if ((argument.type == FXT_ARGUMENT_UINT64 || argument.type == FXT_ARGUMENT_INT64) &&
		         fxt_ends_with(fxt_tables_text(f->tables, argument.name), "_ticks"))
			f->visit(f->context, FXT_MERGE_DURATION, index);
	}
}

static void fields_event(const struct fields *f, const struct fxt_view *view)
{
	size_t extra = (size_t)(view->end - f->record->words) - 1;

	f->visit(f->context, FXT_MERGE_TIME, 1);
	fields_thread(f, view->event.thread, 2);
	fields_arguments(f, view->arguments, FXT_MERGE_MENTION);
	if (view->event.type == FXT_EVENT_DURATION_COMPLETE)
		f->visit(f->context, FXT_MERGE_TIME, extra);
	else if (view->event.type >= FXT_EVENT_ASYNC_BEGIN && view->event.type <= FXT_EVENT_FLOW_END)
		f->visit(f->context, FXT_MERGE_FLOW, extra);
}

static void fields_scheduling(const struct fields *f, const struct fxt_view *view)
{
	f->visit(f->context, FXT_MERGE_TIME, 1);
	if (view->scheduling.type == FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH) {
		fields_thread(f, view->scheduling.incoming, fields_thread(f, view->scheduling.outgoing, 2));
		return;
	}
	f->visit(f->context, FXT_MERGE_KOID, 2);
	if (view->scheduling.type == FXT_SCHEDULING_CONTEXT_SWITCH)
		f->visit(f->context, FXT_MERGE_KOID, 3);
}

/* The length of a string as read. An inline string may be empty here, although our
 * writer writes none. */
static size_t fields_string_words(struct fxt_string string)
{
	return string.ref & FXT_STRING_INLINE_BIT ? fxt_words(string.ref & ~FXT_STRING_INLINE_BIT) : 0;
}

static void fields_large(const struct fields *f, const struct fxt_view *view)
{
	size_t index = 2 + fields_string_words(view->large_blob.category) +
	               fields_string_words(view->large_blob.name);

	if (view->large_blob.format != FXT_LARGE_BLOB_WITH_METADATA)
		return;
	f->visit(f->context, FXT_MERGE_TIME, index);
	fields_thread(f, view->large_blob.thread, index + 1);
	fields_arguments(f, view->arguments, FXT_MERGE_MENTION);
}

void fxt_merge_fields(struct fxt_tables *tables, const struct fxt_record *record, const struct fxt_view *view,
        fxt_merge_visit *visit, void *context)
{
	const struct fields f = {tables, record, visit, context};

	switch (view->type) {
	case FXT_RECORD_THREAD:
		fields_thread(&f, (struct fxt_thread){0}, 1);
		break;
	case FXT_RECORD_EVENT:
		fields_event(&f, view);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
		if (view->userspace_object.process.ref == 0)
			visit(context, FXT_MERGE_KOID, 2);
		fields_arguments(&f, view->arguments, FXT_MERGE_MENTION);
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		if (view->kernel_object.type == FXT_OBJECT_PROCESS ||
		        view->kernel_object.type == FXT_OBJECT_THREAD)
			visit(context, FXT_MERGE_KOID, 1);
		fields_arguments(&f, view->arguments, FXT_MERGE_KOID);
		break;
	case FXT_RECORD_SCHEDULING:
		fields_scheduling(&f, view);
		break;
	case FXT_RECORD_LOG:
		visit(context, FXT_MERGE_TIME, 1);
		fields_thread(&f, view->log.thread, 2);
		break;
	case FXT_RECORD_LARGE:
		fields_large(&f, view);
		break;
	default:
		break;
	}
}
