#include "fields.h"

#include "reader/trace/fields.h"

struct fields {
	struct fxt_tables *tables;
	const struct fxt_record *record;
	uint64_t *to;
	fxt_merge_visit *visit;
	void *context;
	enum fxt_merge_field koid; /* what an argument is that is a koid */
};

static void fields_visit_bits(const struct fields *f, enum fxt_merge_field field, const uint64_t *at,
        unsigned first_bit, unsigned bits)
{
	uint64_t mask = UINT64_MAX >> (64 - bits) << first_bit;
	uint64_t value = f->visit(f->context, field, fxt_field(*at, first_bit, bits));
	uint64_t *to = f->to ? f->to + (at - f->record->words) : NULL;

	if (to)
		*to = (*to & ~mask) | (value << first_bit & mask);
}

static void fields_visit(const struct fields *f, enum fxt_merge_field field, const uint64_t *at)
{
	fields_visit_bits(f, field, at, 0, 64);
}

/* Visits the arguments; the value of an argument is its last word. */
static void fields_arguments(const struct fields *f, struct fxt_arguments arguments)
{
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument)) {
		if (argument.type == FXT_ARGUMENT_KOID)
			fields_visit(f, f->koid, arguments.next - 1);
		else if ((argument.type == FXT_ARGUMENT_UINT64 || argument.type == FXT_ARGUMENT_INT64) &&
		         fxt_ends_with(fxt_tables_text(f->tables, argument.name), "_ticks"))
			fields_visit(f, FXT_MERGE_DURATION, arguments.next - 1);
	}
}

/* Of these types are fields that belong to a session. */
#define SESSIONS                                                                                         \
	(FXT_FIELDS_OF(FLOW) | FXT_FIELDS_OF(CPU) | FXT_FIELDS_OF(TICKS) | FXT_FIELDS_OF(PROCESS_KOID) | \
	        FXT_FIELDS_OF(THREAD_KOID) | FXT_FIELDS_OF(THREAD) | FXT_FIELDS_OF(PROCESS) |            \
	        FXT_FIELDS_OF(ARGUMENTS))

static void fields_visit_field(void *context, const struct fxt_field_value *field)
{
	const struct fields *f = context;
	const struct fxt_field_rule *rule = field->rule;

	switch (rule->type) {
	case FXT_FIELD_TICKS:
		fields_visit(f, FXT_MERGE_TIME, field->at);
		break;
	case FXT_FIELD_PROCESS_KOID:
	case FXT_FIELD_THREAD_KOID:
		fields_visit(f, FXT_MERGE_KOID, field->at);
		break;
	case FXT_FIELD_THREAD:
	case FXT_FIELD_PROCESS:
		for (const uint64_t *at = field->at; at < field->end; at++)
			fields_visit(f, FXT_MERGE_KOID, at);
		break;
	case FXT_FIELD_FLOW:
		fields_visit(f, FXT_MERGE_FLOW, field->at);
		break;
	case FXT_FIELD_CPU:
		fields_visit_bits(
		        f, FXT_MERGE_CPU, &f->record->words[rule->word], rule->first_bit, rule->bits);
		break;
	case FXT_FIELD_ARGUMENTS:
		fields_arguments(f, field->arguments);
		break;
	default:
		break;
	}
}

void fxt_merge_fields(struct fxt_tables *tables, const struct fxt_record *record, const struct fxt_view *view,
        uint64_t *to, fxt_merge_visit *visit, void *context)
{
	struct fields f = {tables, record, to, visit, context, FXT_MERGE_MENTION};

	if (view->type == FXT_RECORD_KERNEL_OBJECT)
		f.koid = FXT_MERGE_KOID;
	fxt_visit_fields(record, SESSIONS, fields_visit_field, &f);
}
