/*
 * The table of all kinds of records with their fields, and the decoding that follows it.
 * Runs on any thread. Must never read outside the record, whatever its bytes say.
 */
#include "fields.h"

/* ---- the table ---- */

/* The place of a number, a reference or a length. */
#define BITS(first, count)        0, first, count /* of the header */
#define SECOND_BITS(first, count) 1, first, count /* of the second header word */
#define WORD                      0, 0, 0

#define VIEW(member) offsetof(struct fxt_view, member), sizeof(((struct fxt_view *)NULL)->member)
#define NO_VIEW      0, 0

#define FIELD(type, place, name, order, member)              \
	{                                                    \
		FXT_FIELD_##type, place, name, order, member \
	}
#define FIELDS(name) static const struct fxt_field_rule name##_fields[]

FIELDS(magic) = {
        FIELD(NUMBER, BITS(16, 4), NULL, 0, VIEW(metadata.type)),
        FIELD(MAGIC, BITS(20, 44), NULL, 0, NO_VIEW),
};

#define PROVIDER_FIELDS                                           \
	FIELD(NUMBER, BITS(16, 4), NULL, 0, VIEW(metadata.type)), \
	        FIELD(NUMBER, BITS(20, 32), "id", 0, VIEW(metadata.provider))

FIELDS(provider_info) = {
        PROVIDER_FIELDS,
        FIELD(TEXT, BITS(52, 8), "name", 0, VIEW(metadata.name)),
};

FIELDS(provider_section) = {PROVIDER_FIELDS};

FIELDS(provider_event) = {
        PROVIDER_FIELDS,
        FIELD(NUMBER, BITS(52, 4), "event", 0, VIEW(metadata.event)),
};

FIELDS(initialization) = {
        FIELD(NUMBER, WORD, "ticks_per_second", 0, VIEW(initialization.ticks_per_second)),
};

FIELDS(string) = {
        FIELD(NUMBER, BITS(16, 15), "index", 0, VIEW(string.index)),
        FIELD(TEXT, BITS(32, 15), "text", 0, VIEW(string.text)),
};

FIELDS(thread) = {
        FIELD(NUMBER, BITS(16, 8), "index", 0, VIEW(thread.index)),
        FIELD(THREAD, WORD, "thread", 0, VIEW(thread.koids)),
};

#define EVENT_FIELDS(shown_type)                                                  \
	FIELD(NUMBER, BITS(16, 4), shown_type, 2, VIEW(event.type)),              \
	        FIELD(TICKS, WORD, "time", 1, VIEW(event.ticks)),                 \
	        FIELD(THREAD, BITS(24, 8), "thread", 0, VIEW(event.thread)),      \
	        FIELD(STRING, BITS(32, 16), "category", 3, VIEW(event.category)), \
	        FIELD(STRING, BITS(48, 16), "name", 3, VIEW(event.name)),         \
	        FIELD(ARGUMENTS, BITS(20, 4), NULL, 0, VIEW(arguments))

FIELDS(event) = {EVENT_FIELDS(NULL)};
FIELDS(other_event) = {EVENT_FIELDS("type")};
FIELDS(slice) = {EVENT_FIELDS(NULL), FIELD(TICKS, WORD, "end", 2, VIEW(event.extra))};
FIELDS(counter) = {EVENT_FIELDS(NULL), FIELD(ID, WORD, "id", 2, VIEW(event.extra))};
FIELDS(link) = {EVENT_FIELDS(NULL), FIELD(FLOW, WORD, "id", 2, VIEW(event.extra))};

FIELDS(blob) = {
        FIELD(STRING, BITS(16, 16), "name", 0, VIEW(blob.name)),
        FIELD(NUMBER, BITS(48, 8), "type", 0, VIEW(blob.type)),
        FIELD(DATA, BITS(32, 15), "bytes", 0, VIEW(blob.data)),
};

FIELDS(userspace_object) = {
        FIELD(ID, WORD, "pointer", 1, VIEW(userspace_object.pointer)),
        FIELD(PROCESS, BITS(16, 8), "process", 0, VIEW(userspace_object.process)),
        FIELD(STRING, BITS(24, 16), "name", 2, VIEW(userspace_object.name)),
        FIELD(ARGUMENTS, BITS(40, 4), NULL, 0, VIEW(arguments)),
};

#define KERNEL_OBJECT_FIELDS(koid_type)                                           \
	FIELD(NUMBER, BITS(16, 8), "type", 0, VIEW(kernel_object.type)),          \
	        FIELD(koid_type, WORD, "koid", 0, VIEW(kernel_object.koid)),      \
	        FIELD(STRING, BITS(24, 16), "name", 0, VIEW(kernel_object.name)), \
	        FIELD(ARGUMENTS, BITS(40, 4), NULL, 0, VIEW(arguments))

FIELDS(process_object) = {KERNEL_OBJECT_FIELDS(PROCESS_KOID)};
FIELDS(thread_object) = {KERNEL_OBJECT_FIELDS(THREAD_KOID)};
FIELDS(kernel_object) = {KERNEL_OBJECT_FIELDS(NUMBER)};

#define SCHEDULING_FIELDS(cpu_bit, cpu_bits)                           \
	FIELD(NUMBER, BITS(60, 4), NULL, 0, VIEW(scheduling.type)),    \
	        FIELD(TICKS, WORD, "time", 0, VIEW(scheduling.ticks)), \
	        FIELD(CPU, BITS(cpu_bit, cpu_bits), "cpu", 0, VIEW(scheduling.cpu))

FIELDS(context_switch) = {
        SCHEDULING_FIELDS(20, 16),
        FIELD(THREAD_KOID, WORD, "out", 0, VIEW(scheduling.outgoing.thread)),
        FIELD(NUMBER, BITS(36, 4), "state", 0, VIEW(scheduling.outgoing_state)),
        FIELD(THREAD_KOID, WORD, "in", 0, VIEW(scheduling.incoming.thread)),
        FIELD(ARGUMENTS, BITS(16, 4), NULL, 0, VIEW(arguments)),
};

FIELDS(thread_wakeup) = {
        SCHEDULING_FIELDS(20, 16),
        FIELD(THREAD_KOID, WORD, "thread", 0, VIEW(scheduling.incoming.thread)),
        FIELD(ARGUMENTS, BITS(16, 4), NULL, 0, VIEW(arguments)),
};

FIELDS(legacy_context_switch) = {
        SCHEDULING_FIELDS(16, 8),
        FIELD(THREAD, BITS(28, 8), "out", 0, VIEW(scheduling.outgoing)),
        FIELD(NUMBER, BITS(24, 4), "state", 0, VIEW(scheduling.outgoing_state)),
        FIELD(NUMBER, BITS(44, 8), "priority", 0, VIEW(scheduling.outgoing_priority)),
        FIELD(THREAD, BITS(36, 8), "in", 0, VIEW(scheduling.incoming)),
        FIELD(NUMBER, BITS(52, 8), "priority", 0, VIEW(scheduling.incoming_priority)),
};

FIELDS(log) = {
        FIELD(TICKS, WORD, "time", 1, VIEW(log.ticks)),
        FIELD(THREAD, BITS(32, 8), "thread", 0, VIEW(log.thread)),
        FIELD(TEXT, BITS(16, 15), "text", 2, VIEW(log.text)),
};

#define LARGE_BLOB_FIELDS                                                                                    \
	FIELD(NUMBER, BITS(40, 4), NULL, 0, VIEW(large_blob.format)), FIELD(HEADER, WORD, NULL, 0, NO_VIEW), \
	        FIELD(STRING, SECOND_BITS(0, 16), "category", 2, VIEW(large_blob.category)),                 \
	        FIELD(STRING, SECOND_BITS(16, 16), "name", 2, VIEW(large_blob.name))

FIELDS(large_blob) = {
        LARGE_BLOB_FIELDS,
        FIELD(TICKS, WORD, "time", 1, VIEW(large_blob.ticks)),
        FIELD(THREAD, SECOND_BITS(36, 8), "thread", 0, VIEW(large_blob.thread)),
        FIELD(ARGUMENTS, SECOND_BITS(32, 4), NULL, 0, VIEW(arguments)),
        FIELD(DATA, WORD, "bytes", 2, VIEW(large_blob.data)),
};

FIELDS(bare_large_blob) = {
        LARGE_BLOB_FIELDS,
        FIELD(DATA, WORD, "bytes", 2, VIEW(large_blob.data)),
};

/* The place of the subtype, for types that have several kinds. */
static const struct {
	uint8_t first_bit, mask;
} subtypes[16] = {
        [FXT_RECORD_METADATA] = {16, 0xf},
        [FXT_RECORD_EVENT] = {16, 0xf},
        [FXT_RECORD_KERNEL_OBJECT] = {16, 0xff},
        [FXT_RECORD_SCHEDULING] = {60, 0xf},
        [FXT_RECORD_LARGE] = {36, 0xff}, /* its type and format */
};

/* Whether a recovered archive keeps the records of a kind if their provider's records are
 * collected again. Those of an agent come again, those of the manager are kept. An
 * initialization record is kept too, because it may stand before the first of a provider's
 * live sums (writer/engine/heap.h). */
#define KEPT  true
#define AGAIN false

/* Subtypes of more than one value, or of no name. */
#define ANY              0
#define OTHER_EVENTS     FXT_EVENT_FLOW_END + 1 ... 15
#define NO_OBJECT        0
#define OTHER_OBJECTS    FXT_OBJECT_THREAD + 1 ... 255
#define WITH_METADATA    FXT_LARGE_RECORD_BLOB | FXT_LARGE_BLOB_WITH_METADATA << 4
#define WITHOUT_METADATA FXT_LARGE_RECORD_BLOB | FXT_LARGE_BLOB_WITHOUT_METADATA << 4

/* The kinds, in the order of fxt info: name, record type, subtype,
 * recovery, fields. Kinds of one name are neighbours. */
#define KINDS                                                                                     \
	KIND("magic", METADATA, FXT_METADATA_TRACE_INFO, KEPT, magic)                             \
	KIND("provider-info", METADATA, FXT_METADATA_PROVIDER_INFO, KEPT, provider_info)          \
	KIND("provider-section", METADATA, FXT_METADATA_PROVIDER_SECTION, KEPT, provider_section) \
	KIND("provider-event", METADATA, FXT_METADATA_PROVIDER_EVENT, KEPT, provider_event)       \
	KIND("initialization", INITIALIZATION, ANY, KEPT, initialization)                         \
	KIND("string", STRING, ANY, AGAIN, string)                                                \
	KIND("thread", THREAD, ANY, AGAIN, thread)                                                \
	KIND("kernel-object", KERNEL_OBJECT, FXT_OBJECT_PROCESS, AGAIN, process_object)           \
	KIND("kernel-object", KERNEL_OBJECT, FXT_OBJECT_THREAD, AGAIN, thread_object)             \
	KIND("kernel-object", KERNEL_OBJECT, NO_OBJECT, AGAIN, kernel_object)                     \
	KIND("kernel-object", KERNEL_OBJECT, OTHER_OBJECTS, AGAIN, kernel_object)                 \
	KIND("duration-begin", EVENT, FXT_EVENT_DURATION_BEGIN, AGAIN, event)                     \
	KIND("duration-end", EVENT, FXT_EVENT_DURATION_END, AGAIN, event)                         \
	KIND("duration-complete", EVENT, FXT_EVENT_DURATION_COMPLETE, AGAIN, slice)               \
	KIND("instant", EVENT, FXT_EVENT_INSTANT, AGAIN, event)                                   \
	KIND("counter", EVENT, FXT_EVENT_COUNTER, AGAIN, counter)                                 \
	KIND("async-begin", EVENT, FXT_EVENT_ASYNC_BEGIN, AGAIN, link)                            \
	KIND("async-instant", EVENT, FXT_EVENT_ASYNC_INSTANT, AGAIN, link)                        \
	KIND("async-end", EVENT, FXT_EVENT_ASYNC_END, AGAIN, link)                                \
	KIND("flow-begin", EVENT, FXT_EVENT_FLOW_BEGIN, AGAIN, link)                              \
	KIND("flow-step", EVENT, FXT_EVENT_FLOW_STEP, AGAIN, link)                                \
	KIND("flow-end", EVENT, FXT_EVENT_FLOW_END, AGAIN, link)                                  \
	KIND("event", EVENT, OTHER_EVENTS, AGAIN, other_event)                                    \
	KIND("userspace-object", USERSPACE_OBJECT, ANY, AGAIN, userspace_object)                  \
	KIND("context-switch", SCHEDULING, FXT_SCHEDULING_CONTEXT_SWITCH, AGAIN, context_switch)  \
	KIND("thread-wakeup", SCHEDULING, FXT_SCHEDULING_THREAD_WAKEUP, AGAIN, thread_wakeup)     \
	KIND("legacy-context-switch", SCHEDULING, FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH, AGAIN,    \
	        legacy_context_switch)                                                            \
	KIND("log", LOG, ANY, AGAIN, log)                                                         \
	KIND("blob", BLOB, ANY, KEPT, blob)                                                       \
	KIND("large-blob", LARGE, WITH_METADATA, KEPT, large_blob)                                \
	KIND("large-blob", LARGE, WITHOUT_METADATA, KEPT, bare_large_blob)

enum kind {
#define KIND(name, type, subtype, recovery, fields) KIND_##type##_##subtype,
	KINDS
#undef KIND
	        KIND_UNKNOWN, /* any other kind */
	KIND_COUNT,
};

_Static_assert(KIND_COUNT <= (int)FXT_KINDS_MAX, "users have room for as many kinds");
_Static_assert(sizeof(struct fxt_view) <= UINT8_MAX, "places in it have 8 bits");

#define COUNT_OF(list) (sizeof(list##_fields) / sizeof(*list##_fields))

static const char *const kind_names[FXT_KINDS_MAX] = {
#define KIND(name, type, subtype, recovery, fields) name,
        KINDS
#undef KIND
                [KIND_UNKNOWN] = "unknown",
};

/* By record type and subtype, and one more; 0: unknown. */
static const uint8_t kind_numbers[16][256] = {
#define KIND(name, type, subtype, recovery, fields) \
	[FXT_RECORD_##type][subtype] = KIND_##type##_##subtype + 1,
        KINDS
#undef KIND
};

unsigned fxt_record_subtype(uint64_t header)
{
	enum fxt_record_type type = fxt_record_type(header);

	return header >> subtypes[type].first_bit & subtypes[type].mask;
}

uint64_t fxt_header_bits(uint64_t header)
{
	enum fxt_record_type type = fxt_record_type(header);

	return UINT64_MAX >> (type == FXT_RECORD_LARGE ? 64 - 36 : 64 - 16) |
	       (uint64_t)subtypes[type].mask << subtypes[type].first_bit;
}

static inline enum kind fields_kind(uint64_t header)
{
	unsigned kind = kind_numbers[fxt_record_type(header)][fxt_record_subtype(header)];

	if (__builtin_expect(kind <= KIND_METADATA_FXT_METADATA_TRACE_INFO + 1, false) &&
	        (kind == 0 || fxt_field(header, 20, 4) != 0)) /* other information about a trace */
		return KIND_UNKNOWN;
	return (enum kind)(kind - 1);
}

unsigned fxt_kind(uint64_t header)
{
	unsigned kind = fields_kind(header);

	while (kind > 0 && strcmp(kind_names[kind], kind_names[kind - 1]) == 0)
		kind--;
	return kind;
}

const char *fxt_kind_name(unsigned kind)
{
	return kind_names[kind];
}

static bool kind_is_unknown(enum kind kind)
{
	return kind == KIND_UNKNOWN || kind == KIND_EVENT_OTHER_EVENTS;
}

bool fxt_is_unknown(uint64_t header)
{
	return kind_is_unknown(fields_kind(header));
}

bool fxt_is_kept_in_recovery(uint64_t header)
{
	/* The types that have a kind which is kept. Their unknown kinds are kept too. */
	static const unsigned types = 0
#define KIND(name, type, subtype, recovery, fields) | (unsigned)recovery << FXT_RECORD_##type
	        KINDS
#undef KIND
	        ;

	return types >> fxt_record_type(header) & 1;
}

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- parts of a record ---- */

/* The rest of a record, and the first reason for which it is malformed. */
struct rest {
	const uint64_t *next, *end;
	const char *reason;
};

static ALWAYS_INLINE void fall_short(struct rest *rest)
{
	if (!rest->reason)
		rest->reason = "record is shorter than its contents";
}

static ALWAYS_INLINE uint64_t take_word(struct rest *rest)
{
	if (rest->next == rest->end) {
		fall_short(rest);
		return 0;
	}
	return *rest->next++;
}

static ALWAYS_INLINE struct fxt_span take_stream(struct rest *rest, uint64_t bytes)
{
	struct fxt_span stream = {(const char *)rest->next, bytes};

	if (bytes > (uint64_t)(rest->end - rest->next) * 8) {
		fall_short(rest);
		return (struct fxt_span){0};
	}
	rest->next += fxt_words(bytes);
	return stream;
}

static ALWAYS_INLINE struct fxt_string take_string(struct rest *rest, uint64_t ref)
{
	struct fxt_string string = {.ref = (uint16_t)ref};

	if (ref & FXT_STRING_INLINE_BIT)
		string.text = take_stream(rest, ref & ~FXT_STRING_INLINE_BIT).data;
	return string;
}

static ALWAYS_INLINE struct fxt_thread take_thread(struct rest *rest, uint64_t ref, bool is_process)
{
	struct fxt_thread thread = {.ref = (uint16_t)ref};

	if (ref == 0) {
		thread.process = take_word(rest);
		thread.thread = is_process ? 0 : take_word(rest);
	}
	return thread;
}

static const char *read_argument(struct fxt_arguments *arguments, struct fxt_argument *argument)
{
	if (arguments->next == arguments->end)
		return "record is shorter than its arguments";
	uint64_t header = *arguments->next;
	size_t size = fxt_field(header, 4, 12);

	if (size == 0)
		return "argument of size 0";
	if (size > (size_t)(arguments->end - arguments->next))
		return "argument is longer than its record";
	struct rest rest = {arguments->next + 1, arguments->next + size, NULL};

	arguments->next += size;
	arguments->left--;
	*argument = (struct fxt_argument){.type = (uint8_t)fxt_field(header, 0, 4)};
	argument->name = take_string(&rest, fxt_field(header, 16, 16));
	switch (argument->type) {
	case FXT_ARGUMENT_INT32:
	case FXT_ARGUMENT_UINT32:
		argument->value.word = fxt_field(header, 32, 32);
		break;
	case FXT_ARGUMENT_BOOL:
		argument->value.word = fxt_field(header, 32, 1);
		break;
	case FXT_ARGUMENT_INT64:
	case FXT_ARGUMENT_UINT64:
	case FXT_ARGUMENT_DOUBLE:
	case FXT_ARGUMENT_POINTER:
	case FXT_ARGUMENT_KOID:
		argument->value.word = take_word(&rest);
		break;
	case FXT_ARGUMENT_STRING:
		argument->value.string = take_string(&rest, fxt_field(header, 32, 16));
		break;
	case FXT_ARGUMENT_BLOB: {
		struct fxt_span blob = take_stream(&rest, fxt_field(header, 32, 32));

		argument->value.blob.data = blob.data;
		argument->value.blob.bytes = blob.bytes;
		break;
	}
	}
	return rest.reason ? "argument is shorter than its contents" : NULL;
}

bool fxt_next_argument(struct fxt_arguments *arguments, struct fxt_argument *argument)
{
	return arguments->left > 0 && read_argument(arguments, argument) == NULL;
}

static void check_arguments(struct rest *rest, uint64_t count)
{
	struct fxt_arguments arguments = {rest->next, rest->end, (unsigned)count};
	struct fxt_argument argument;

	while (!rest->reason && arguments.left > 0)
		rest->reason = read_argument(&arguments, &argument);
	rest->next = arguments.next;
}

static void skip_arguments(struct rest *rest, uint64_t count)
{
	for (; count > 0 && rest->next < rest->end; count--)
		rest->next += fxt_field(*rest->next, 4, 12);
}

/* ---- records ---- */

/* Takes one field. Arguments of a record that has been decoded are only stepped over. */
static ALWAYS_INLINE void take_field(const uint64_t *words, struct rest *rest,
        const struct fxt_field_rule *rule, bool is_decoded, struct fxt_field_value *field)
{
	/* A record may be too short for a second header word. */
	bool has_bits = rule->bits > 0 && (rule->word == 0 || !rest->reason);
	uint64_t bits = has_bits ? fxt_field(words[rule->word], rule->first_bit, rule->bits) : 0;

	field->rule = rule;
	field->at = rest->next;
	switch (rule->type) {
	case FXT_FIELD_NUMBER:
	case FXT_FIELD_ID:
	case FXT_FIELD_FLOW:
	case FXT_FIELD_CPU:
	case FXT_FIELD_TICKS:
	case FXT_FIELD_PROCESS_KOID:
	case FXT_FIELD_THREAD_KOID:
	case FXT_FIELD_HEADER:
		field->number = rule->bits ? bits : take_word(rest);
		break;
	case FXT_FIELD_MAGIC:
		if (words[0] != FXT_MAGIC_RECORD)
			rest->reason = "magic record with another number than the format's";
		break;
	case FXT_FIELD_STRING:
		field->string = take_string(rest, bits);
		break;
	case FXT_FIELD_THREAD:
	case FXT_FIELD_PROCESS:
		field->thread = take_thread(rest, bits, rule->type == FXT_FIELD_PROCESS);
		break;
	case FXT_FIELD_ARGUMENTS:
		field->arguments = (struct fxt_arguments){rest->next, rest->end, (unsigned)bits};
		if (is_decoded)
			skip_arguments(rest, bits);
		else
			check_arguments(rest, bits);
		break;
	case FXT_FIELD_TEXT:
	case FXT_FIELD_DATA:
		field->span = take_stream(rest, rule->bits ? bits : take_word(rest));
		break;
	}
}

/* The following two are inlined for each kind, so that the compiler makes straight code of
 * the table. A loop over the rules takes six times as long. */
static ALWAYS_INLINE void decode_fields(const uint64_t *words, struct rest *rest,
        const struct fxt_field_rule *rules, size_t count, struct fxt_view *view)
{
	struct fxt_field_value field;

#pragma GCC unroll 8
	for (size_t i = 0; i < count; i++) {
		take_field(words, rest, &rules[i], false, &field);
		if (rules[i].view_bytes > 0 && rules[i].type != FXT_FIELD_ARGUMENTS)
			view->type = fxt_record_type(words[0]);
		memcpy((char *)view + rules[i].view_offset, &field.number, rules[i].view_bytes);
	}
}

static ALWAYS_INLINE void visit_fields(const uint64_t *words, struct rest *rest,
        const struct fxt_field_rule *rules, size_t count, unsigned wanted, fxt_field_visit *visit,
        void *context)
{
#pragma GCC unroll 8
	for (size_t i = 0; i < count; i++) {
		struct fxt_field_value field, unwanted;

		if (!(wanted >> rules[i].type & 1)) {
			take_field(words, rest, &rules[i], true, &unwanted);
			continue;
		}
		take_field(words, rest, &rules[i], true, &field);
		field.end = rest->next;
		visit(context, &field);
	}
}

const char *fxt_decode(const struct fxt_record *r, struct fxt_view *view)
{
	const uint64_t *words = r->words;
	struct rest rest = {words + 1, words + r->size, NULL};

	*view = (struct fxt_view){.type = FXT_RECORD_OTHER};
	switch (fields_kind(words[0])) {
#define KIND(name, type, subtype, recovery, list)                                 \
	case KIND_##type##_##subtype:                                             \
		view->is_unknown = kind_is_unknown(KIND_##type##_##subtype);      \
		decode_fields(words, &rest, list##_fields, COUNT_OF(list), view); \
		break;
		KINDS
#undef KIND
	default:
		view->is_unknown = true;
		break;
	}
	view->end = rest.next;
	return rest.reason;
}

void fxt_visit_fields(const struct fxt_record *r, unsigned wanted, fxt_field_visit *visit, void *context)
{
	struct rest rest = {r->words + 1, r->words + r->size, NULL};

	switch (fields_kind(r->words[0])) {
#define KIND(name, type, subtype, recovery, list)                                                     \
	case KIND_##type##_##subtype:                                                                 \
		visit_fields(r->words, &rest, list##_fields, COUNT_OF(list), wanted, visit, context); \
		break;
		KINDS
#undef KIND
	default:
		break;
	}
}
