/*
 * Checks single records against the format: reserved bits, references, texts and arguments.
 * Runs on the thread of fxt_check_archive(), before the record is applied to the tables. It
 * only notes violations; a broken rule must not keep the other rules from being checked.
 */
#include "rules.h"

#include <inttypes.h>
#include "fields.h"
#include "utf8.h"

/* The record being checked. `offset` is that of the record, or of one of its arguments. */
struct trial {
	struct fxt_verdict *verdict;
	struct fxt_tables *tables;
	uint64_t offset;
	uint64_t used[2]; /* the bits of the header words that fields have; all of a second
	                     one that the record does not have */
};

static void break_rule(const struct trial *trial, enum fxt_rule_number rule)
{
	fxt_break(trial->verdict, trial->offset, rule, "%s", "");
}

/* ---- parts ---- */

/* The bits first..last. */
#define BITS(first, last) (UINT64_MAX >> (63 - (last)) & UINT64_MAX << (first))

static void check_reserved(const struct trial *trial, uint64_t word, uint64_t reserved)
{
	if (word & reserved)
		fxt_break(
		        trial->verdict, trial->offset, FXT_RULE_RESERVED_BITS, "0x%" PRIx64, word & reserved);
}

static void check_padding(const struct trial *trial, struct fxt_span stream)
{
	for (size_t i = stream.bytes; i % 8 != 0; i++) {
		if (stream.data[i] != 0) {
			break_rule(trial, FXT_RULE_PADDING);
			return;
		}
	}
}

static void check_text(const struct trial *trial, struct fxt_span text)
{
	check_padding(trial, text);
	if (!fxt_is_utf8(text))
		break_rule(trial, FXT_RULE_UTF8);
}

static void check_string(const struct trial *trial, struct fxt_string string)
{
	size_t bytes = fxt_inline_text(string).bytes;

	if (!(string.ref & FXT_STRING_INLINE_BIT)) {
		if (fxt_provider_string(trial->tables->provider, string.ref) == FXT_NOTHING)
			fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_STRING, "string %u",
			        string.ref);
		return;
	}
	if (bytes == 0)
		break_rule(trial, FXT_RULE_EMPTY_INLINE);
	if (bytes > FXT_STRING_MAX_BYTES)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_LONG_STRING, "%zu", bytes);
	check_text(trial, fxt_inline_text(string));
}

static void check_thread(const struct trial *trial, struct fxt_thread thread)
{
	if (thread.ref != 0 && fxt_provider_thread(trial->tables->provider, thread.ref) == FXT_NOTHING)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_THREAD, "thread %u", thread.ref);
}

static void check_ticks(const struct trial *trial, uint64_t ticks)
{
	if (fxt_provider_ns(trial->tables->provider, ticks) > INT64_MAX)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_LATE_TIME, "%" PRIu64 " ticks", ticks);
}

/* ---- arguments ---- */

static uint64_t argument_reserved(uint8_t type)
{
	switch (type) {
	case FXT_ARGUMENT_INT32:
	case FXT_ARGUMENT_UINT32:
	case FXT_ARGUMENT_BLOB:
		return 0;
	case FXT_ARGUMENT_STRING:
		return BITS(48, 63);
	case FXT_ARGUMENT_BOOL:
		return BITS(33, 63);
	default:
		return BITS(32, 63);
	}
}

static bool is_number(uint8_t type)
{
	return type >= FXT_ARGUMENT_INT32 && type <= FXT_ARGUMENT_DOUBLE;
}

static void check_argument(
        const struct trial *trial, const uint64_t *words, const struct fxt_argument *argument)
{
	size_t size = fxt_field(*words, 4, 12);
	size_t contents = fxt_argument_words(argument);

	if (argument->type > FXT_ARGUMENT_BLOB) {
		fxt_break(
		        trial->verdict, trial->offset, FXT_RULE_UNKNOWN_ARGUMENT, "type %u", argument->type);
		return;
	}
	check_reserved(trial, *words, argument_reserved(argument->type));
	check_string(trial, argument->name);
	if (argument->type == FXT_ARGUMENT_STRING)
		check_string(trial, argument->value.string);
	if (argument->type == FXT_ARGUMENT_BLOB)
		check_padding(
		        trial, (struct fxt_span){argument->value.blob.data, argument->value.blob.bytes});
	if (contents < size)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_LONG_ARGUMENT, "%zu words for %zu", size,
		        contents);
}

static void check_arguments(struct trial trial, const struct fxt_record *r, const struct fxt_view *view)
{
	bool counter = view->type == FXT_RECORD_EVENT && view->event.type == FXT_EVENT_COUNTER;
	struct fxt_arguments arguments = view->arguments;
	const uint64_t *words = arguments.next;
	struct fxt_argument argument;
	bool numeric = false;

	for (; fxt_next_argument(&arguments, &argument); words = arguments.next) {
		trial.offset = r->offset + (uint64_t)(words - r->words) * 8;
		check_argument(&trial, words, &argument);
		if (counter && !is_number(argument.type))
			break_rule(&trial, FXT_RULE_NOT_NUMERIC);
		numeric |= is_number(argument.type);
	}
	trial.offset = r->offset;
	if (counter && !numeric)
		break_rule(&trial, FXT_RULE_NO_NUMBER);
}

/* ---- fields ---- */

static void check_field(void *context, const struct fxt_field_value *field)
{
	const struct fxt_field_rule *rule = field->rule;
	struct trial *trial = context;

	if (rule->bits > 0)
		trial->used[rule->word] |= BITS(rule->first_bit, rule->first_bit + rule->bits - 1);
	switch (rule->type) {
	case FXT_FIELD_HEADER:
		trial->used[1] = 0;
		break;
	case FXT_FIELD_TICKS:
		check_ticks(trial, field->number);
		break;
	case FXT_FIELD_STRING:
		check_string(trial, field->string);
		break;
	case FXT_FIELD_THREAD:
	case FXT_FIELD_PROCESS:
		check_thread(trial, field->thread);
		break;
	case FXT_FIELD_TEXT:
		check_text(trial, field->span);
		break;
	case FXT_FIELD_DATA:
		check_padding(trial, field->span);
		break;
	default:
		break;
	}
}

/* Checks what the table of fields says: references, texts, times, and that the bits of no
 * field are zero. */
static void check_fields(struct trial *trial, const struct fxt_record *r)
{
	trial->used[0] = fxt_header_bits(r->words[0]);
	trial->used[1] = UINT64_MAX;
	fxt_visit_fields(r, FXT_FIELDS_ALL, check_field, trial);
	check_reserved(trial, r->words[0], ~trial->used[0]);
	if (trial->used[1] != UINT64_MAX)
		check_reserved(trial, r->words[1], ~trial->used[1]);
}

/* ---- records ---- */

static void check_metadata(const struct trial *trial, const struct fxt_view *view)
{
	const struct fxt_provider_tables *provider =
	        fxt_tables_provider(trial->tables, view->metadata.provider);

	if (view->metadata.type == FXT_METADATA_PROVIDER_SECTION && !(provider && provider->announced))
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNANNOUNCED, "provider %" PRIu32,
		        view->metadata.provider);
	if (view->metadata.type == FXT_METADATA_PROVIDER_EVENT &&
	        view->metadata.event != FXT_PROVIDER_EVENT_BUFFER_FULL)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_PROVIDER_EVENT, "event %u",
		        view->metadata.event);
}

static void check_string_record(const struct trial *trial, const struct fxt_view *view)
{
	size_t bytes = view->string.text.bytes;

	if (view->string.index == 0)
		break_rule(trial, FXT_RULE_STRING_ZERO);
	if (bytes > FXT_STRING_MAX_BYTES)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_LONG_STRING, "%zu", bytes);
}

static void check_blob(const struct trial *trial, const struct fxt_view *view)
{
	if (view->blob.type < FXT_BLOB_DATA || view->blob.type > FXT_BLOB_PERFETTO)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_BLOB, "type %u", view->blob.type);
}

static void check_kernel_object(const struct trial *trial, const struct fxt_view *view)
{
	struct fxt_argument process;

	if (view->kernel_object.type != FXT_OBJECT_THREAD)
		return;
	if (!fxt_tables_argument(trial->tables, view, "process", &process))
		break_rule(trial, FXT_RULE_NO_PROCESS);
	else if (process.type != FXT_ARGUMENT_KOID)
		break_rule(trial, FXT_RULE_PROCESS_NO_KOID);
}

static void check_scheduling(const struct trial *trial, const struct fxt_view *view)
{
	static const char *const weights[] = {"incoming_weight", "outgoing_weight", "weight"};
	bool is_wakeup = view->scheduling.type == FXT_SCHEDULING_THREAD_WAKEUP;
	uint8_t state = view->scheduling.outgoing_state;

	if (state > FXT_THREAD_STATE_DEAD)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_STATE, "state %u", state);
	if (view->scheduling.type == FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH &&
	        state == FXT_THREAD_STATE_RUNNING)
		break_rule(trial, FXT_RULE_STILL_RUNNING);
	for (unsigned i = is_wakeup ? 2 : 0; i < (is_wakeup ? 3 : 2); i++) {
		struct fxt_argument weight;

		if (fxt_tables_argument(trial->tables, view, weights[i], &weight) &&
		        weight.type != FXT_ARGUMENT_INT32)
			fxt_break(trial->verdict, trial->offset, FXT_RULE_WEIGHT, "%s", weights[i]);
	}
}

/* Checks what concerns one type of record alone. */
static void check_meaning(const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	switch (view->type) {
	case FXT_RECORD_METADATA:
		check_metadata(trial, view);
		break;
	case FXT_RECORD_INITIALIZATION:
		if (view->initialization.ticks_per_second == 0)
			break_rule(trial, FXT_RULE_NO_TICKS);
		break;
	case FXT_RECORD_STRING:
		check_string_record(trial, view);
		break;
	case FXT_RECORD_THREAD:
		if (view->thread.index == 0)
			break_rule(trial, FXT_RULE_THREAD_ZERO);
		break;
	case FXT_RECORD_EVENT:
		if (view->event.type == FXT_EVENT_DURATION_COMPLETE && view->event.extra < view->event.ticks)
			break_rule(trial, FXT_RULE_BACKWARDS);
		break;
	case FXT_RECORD_BLOB:
		check_blob(trial, view);
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		check_kernel_object(trial, view);
		break;
	case FXT_RECORD_SCHEDULING:
		check_scheduling(trial, view);
		break;
	default:
		break;
	}
	if (r->size > FXT_RECORD_MAX_WORDS)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_LARGE_RECORD, "%zu words", r->size);
}

static void check_kind(const struct trial *trial, uint64_t header, const struct fxt_view *view)
{
	unsigned type = fxt_record_type(header), subtype = fxt_record_subtype(header);

	if (view->is_unknown && view->type == FXT_RECORD_EVENT)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_EVENT, "type %u", subtype);
	else if (view->is_unknown && subtype > 0)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_RECORD, "type %u, kind %u", type,
		        subtype);
	else if (view->is_unknown)
		fxt_break(trial->verdict, trial->offset, FXT_RULE_UNKNOWN_RECORD, "type %u", type);
}

void fxt_check_record(struct fxt_verdict *verdict, struct fxt_tables *t, const struct fxt_record *r,
        const struct fxt_view *view)
{
	struct trial trial = {.verdict = verdict, .tables = t, .offset = r->offset};

	check_kind(&trial, r->words[0], view);
	if (view->type != FXT_RECORD_OTHER || !view->is_unknown)
		check_fields(&trial, r);
	check_meaning(&trial, r, view);
	check_arguments(trial, r, view);
}
