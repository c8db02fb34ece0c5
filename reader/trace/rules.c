/*
 * Checks single records against the format: reserved bits, references, texts and arguments.
 * Runs on the thread of fxt_check_archive(), before the record is applied to the tables. It
 * only notes violations; a broken rule must not keep the other rules from being checked.
 */
#include "rules.h"

#include <inttypes.h>
#include "utf8.h"

/* The record being checked. `offset` is that of the record, or of one of its arguments. */
struct trial {
	struct fxt_verdict *verdict;
	struct fxt_tables *tables;
	uint64_t offset;
};

static void break_rule(const struct trial *trial, const char *rule)
{
	fxt_violation(trial->verdict, trial->offset, rule, "%s", "");
}

/* ---- parts ---- */

/* The bits first..last. */
#define BITS(first, last) (UINT64_MAX >> (63 - (last)) & UINT64_MAX << (first))

static void check_reserved(const struct trial *trial, uint64_t word, uint64_t reserved)
{
	if (word & reserved)
		fxt_violation(trial->verdict, trial->offset, "reserved bits are not zero", "0x%" PRIx64,
		        word & reserved);
}

static void check_padding(const struct trial *trial, struct fxt_span stream)
{
	for (size_t i = stream.bytes; i % 8 != 0; i++) {
		if (stream.data[i] != 0) {
			break_rule(trial, "padding behind text or data is not zero");
			return;
		}
	}
}

static void check_text(const struct trial *trial, struct fxt_span text)
{
	check_padding(trial, text);
	if (!fxt_is_utf8(text))
		break_rule(trial, "text is not UTF-8");
}

static void check_string(const struct trial *trial, struct fxt_string string)
{
	size_t bytes = fxt_inline_text(string).bytes;

	if (!(string.ref & FXT_STRING_INLINE_BIT)) {
		if (fxt_provider_string(trial->tables->provider, string.ref) == FXT_NOTHING)
			fxt_violation(trial->verdict, trial->offset, "reference to a string never registered",
			        "string %u", string.ref);
		return;
	}
	if (bytes == 0)
		break_rule(trial, "inline string is empty; the reference should be 0");
	if (bytes > FXT_STRING_MAX_BYTES)
		fxt_violation(
		        trial->verdict, trial->offset, "string is longer than 32000 bytes", "%zu", bytes);
	check_text(trial, fxt_inline_text(string));
}

static void check_thread(const struct trial *trial, struct fxt_thread thread)
{
	if (thread.ref != 0 && fxt_provider_thread(trial->tables->provider, thread.ref) == FXT_NOTHING)
		fxt_violation(trial->verdict, trial->offset, "reference to a thread never registered",
		        "thread %u", thread.ref);
}

static void check_ticks(const struct trial *trial, uint64_t ticks)
{
	if (fxt_provider_ns(trial->tables->provider, ticks) > INT64_MAX)
		fxt_violation(trial->verdict, trial->offset, "time is 2^63 nanoseconds or more",
		        "%" PRIu64 " ticks", ticks);
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
		fxt_warning(
		        trial->verdict, trial->offset, "unknown type of argument", "type %u", argument->type);
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
		fxt_violation(trial->verdict, trial->offset, "argument is longer than its contents",
		        "%zu words for %zu", size, contents);
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
			break_rule(&trial, "argument of a counter is no number");
		numeric |= is_number(argument.type);
	}
	trial.offset = r->offset;
	if (counter && !numeric)
		break_rule(&trial, "counter without a numeric argument");
}

/* ---- records ---- */

static void check_metadata(const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	const struct fxt_provider_tables *provider =
	        fxt_tables_provider(trial->tables, view->metadata.provider);
	bool announced = provider && provider->announced;

	switch (view->metadata.type) {
	case FXT_METADATA_PROVIDER_INFO:
		check_reserved(trial, r->words[0], BITS(60, 63));
		check_text(trial, view->metadata.name);
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		check_reserved(trial, r->words[0], BITS(52, 63));
		if (!announced)
			fxt_violation(trial->verdict, trial->offset, "section of a provider never announced",
			        "provider %" PRIu32, view->metadata.provider);
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		check_reserved(trial, r->words[0], BITS(56, 63));
		if (view->metadata.event != FXT_PROVIDER_EVENT_BUFFER_FULL)
			fxt_warning(trial->verdict, trial->offset, "unknown provider event", "event %u",
			        view->metadata.event);
		break;
	case FXT_METADATA_TRACE_INFO:
		break;
	}
}

static void check_initialization(
        const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	check_reserved(trial, r->words[0], BITS(16, 63));
	if (view->initialization.ticks_per_second == 0)
		break_rule(trial, "initialization record with 0 ticks a second");
}

static void check_string_record(
        const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	size_t bytes = view->string.text.bytes;

	check_reserved(trial, r->words[0], BITS(31, 31) | BITS(47, 63));
	if (view->string.index == 0)
		break_rule(trial, "string record for index 0");
	if (bytes > FXT_STRING_MAX_BYTES)
		fxt_violation(
		        trial->verdict, trial->offset, "string is longer than 32000 bytes", "%zu", bytes);
	check_text(trial, view->string.text);
}

static void check_thread_record(
        const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	check_reserved(trial, r->words[0], BITS(24, 63));
	if (view->thread.index == 0)
		break_rule(trial, "thread record for index 0");
}

static void check_event(const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	(void)r;
	check_thread(trial, view->event.thread);
	check_string(trial, view->event.category);
	check_string(trial, view->event.name);
	check_ticks(trial, view->event.ticks);
	if (view->event.type > FXT_EVENT_FLOW_END)
		fxt_warning(
		        trial->verdict, trial->offset, "unknown type of event", "type %u", view->event.type);
	if (view->event.type != FXT_EVENT_DURATION_COMPLETE)
		return;
	check_ticks(trial, view->event.extra);
	if (view->event.extra < view->event.ticks)
		break_rule(trial, "slice ends before it starts");
}

static void check_blob(const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	check_reserved(trial, r->words[0], BITS(47, 47) | BITS(56, 63));
	check_string(trial, view->blob.name);
	check_padding(trial, view->blob.data);
	if (view->blob.type < FXT_BLOB_DATA || view->blob.type > FXT_BLOB_PERFETTO)
		fxt_warning(
		        trial->verdict, trial->offset, "unknown type of blob", "type %u", view->blob.type);
}

static void check_userspace_object(
        const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	check_reserved(trial, r->words[0], BITS(44, 63));
	check_thread(trial, view->userspace_object.process);
	check_string(trial, view->userspace_object.name);
}

static void check_kernel_object(
        const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	struct fxt_argument process;

	check_reserved(trial, r->words[0], BITS(44, 63));
	check_string(trial, view->kernel_object.name);
	if (view->kernel_object.type != FXT_OBJECT_THREAD)
		return;
	if (!fxt_tables_argument(trial->tables, view, "process", &process))
		break_rule(trial, "thread object without an argument \"process\"");
	else if (process.type != FXT_ARGUMENT_KOID)
		break_rule(trial, "argument \"process\" of a thread object is no koid");
}

static void check_weight(const struct trial *trial, const struct fxt_view *view, const char *name)
{
	struct fxt_argument weight;

	if (fxt_tables_argument(trial->tables, view, name, &weight) && weight.type != FXT_ARGUMENT_INT32)
		fxt_violation(trial->verdict, trial->offset, "weight of a thread is no int32", "%s", name);
}

static void check_scheduling(
        const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	uint8_t state = view->scheduling.outgoing_state;

	check_ticks(trial, view->scheduling.ticks);
	if (state > FXT_THREAD_STATE_DEAD)
		fxt_violation(trial->verdict, trial->offset, "unknown state of a thread", "state %u", state);
	switch (view->scheduling.type) {
	case FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH:
		check_thread(trial, view->scheduling.outgoing);
		check_thread(trial, view->scheduling.incoming);
		if (state == FXT_THREAD_STATE_RUNNING)
			break_rule(trial, "thread switched away from is still running");
		break;
	case FXT_SCHEDULING_CONTEXT_SWITCH:
		check_reserved(trial, r->words[0], BITS(40, 59));
		check_weight(trial, view, "incoming_weight");
		check_weight(trial, view, "outgoing_weight");
		break;
	case FXT_SCHEDULING_THREAD_WAKEUP:
		check_reserved(trial, r->words[0], BITS(36, 59));
		check_weight(trial, view, "weight");
		break;
	}
}

static void check_log(const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	check_reserved(trial, r->words[0], BITS(31, 31) | BITS(40, 63));
	check_thread(trial, view->log.thread);
	check_ticks(trial, view->log.ticks);
	check_text(trial, view->log.text);
}

static void check_large_blob(
        const struct trial *trial, const struct fxt_record *r, const struct fxt_view *view)
{
	bool metadata = view->large_blob.format == FXT_LARGE_BLOB_WITH_METADATA;

	check_reserved(trial, r->words[0], BITS(44, 63));
	check_reserved(trial, r->words[1], metadata ? BITS(44, 63) : BITS(32, 63));
	check_string(trial, view->large_blob.category);
	check_string(trial, view->large_blob.name);
	check_padding(trial, view->large_blob.data);
	if (metadata) {
		check_thread(trial, view->large_blob.thread);
		check_ticks(trial, view->large_blob.ticks);
	}
	if (r->size > FXT_RECORD_MAX_WORDS)
		fxt_violation(trial->verdict, trial->offset,
		        "large record of 4096 words or more: the Perfetto UI cannot read on", "%zu words",
		        r->size);
}

void fxt_check_record(struct fxt_verdict *verdict, struct fxt_tables *t, const struct fxt_record *r,
        const struct fxt_view *view)
{
	static void (*const check[])(
	        const struct trial *, const struct fxt_record *, const struct fxt_view *) = {
	        [FXT_RECORD_METADATA] = check_metadata,
	        [FXT_RECORD_INITIALIZATION] = check_initialization,
	        [FXT_RECORD_STRING] = check_string_record,
	        [FXT_RECORD_THREAD] = check_thread_record,
	        [FXT_RECORD_EVENT] = check_event,
	        [FXT_RECORD_BLOB] = check_blob,
	        [FXT_RECORD_USERSPACE_OBJECT] = check_userspace_object,
	        [FXT_RECORD_KERNEL_OBJECT] = check_kernel_object,
	        [FXT_RECORD_SCHEDULING] = check_scheduling,
	        [FXT_RECORD_LOG] = check_log,
	        [FXT_RECORD_LARGE] = check_large_blob,
	};
	struct trial trial = {verdict, t, r->offset};

	if (check[view->type])
		check[view->type](&trial, r, view);
	else
		fxt_warning(verdict, r->offset, "unknown type of record", "type %u", view->type);
	check_arguments(trial, r, view);
}
