/*
 * Reading archives: every record and argument type from words worked out by hand from the
 * text of the format and from the encoders, archives that break off anywhere, and files
 * that are none.
 */
#include "trace.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "reader/trace/fields.h"

static void decode(const uint64_t *words, size_t count, struct fxt_view *view)
{
	struct fxt_record r = {.words = words, .size = count};
	const char *reason = fxt_decode(&r, view);

	if (reason)
		fail_msg("0x%016" PRIx64 "…: %s", words[0], reason);
	assert_ptr_equal(view->end, words + count);
}

/* The words stand in a variable of their own, so that a view of them outlives the
 * statement. */
#define DECODE(view, name, ...)                       \
	static const uint64_t name[] = {__VA_ARGS__}; \
	decode(name, COUNT(name), &view)

static void is_text(struct fxt_span span, const char *text)
{
	assert_int_equal(span.bytes, strlen(text));
	assert_memory_equal(span.data, text, span.bytes);
}

#define ABC     0x0000000000636261
#define LETTERS 0x6867666564636261

/* ---- records by hand ---- */

static void metadata(void **state)
{
	struct fxt_view view;

	(void)state;
	DECODE(view, magic, 0x0016547846040010);
	assert_int_equal(view.type, FXT_RECORD_METADATA);
	assert_int_equal(view.metadata.type, FXT_METADATA_TRACE_INFO);

	/* name bytes 3 | provider 0x12345678 | metadata 1 | words 2 | record 0 */
	DECODE(view, info, 0x0031234567810020, ABC);
	assert_int_equal(view.metadata.type, FXT_METADATA_PROVIDER_INFO);
	assert_int_equal(view.metadata.provider, 0x12345678);
	is_text(view.metadata.name, "abc");

	DECODE(view, section, 0x000ffffffff20010);
	assert_int_equal(view.metadata.type, FXT_METADATA_PROVIDER_SECTION);
	assert_int_equal(view.metadata.provider, 0xffffffff);

	DECODE(view, event, 0x0010000000730010);
	assert_int_equal(view.metadata.type, FXT_METADATA_PROVIDER_EVENT);
	assert_int_equal(view.metadata.provider, 7);
	assert_int_equal(view.metadata.event, 1);
}

static void registrations(void **state)
{
	struct fxt_view view;

	(void)state;
	DECODE(view, initialization, 0x0000000000000021, 2400000000);
	assert_int_equal(view.initialization.ticks_per_second, 2400000000);

	/* bytes 3 | index 0x7fff | words 2 | record 2 */
	DECODE(view, string, 0x000000037fff0022, ABC);
	assert_int_equal(view.string.index, 0x7fff);
	is_text(view.string.text, "abc");
	DECODE(view, empty, 0x0000000000010012);
	assert_int_equal(view.string.text.bytes, 0);
	DECODE(view, whole_words, 0x0000000800010022, LETTERS);
	is_text(view.string.text, "abcdefgh");

	DECODE(view, thread, 0x0000000000ff0033, 5, 6);
	assert_int_equal(view.thread.index, 0xff);
	assert_int_equal(view.thread.koids.process, 5);
	assert_int_equal(view.thread.koids.thread, 6);
}

static void events(void **state)
{
	struct fxt_view view;

	(void)state;
	/* name 3 | category 2 | thread 1 | arguments 0 | complete 4 | words 3 | record 4 */
	DECODE(view, complete, 0x0003000201040034, 10, 20);
	assert_true(fxt_is_plain_call(complete[0]));
	assert_int_equal(view.event.type, FXT_EVENT_DURATION_COMPLETE);
	assert_int_equal(view.event.thread.ref, 1);
	assert_int_equal(view.event.category.ref, 2);
	assert_int_equal(view.event.name.ref, 3);
	assert_int_equal(view.event.ticks, 10);
	assert_int_equal(view.event.extra, 20);

	/* The same with an inline thread, category and name: 2 + 1 + 1 words more. */
	DECODE(view, inlined, 0x8003800800040074, 10, 5, 6, LETTERS, ABC, 20);
	assert_false(fxt_is_plain_call(inlined[0]));
	assert_int_equal(view.event.thread.ref, 0);
	assert_int_equal(view.event.thread.process, 5);
	assert_int_equal(view.event.thread.thread, 6);
	is_text(fxt_inline_text(view.event.category), "abcdefgh");
	is_text(fxt_inline_text(view.event.name), "abc");
	assert_int_equal(view.event.extra, 20);

	DECODE(view, begin, 0x0003000201020024, 10);
	assert_int_equal(view.event.type, FXT_EVENT_DURATION_BEGIN);
	assert_int_equal(view.event.extra, 0);

	/* A counter: one int32 argument of the name 4, then an id that looks like one
	 * more. */
	DECODE(view, counter, 0x0003000201110044, 10, 0xffffffff00040011, 0x10);
	struct fxt_argument argument;

	assert_true(fxt_next_argument(&view.arguments, &argument));
	assert_int_equal(argument.type, FXT_ARGUMENT_INT32);
	assert_int_equal(argument.name.ref, 4);
	assert_int_equal((int32_t)argument.value.word, -1);
	assert_false(fxt_next_argument(&view.arguments, &argument));
	assert_int_equal(view.event.extra, 0x10);
}

static void objects(void **state)
{
	struct fxt_view view;

	(void)state;
	/* arguments 0 | name inline 3 | process 0 | words 4 | record 6 */
	DECODE(view, userspace, 0x0000008003000046, 0xdead, 5, ABC);
	assert_int_equal(view.userspace_object.pointer, 0xdead);
	assert_int_equal(view.userspace_object.process.process, 5);
	is_text(fxt_inline_text(view.userspace_object.name), "abc");
	DECODE(view, indexed, 0x0000000002010026, 0xdead);
	assert_int_equal(view.userspace_object.process.ref, 1);
	assert_int_equal(view.userspace_object.name.ref, 2);

	/* arguments 1 | name 2 | thread object 2 | words 4 | record 7; a koid argument of
	 * the name 3 */
	DECODE(view, kernel, 0x0000010002020047, 101, 0x0000000000030028, 100);
	assert_int_equal(view.kernel_object.type, FXT_OBJECT_THREAD);
	assert_int_equal(view.kernel_object.koid, 101);
	assert_int_equal(view.kernel_object.name.ref, 2);
	assert_int_equal(view.arguments.left, 1);
}

static void scheduling(void **state)
{
	struct fxt_view view;

	(void)state;
	/* type 1 | state 3 | cpu 0x1234 | arguments 0 | words 4 | record 8 */
	DECODE(view, context_switch, 0x1000003123400048, 10, 5, 6);
	assert_int_equal(view.scheduling.type, FXT_SCHEDULING_CONTEXT_SWITCH);
	assert_int_equal(view.scheduling.cpu, 0x1234);
	assert_int_equal(view.scheduling.outgoing_state, FXT_THREAD_STATE_BLOCKED);
	assert_int_equal(view.scheduling.ticks, 10);
	assert_int_equal(view.scheduling.outgoing.thread, 5);
	assert_int_equal(view.scheduling.incoming.thread, 6);

	DECODE(view, wakeup, 0x2000000123400038, 10, 6);
	assert_int_equal(view.scheduling.type, FXT_SCHEDULING_THREAD_WAKEUP);
	assert_int_equal(view.scheduling.cpu, 0x1234);
	assert_int_equal(view.scheduling.incoming.thread, 6);

	/* type 0 | priorities 0x22, 0x11 | threads: in 0, out 1 | state 5 | cpu 0x33 |
	 * words 4 | record 8 */
	DECODE(view, legacy, 0x0221100015330048, 10, 7, 8);
	assert_int_equal(view.scheduling.type, FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH);
	assert_int_equal(view.scheduling.cpu, 0x33);
	assert_int_equal(view.scheduling.outgoing_state, FXT_THREAD_STATE_DEAD);
	assert_int_equal(view.scheduling.outgoing.ref, 1);
	assert_int_equal(view.scheduling.incoming.ref, 0);
	assert_int_equal(view.scheduling.incoming.process, 7);
	assert_int_equal(view.scheduling.incoming.thread, 8);
	assert_int_equal(view.scheduling.outgoing_priority, 0x11);
	assert_int_equal(view.scheduling.incoming_priority, 0x22);
}

static void texts_and_data(void **state)
{
	struct fxt_view view;

	(void)state;
	/* thread 1 | bytes 3 | words 3 | record 9 */
	DECODE(view, log, 0x0000000100030039, 10, ABC);
	assert_int_equal(view.log.thread.ref, 1);
	assert_int_equal(view.log.ticks, 10);
	is_text(view.log.text, "abc");

	/* type 3 | bytes 3 | name inline 3 | words 3 | record 5 */
	DECODE(view, blob, 0x0003000380030035, ABC, ABC);
	assert_int_equal(view.blob.type, FXT_BLOB_PERFETTO);
	is_text(fxt_inline_text(view.blob.name), "abc");
	is_text(view.blob.data, "abc");

	/* format 0 | large type 0 | words 9 | record 15, then thread 0 | arguments 1 | name
	 * 2 | category inline */
	DECODE(view, large, 0x000000000000009f, 0x0000000100028003, ABC, 10, 5, 6, 0x0000000000040010, 3,
	        ABC);
	assert_int_equal(view.large_blob.format, FXT_LARGE_BLOB_WITH_METADATA);
	is_text(fxt_inline_text(view.large_blob.category), "abc");
	assert_int_equal(view.large_blob.name.ref, 2);
	assert_int_equal(view.large_blob.ticks, 10);
	assert_int_equal(view.large_blob.thread.process, 5);
	assert_int_equal(view.large_blob.thread.thread, 6);
	assert_int_equal(view.arguments.left, 1);
	is_text(view.large_blob.data, "abc");

	DECODE(view, bare, 0x000001000000004f, 0x0000000000020001, 3, ABC);
	assert_int_equal(view.large_blob.format, FXT_LARGE_BLOB_WITHOUT_METADATA);
	assert_int_equal(view.large_blob.category.ref, 1);
	assert_int_equal(view.large_blob.name.ref, 2);
	is_text(view.large_blob.data, "abc");
}

static void arguments(void **state)
{
	struct fxt_argument argument;
	struct fxt_view view;
	double number;

	(void)state;
	/* An instant with 11 arguments, each named 4 except the string's, which has an
	 * inline name. */
	DECODE(view, all, 0x0003000201b00154, 10, 0x0000000000040010, 0xfffffffb00040011, 0xee6b280000040012,
	        0x0000000000040023, 0xfffffffed5fa0e00, 0x0000000000040024, 10000000000, 0x0000000000040025,
	        0x3fe0000000000000, 0x0000800380030036, ABC, ABC, 0x0000000000040027, 0xdeadbeef,
	        0x0000000000040028, 100, 0x0000000100040019, 0x000000030004002a, ABC);
	uint64_t words[11];

	for (int type = FXT_ARGUMENT_NULL; type <= FXT_ARGUMENT_BLOB; type++) {
		assert_true(fxt_next_argument(&view.arguments, &argument));
		assert_int_equal(argument.type, type);
		if (type == FXT_ARGUMENT_STRING) {
			is_text(fxt_inline_text(argument.name), "abc");
			is_text(fxt_inline_text(argument.value.string), "abc");
			continue;
		}
		assert_int_equal(argument.name.ref, 4);
		if (type == FXT_ARGUMENT_BLOB)
			is_text((struct fxt_span){argument.value.blob.data, argument.value.blob.bytes},
			        "abc");
		else
			words[type] = argument.value.word;
	}
	assert_false(fxt_next_argument(&view.arguments, &argument));
	memcpy(&number, &words[FXT_ARGUMENT_DOUBLE], 8);
	assert_int_equal((int32_t)words[FXT_ARGUMENT_INT32], -5);
	assert_int_equal(words[FXT_ARGUMENT_UINT32], 4000000000);
	assert_true((int64_t)words[FXT_ARGUMENT_INT64] == -5000000000);
	assert_true(words[FXT_ARGUMENT_UINT64] == 10000000000);
	assert_true(number == 0.5);
	assert_int_equal(words[FXT_ARGUMENT_POINTER], 0xdeadbeef);
	assert_int_equal(words[FXT_ARGUMENT_KOID], 100);
	assert_int_equal(words[FXT_ARGUMENT_BOOL], 1);
}

/* ---- encoded, decoded, and encoded again ---- */

static size_t encode_metadata(uint64_t *dst, size_t room, const struct fxt_view *view)
{
	switch (view->metadata.type) {
	case FXT_METADATA_PROVIDER_INFO:
		return fxt_put_provider_info(dst, room, view->metadata.provider, view->metadata.name.data,
		        view->metadata.name.bytes);
	case FXT_METADATA_PROVIDER_SECTION:
		return fxt_put_provider_section(dst, room, view->metadata.provider);
	case FXT_METADATA_PROVIDER_EVENT:
		return fxt_put_provider_event(dst, room, view->metadata.provider, view->metadata.event);
	case FXT_METADATA_TRACE_INFO:
		return fxt_put_magic(dst, room);
	}
	return 0;
}

static size_t encode_scheduling(
        uint64_t *dst, size_t room, const struct fxt_view *view, const struct fxt_argument *a, size_t count)
{
	switch (view->scheduling.type) {
	case FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH:
		return fxt_put_legacy_context_switch(dst, room, view->scheduling.ticks, view->scheduling.cpu,
		        view->scheduling.outgoing_state, view->scheduling.outgoing, view->scheduling.incoming,
		        view->scheduling.outgoing_priority, view->scheduling.incoming_priority);
	case FXT_SCHEDULING_CONTEXT_SWITCH:
		return fxt_put_context_switch(dst, room, view->scheduling.ticks, view->scheduling.cpu,
		        view->scheduling.outgoing_state, view->scheduling.outgoing.thread,
		        view->scheduling.incoming.thread, a, count);
	case FXT_SCHEDULING_THREAD_WAKEUP:
		return fxt_put_thread_wakeup(dst, room, view->scheduling.ticks, view->scheduling.cpu,
		        view->scheduling.incoming.thread, a, count);
	}
	return 0;
}

static size_t encode_large(
        uint64_t *dst, size_t room, const struct fxt_view *view, const struct fxt_argument *a, size_t count)
{
	struct fxt_span data = view->large_blob.data;

	if (view->large_blob.format == FXT_LARGE_BLOB_WITHOUT_METADATA)
		return fxt_put_large_blob(
		        dst, room, view->large_blob.category, view->large_blob.name, data.data, data.bytes);
	return fxt_put_large_blob_with_metadata(dst, room, view->large_blob.thread, view->large_blob.category,
	        view->large_blob.name, view->large_blob.ticks, a, count, data.data, data.bytes);
}

static size_t encode(uint64_t *dst, size_t room, const struct fxt_view *view)
{
	struct fxt_arguments arguments = view->arguments;
	struct fxt_argument a[FXT_ARGUMENTS_MAX];
	size_t count = 0;

	while (fxt_next_argument(&arguments, &a[count]))
		count++;
	switch (view->type) {
	case FXT_RECORD_METADATA:
		return encode_metadata(dst, room, view);
	case FXT_RECORD_INITIALIZATION:
		return fxt_put_initialization(dst, room, view->initialization.ticks_per_second);
	case FXT_RECORD_STRING:
		return fxt_put_string(
		        dst, room, view->string.index, view->string.text.data, view->string.text.bytes);
	case FXT_RECORD_THREAD:
		return fxt_put_thread(
		        dst, room, view->thread.index, view->thread.koids.process, view->thread.koids.thread);
	case FXT_RECORD_EVENT:
		return fxt_put_event(dst, room, view->event.type, view->event.thread, view->event.category,
		        view->event.name, view->event.ticks, a, count, view->event.extra);
	case FXT_RECORD_BLOB:
		return fxt_put_blob(dst, room, view->blob.name, view->blob.type, view->blob.data.data,
		        view->blob.data.bytes);
	case FXT_RECORD_USERSPACE_OBJECT:
		return fxt_put_userspace_object(dst, room, view->userspace_object.process,
		        view->userspace_object.pointer, view->userspace_object.name, a, count);
	case FXT_RECORD_KERNEL_OBJECT:
		return fxt_put_kernel_object(dst, room, view->kernel_object.type, view->kernel_object.koid,
		        view->kernel_object.name, a, count);
	case FXT_RECORD_SCHEDULING:
		return encode_scheduling(dst, room, view, a, count);
	case FXT_RECORD_LOG:
		return fxt_put_log(dst, room, view->log.ticks, view->log.thread, view->log.text.data,
		        view->log.text.bytes);
	case FXT_RECORD_LARGE:
		return encode_large(dst, room, view, a, count);
	}
	return 0;
}

static void round_trip(void **state)
{
	static struct trace trace;
	uint64_t again[256];
	unsigned types = 0;
	struct fxt_view view;
	struct fxt_record r;

	(void)state;
	every_record(&trace);
	struct fxt_archive archive = archive_of(&trace);
	struct fxt_cursor cursor = fxt_cursor(&archive);

	while (fxt_next(&cursor, &r)) {
		assert_null(fxt_decode(&r, &view));
		assert_int_equal(encode(again, COUNT(again), &view), r.size);
		assert_memory_equal(again, r.words, r.size * 8);
		types |= 1u << view.type;
	}
	assert_null(cursor.fault.reason);
	assert_int_equal(types, 0x83ff); /* 0 to 9, and 15 */
}

/* ---- malformed records ---- */

static const struct {
	const char *reason;
	size_t count;
	uint64_t words[8];
} malformed[] = {
        {"magic record with another number than the format's", 1, {0x0016547847040010}},
        {"magic record with another number than the format's", 2, {0x0016547846040020, 0}},
        {"record is shorter than its contents", 1, {0x0030000000110010}},
        {"record is shorter than its contents", 1, {0x11}},
        {"record is shorter than its contents", 2, {0x0000000900010022, LETTERS}},
        {"record is shorter than its contents", 2, {0x0000000000010023, 5}},
        {"record is shorter than its contents", 2, {0x0003000201040024, 10}},
        {"record is shorter than its contents", 3, {0x0003000200020034, 10, 5}},
        {"record is shorter than its contents", 3, {0x0003800901020034, 10, LETTERS}},
        {"record is shorter than its contents", 2, {0x0001000900010025, LETTERS}},
        {"record is shorter than its contents", 2, {0x0000000002000026, 0xdead}},
        {"record is shorter than its contents", 1, {0x0000000002020017}},
        {"record is shorter than its contents", 3, {0x1000000000000038, 10, 5}},
        {"record is shorter than its contents", 3, {0x0000000000000038, 10, 5}},
        {"record is shorter than its contents", 3, {0x0000000100090039, 10, LETTERS}},
        {"record is shorter than its contents", 1, {0x000001000000001f}},
        {"record is shorter than its contents", 1, {0x000000000000001f}},
        {"record is shorter than its contents", 4, {0x000001000000004f, 0x20001, 9, LETTERS}},
        {"record is shorter than its contents", 4, {0x000001000000004f, 0x20001, UINT64_MAX, LETTERS}},
        {"record is shorter than its arguments", 2, {0x0003000201100024, 10}},
        {"argument of size 0", 3, {0x0003000201100034, 10, 0x0000000000040000}},
        {"argument is longer than its record", 3, {0x0003000201100034, 10, 0x0000000000040020}},
        {"argument is shorter than its contents", 3, {0x0003000201100034, 10, 0x0000000000040013}},
        {"argument is shorter than its contents", 3, {0x0003000201100034, 10, 0x0000000080030010}},
        {"argument is shorter than its contents", 3, {0x0003000201100034, 10, 0x0000800300040016}},
        {"argument is shorter than its contents", 3, {0x0003000201100034, 10, 0xffffffff0004001a}},
};

static void malformed_records(void **state)
{
	struct fxt_view view;

	(void)state;
	for (size_t i = 0; i < COUNT(malformed); i++) {
		struct fxt_record r = {.words = malformed[i].words, .size = malformed[i].count};
		const char *reason = fxt_decode(&r, &view);

		if (!reason || strcmp(reason, malformed[i].reason) != 0)
			fail_msg("0x%016" PRIx64 ": \"%s\", not \"%s\"", r.words[0],
			        reason ? reason : "nothing wrong", malformed[i].reason);
	}
}

/* The view of a type or kind that the format does not have says only that it is unknown, so
 * that no reader takes the record for a known one. All events begin alike, unknown ones
 * too. */
static void unknown_kinds(void **state)
{
	static const struct {
		enum fxt_record_type type;
		size_t count;
		uint64_t words[4];
	} unknown[] = {
	        {FXT_RECORD_OTHER, 1, {0x1a}},
	        {FXT_RECORD_OTHER, 1, {0x0000000000050010}},                  /* metadata */
	        {FXT_RECORD_OTHER, 1, {0x0016547846140010}},                  /* information about a trace */
	        {FXT_RECORD_OTHER, 2, {0x3000000000000028, 10}},              /* scheduling */
	        {FXT_RECORD_OTHER, 4, {0x000001100000004f, 0x20001, 3, ABC}}, /* a large record */
	        {FXT_RECORD_OTHER, 4, {0x000002000000004f, 0x20001, 3, ABC}}, /* a large blob */
	        {FXT_RECORD_EVENT, 2, {0x00020001010b0024, 10}},
	};
	struct fxt_view view;

	(void)state;
	for (size_t i = 0; i < COUNT(unknown); i++) {
		struct fxt_record r = {.words = unknown[i].words, .size = unknown[i].count};

		assert_null(fxt_decode(&r, &view));
		assert_true(view.is_unknown);
		assert_int_equal(view.type, unknown[i].type);
	}
	assert_int_equal(view.event.ticks, 10);
}

/* The manager of a killed session wrote the metadata, the rates and the blobs, and nothing
 * writes them again. The agents' records are collected again from their buffers. */
static void kept_in_recovery(void **state)
{
	static const struct {
		uint64_t header;
		bool is_kept;
	} records[] = {
	        {0x0016547846040010, true},  /* magic */
	        {0x0031234567810020, true},  /* provider info */
	        {0x0000000000050010, true},  /* metadata of an unknown kind */
	        {0x0016547846140010, true},  /* other information about a trace */
	        {0x0000000000000021, true},  /* initialization */
	        {0x0001000300020025, true},  /* blob */
	        {0x000000000000004f, true},  /* large blob */
	        {0x000001100000004f, true},  /* large record of an unknown kind */
	        {0x0000000300070022, false}, /* string */
	        {0x0000000000ff0033, false}, /* thread */
	        {0x0002000101040034, false}, /* slice */
	        {0x00020001010b0024, false}, /* event of an unknown type */
	        {0x0000000001010036, false}, /* userspace object */
	        {0x0000000002020027, false}, /* thread object */
	        {0x1000006000000048, false}, /* context switch */
	        {0x3000000000000028, false}, /* scheduling record of an unknown kind */
	        {0x0000000100010039, false}, /* log */
	        {0x000000000000001a, false}, /* record of an unknown type */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++)
		if (fxt_is_kept_in_recovery(records[i].header) != records[i].is_kept)
			fail_msg("0x%016" PRIx64, records[i].header);
}

/* ---- archives that break off ---- */

static void cut_at_every_byte(void **state)
{
	static struct trace trace;
	size_t ends[256], records = 0;
	struct fxt_record r;

	(void)state;
	every_record(&trace);
	struct fxt_archive archive = archive_of(&trace);
	struct fxt_cursor cursor = fxt_cursor(&archive);

	while (fxt_next(&cursor, &r))
		ends[records++] = r.offset + r.size * 8;
	assert_int_equal(ends[records - 1], trace.count * 8);
	for (size_t bytes = 8; bytes <= trace.count * 8; bytes++) {
		/* A copy of just that size, so that a tool that watches memory sees a byte
		 * too much. */
		uint64_t *copy = malloc(bytes);
		size_t whole = 0, seen = 0;

		memcpy(copy, trace.words, bytes);
		while (whole < records && ends[whole] <= bytes)
			whole++;
		archive = (struct fxt_archive){.words = copy, .bytes = bytes};
		cursor = fxt_cursor(&archive);
		while (fxt_next(&cursor, &r))
			seen++;
		assert_int_equal(seen, whole);
		assert_int_equal(cursor.fault.truncated, ends[whole - 1] != bytes);
		if (cursor.fault.truncated) {
			assert_string_equal(cursor.fault.reason, "truncated inside a record");
			assert_int_equal(cursor.fault.offset, ends[whole - 1]);
		}
		free(copy);
	}
}

/* If only some parts of an archive are to be seen, only their records are, at their
 * places. */
static void parts_of_an_archive(void **state)
{
	static const uint64_t words[] = {0x0016547846040010, 0x24, 1, 0x24, 2, 0x24, 3, 0x24, 4, 0x24, 5};
	static const struct fxt_archive_part parts[] = {{8, 24}, {24, 40}, {72, 88}};
	struct fxt_archive archive = {
	        .words = words, .bytes = sizeof(words), .parts = parts, .part_count = 3};
	struct fxt_cursor cursor = fxt_cursor(&archive);
	struct fxt_record r;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		static const uint64_t expected[] = {1, 2, 5};

		assert_true(fxt_next(&cursor, &r));
		assert_int_equal(r.words[1], expected[i]);
		assert_int_equal(r.offset, parts[i].from);
	}
	assert_false(fxt_next(&cursor, &r));
	assert_null(cursor.fault.reason);
	archive.part_count = 0;
	cursor = fxt_cursor(&archive);
	assert_false(fxt_next(&cursor, &r));
	assert_null(cursor.fault.reason);
}

static void size_zero(void **state)
{
	static const uint64_t words[] = {FXT_MAGIC_RECORD, 0x0000000000000004, 0x0000000000000021, 1};
	static const uint64_t large[] = {FXT_MAGIC_RECORD, 0x000000000000000f, 0x0000000000000021, 1};
	struct fxt_record r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fxt_archive archive = {.words = i ? large : words, .bytes = sizeof(words)};
		struct fxt_cursor cursor = fxt_cursor(&archive);

		assert_true(fxt_next(&cursor, &r));
		assert_false(fxt_next(&cursor, &r));
		assert_string_equal(
		        cursor.fault.reason, "record of size 0, so nothing after it can be found");
		assert_int_equal(cursor.fault.offset, 8);
		assert_false(cursor.fault.truncated);
		assert_false(fxt_next(&cursor, &r));
	}
}

/* The size of a large record has 32 bits: here 0x10004 words; a reader of 12 bits would see
 * 4. */
static void large_record(void **state)
{
	size_t words = 1 + 0x10004 + 1, bytes = (0x10004 - 3) * 8;
	uint64_t *trace = calloc(words, 8);
	struct fxt_archive archive = {.words = trace, .bytes = words * 8};
	struct fxt_cursor cursor = fxt_cursor(&archive);
	struct fxt_record r;
	struct fxt_view view;

	(void)state;
	trace[0] = FXT_MAGIC_RECORD;
	trace[1] = 0x000001000010004f;
	trace[2] = 0x20001;
	trace[3] = bytes;
	trace[words - 1] = 0x0000000000120010;
	assert_true(fxt_next(&cursor, &r) && fxt_next(&cursor, &r));
	assert_int_equal(r.size, 0x10004);
	assert_null(fxt_decode(&r, &view));
	assert_int_equal(view.large_blob.data.bytes, bytes);
	assert_true(fxt_next(&cursor, &r));
	assert_int_equal(r.offset, 8 + 0x10004 * 8);
	assert_false(fxt_next(&cursor, &r));
	free(trace);
}

/* ---- files ---- */

static void refuses(const char *name, const char *expected)
{
	struct fxt_archive archive;
	char error[256];

	assert_int_equal(fxt_archive_open(&archive, name, error, sizeof(error)), -1);
	assert_string_equal(error, expected);
}

/* A file of these bytes, by the name under which it can be opened. */
static char *file_of(int *fd, const void *data, size_t bytes)
{
	static char name[64];

	*fd = memfd_create("test", 0);
	assert_true(write(*fd, data, bytes) == (ssize_t)bytes);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", *fd);
	return name;
}

static void no_archives(void **state)
{
	static const uint64_t foreign = 0x1000044678541600;
	char expected[256];
	int fd;

	(void)state;
	refuses("/nonexistent/trace", "/nonexistent/trace: cannot be opened: No such file or directory");
	refuses("/", "/: cannot be read: Is a directory");
	refuses("/dev/null", "/dev/null: is empty");
	const char *name = file_of(&fd, "#!/bin/sh\n", 10);

	snprintf(expected, sizeof(expected), "%s: is not a trace in the Fuchsia trace format (FXT)", name);
	refuses(name, expected);
	assert_int_equal(ftruncate(fd, 7), 0);
	refuses(name, expected);
	close(fd);
	name = file_of(&fd, &foreign, 8);
	snprintf(expected, sizeof(expected), "%s: is a trace of a big-endian machine, which cannot be read",
	        name);
	refuses(name, expected);
	close(fd);
}

static void is_whole(struct fxt_archive *archive, const struct trace *trace)
{
	assert_int_equal(archive->bytes, trace->count * 8);
	assert_memory_equal(archive->words, trace->words, archive->bytes);
	fxt_archive_close(archive);
}

static void files_and_pipes(void **state)
{
	static const char text[7992];
	static struct trace trace;
	struct fxt_archive archive;
	char error[256];
	int fd, ends[2], status, standard_input = dup(STDIN_FILENO);

	(void)state;
	every_record(&trace);
	assert_int_equal(
	        fxt_archive_open(&archive, file_of(&fd, trace.words, trace.count * 8), error, 256), 0);
	is_whole(&archive, &trace);

	/* The descriptor stands at the end of what was written. */
	assert_int_equal(fxt_archive_open_fd(&archive, fd, "test", error, sizeof(error)), 0);
	is_whole(&archive, &trace);
	close(fd);

	/* The smallest archive there is. */
	assert_int_equal(fxt_archive_open(&archive, file_of(&fd, trace.words, 8), error, sizeof(error)), 0);
	assert_int_equal(archive.bytes, 8);
	fxt_archive_close(&archive);
	close(fd);

	/* More than a pipe holds, from another process. */
	while (trace.count + 1000 < COUNT(trace.words))
		PUT(&trace, string, 7, text, sizeof(text));
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();

	if (child == 0) {
		bool written = write(ends[1], trace.words, 100) == 100 &&
		               write(ends[1], (char *)trace.words + 100, trace.count * 8 - 100) ==
		                       (ssize_t)(trace.count * 8 - 100);

		_exit(written ? 0 : 1);
	}
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	assert_int_equal(fxt_archive_open(&archive, "-", error, sizeof(error)), 0);
	is_whole(&archive, &trace);
	dup2(standard_input, STDIN_FILENO);
	close(standard_input);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(metadata),
	        cmocka_unit_test(registrations),
	        cmocka_unit_test(events),
	        cmocka_unit_test(objects),
	        cmocka_unit_test(scheduling),
	        cmocka_unit_test(texts_and_data),
	        cmocka_unit_test(arguments),
	        cmocka_unit_test(round_trip),
	        cmocka_unit_test(malformed_records),
	        cmocka_unit_test(unknown_kinds),
	        cmocka_unit_test(kept_in_recovery),
	        cmocka_unit_test(cut_at_every_byte),
	        cmocka_unit_test(size_zero),
	        cmocka_unit_test(parts_of_an_archive),
	        cmocka_unit_test(large_record),
	        cmocka_unit_test(no_archives),
	        cmocka_unit_test(files_and_pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
