#include "fields.h"

#include "reader/trace/fields.h"

struct fields {
	struct fxt_tables *tables;
	const struct fxt_record *record;
	uint64_t *to;
	fxt_merge_visit *visit;
	void *context;
	enum fxt_merge_field koid; /* what an argument is that is a koid */
	bool has_ticks;            /* an argument is a time of the trace */
};

static void fields_visit(const struct fields *f, enum fxt_merge_field field, const uint64_t *at)
{
	uint64_t value = f->visit(f->context, field, *at);

	if (f->to)
		f->to[at - f->record->words] = value;
}

/* Visits the number of a CPU, which is a part of a word. */
static void fields_visit_cpu(const struct fields *f, const struct fxt_field_value *field)
{
	const struct fxt_field_rule *rule = field->rule;
	uint64_t mask = UINT64_MAX >> (64 - rule->bits) << rule->first_bit;
	uint64_t value = f->visit(f->context, FXT_MERGE_CPU, field->number);

	if (f->to)
		f->to[rule->word] = (f->to[rule->word] & ~mask) | (value << rule->first_bit & mask);
}

/* Visits the arguments; the value of an argument is its last word. */
static void fields_arguments(const struct fields *f, struct fxt_arguments arguments)
{
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument)) {
		struct fxt_span name = fxt_tables_text(f->tables, argument.name);

		if (argument.type == FXT_ARGUMENT_KOID)
			fields_visit(f, f->koid, arguments.next - 1);
		else if (argument.type != FXT_ARGUMENT_UINT64 && argument.type != FXT_ARGUMENT_INT64)
			continue;
		else if (fxt_ends_with(name, "_ticks"))
			fields_visit(f, FXT_MERGE_DURATION, arguments.next - 1);
		else if (f->has_ticks && fxt_span_is(name, FXT_MERGE_CLOCK_TICKS))
			fields_visit(f, FXT_MERGE_TIME, arguments.next - 1);
	}
}

static bool fields_is_clock(struct fxt_tables *tables, const struct fxt_view *view)
{
	return view->type == FXT_RECORD_EVENT && view->event.type == FXT_EVENT_INSTANT &&
	       fxt_span_is(fxt_tables_text(tables, view->event.category), "mpi") &&
	       fxt_span_is(fxt_tables_text(tables, view->event.name), FXT_MERGE_CLOCK_EVENT);
}

/* The types of fields that belong to a session. */
#define SESSIONS                                                                                         \
	(FXT_FIELDS_OF(FLOW) | FXT_FIELDS_OF(CPU) | FXT_FIELDS_OF(TICKS) | FXT_FIELDS_OF(PROCESS_KOID) | \
	        FXT_FIELDS_OF(THREAD_KOID) | FXT_FIELDS_OF(THREAD) | FXT_FIELDS_OF(PROCESS) |            \
	        FXT_FIELDS_OF(ARGUMENTS))

static void fields_visit_field(void *context, const struct fxt_field_value *field)
{
	/* The types whose values are words of their own. */
	static const uint8_t words[] = {[FXT_FIELD_FLOW] = FXT_MERGE_FLOW,
	        [FXT_FIELD_TICKS] = FXT_MERGE_TIME,
	        [FXT_FIELD_PROCESS_KOID] = FXT_MERGE_KOID,
	        [FXT_FIELD_THREAD_KOID] = FXT_MERGE_KOID,
	        [FXT_FIELD_THREAD] = FXT_MERGE_KOID,
	        [FXT_FIELD_PROCESS] = FXT_MERGE_KOID};
	const struct fields *f = context;

	if (field->rule->type == FXT_FIELD_ARGUMENTS)
		fields_arguments(f, field->arguments);
	else if (field->rule->type == FXT_FIELD_CPU)
		fields_visit_cpu(f, field);
	else
		for (const uint64_t *at = field->at; at < field->end; at++)
			fields_visit(f, (enum fxt_merge_field)words[field->rule->type], at);
}

void fxt_merge_fields(struct fxt_tables *tables, const struct fxt_record *record, const struct fxt_view *view,
        uint64_t *to, fxt_merge_visit *visit, void *context)
{
	struct fields f = {.tables = tables,
	        .record = record,
	        .to = to,
	        .visit = visit,
	        .context = context,
	        .koid = FXT_MERGE_MENTION,
	        .has_ticks = fields_is_clock(tables, view)};

	if (view->type == FXT_RECORD_KERNEL_OBJECT)
		f.koid = FXT_MERGE_KOID;
	fxt_visit_fields(record, SESSIONS, fields_visit_field, &f);
}
