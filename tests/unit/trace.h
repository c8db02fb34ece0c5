/*
 * Helpers of the reader's tests: a trace put together record by record, by the encoders or
 * word by word.
 */
#ifndef FXT_TESTS_UNIT_TRACE_H
#define FXT_TESTS_UNIT_TRACE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "reader/trace/archive.h"
#include "reader/trace/source.h"
#include "writer/format/encode.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct trace {
	uint64_t words[1 << 13];
	size_t count;
};

static inline void added(struct trace *trace, size_t words)
{
	assert_true(words > 0);
	trace->count += words;
}

/* PUT(trace, event, …) is fxt_put_event(the end of the trace, its room, …). */
#define PUT(trace, record, ...)                                          \
	added((trace), fxt_put_##record((trace)->words + (trace)->count, \
	                       COUNT((trace)->words) - (trace)->count __VA_OPT__(, ) __VA_ARGS__))

static inline void put_words(struct trace *trace, const uint64_t *words, size_t count)
{
	assert_true(count <= COUNT(trace->words) - trace->count);
	if (count > 0)
		memcpy(trace->words + trace->count, words, count * 8);
	trace->count += count;
}

/* A file without a name that holds these bytes; its descriptor. */
static inline int memory_file_of(const void *bytes, size_t count)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	return fd;
}

static inline struct fxt_source source_of(const void *bytes, size_t count)
{
	char error[256];
	struct fxt_source source;
	int fd = memory_file_of(bytes, count);

	assert_int_equal(fxt_source_open_fd(&source, fd, "trace", error, sizeof(error)), 0);
	close(fd);
	return source;
}

static inline struct fxt_archive archive_of(const struct trace *trace)
{
	return (struct fxt_archive){.words = trace->words, .bytes = trace->count * 8};
}

/* The registrations of most traces here: strings 1-5 and thread 1, of one provider. */
enum { FUNCTION = 1, NAME = 2, PROCESS_ARGUMENT = 3, KEY = 4, TRACER = 5 };
enum { PROCESS = 100, THREAD = 101 };

static inline void put_text(struct trace *trace, uint32_t index, const char *text)
{
	PUT(trace, string, index, text, strlen(text));
}

static inline void begin_trace(struct trace *trace)
{
	trace->count = 0;
	PUT(trace, magic);
	PUT(trace, provider_info, 1, "program", 7);
	PUT(trace, initialization, 1000000000);
	put_text(trace, FUNCTION, "function");
	put_text(trace, NAME, "main");
	put_text(trace, PROCESS_ARGUMENT, "process");
	put_text(trace, KEY, "key");
	put_text(trace, TRACER, "fxt");
	PUT(trace, thread, 1, PROCESS, THREAD);
}

#define TEXT(literal) fxt_string_inline(literal, sizeof(literal) - 1)
#define INDEX(n)      fxt_string_index(n)
#define NO_ARGUMENTS  NULL, 0

/* A trace that holds every type of record and of argument, and breaks no rule. */
static inline void every_record(struct trace *trace)
{
	static const unsigned char data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct fxt_argument all[] = {
	        fxt_argument_null(INDEX(KEY)),
	        fxt_argument_int32(INDEX(KEY), -5),
	        fxt_argument_uint32(INDEX(KEY), 4000000000),
	        fxt_argument_int64(INDEX(KEY), -5000000000),
	        fxt_argument_uint64(TEXT("inline"), 10000000000),
	        fxt_argument_double(INDEX(KEY), 0.5),
	        fxt_argument_string(INDEX(KEY), INDEX(NAME)),
	        fxt_argument_string(TEXT("a long name"), TEXT("a long value")),
	        fxt_argument_string(INDEX(KEY), fxt_string_empty()),
	        fxt_argument_pointer(INDEX(KEY), 0xdeadbeef),
	        fxt_argument_koid(INDEX(KEY), PROCESS),
	        fxt_argument_bool(INDEX(KEY), true),
	        fxt_argument_bool(INDEX(KEY), false),
	        fxt_argument_blob(INDEX(KEY), data, sizeof(data)),
	        fxt_argument_blob(INDEX(KEY), NULL, 0),
	};
	struct fxt_argument process = fxt_argument_koid(INDEX(PROCESS_ARGUMENT), PROCESS);
	struct fxt_argument weight = fxt_argument_int32(TEXT("incoming_weight"), 7);
	struct fxt_argument records = fxt_argument_uint64(TEXT("records"), 12);
	struct fxt_thread thread = fxt_thread_index(1), other = fxt_thread_inline(PROCESS, THREAD + 1);
	uint64_t at = 1000;

	begin_trace(trace);
	PUT(trace, provider_event, 1, FXT_PROVIDER_EVENT_BUFFER_FULL);
	PUT(trace, kernel_object, FXT_OBJECT_PROCESS, PROCESS, TEXT("program"), NO_ARGUMENTS);
	PUT(trace, kernel_object, FXT_OBJECT_THREAD, THREAD, TEXT("main thread"), &process, 1);
	PUT(trace, event, FXT_EVENT_INSTANT, thread, INDEX(FUNCTION), INDEX(NAME), at++, all, COUNT(all), 0);
	PUT(trace, event, FXT_EVENT_COUNTER, other, INDEX(FUNCTION), INDEX(NAME), at++, all + 1, 5, 9);
	PUT(trace, event, FXT_EVENT_DURATION_BEGIN, thread, TEXT("a"), TEXT("b"), at++, NO_ARGUMENTS, 0);
	PUT(trace, event, FXT_EVENT_DURATION_COMPLETE, thread, INDEX(FUNCTION), INDEX(NAME), at, NO_ARGUMENTS,
	        at + 2);
	PUT(trace, event, FXT_EVENT_DURATION_END, thread, TEXT("a"), TEXT("b"), at + 6, NO_ARGUMENTS, 0);
	PUT(trace, event, FXT_EVENT_DURATION_COMPLETE, other, INDEX(TRACER), TEXT("fxt: 12 records lost"), at,
	        &records, 1, at + 1);
	for (enum fxt_event_type type = FXT_EVENT_ASYNC_BEGIN; type <= FXT_EVENT_FLOW_END; type++)
		PUT(trace, event, type, thread, INDEX(FUNCTION), INDEX(NAME), at++, NO_ARGUMENTS, 77);
	PUT(trace, event, FXT_EVENT_DURATION_BEGIN, other, INDEX(FUNCTION), INDEX(NAME), at, NO_ARGUMENTS, 0);
	PUT(trace, blob, TEXT("blob"), FXT_BLOB_DATA, data, sizeof(data));
	PUT(trace, userspace_object, thread, 0x1234, TEXT("object"), all + 3, 3);
	PUT(trace, userspace_object, fxt_thread_inline(PROCESS, 0), 0x1234, INDEX(NAME), NO_ARGUMENTS);
	PUT(trace, context_switch, at++, 3, FXT_THREAD_STATE_BLOCKED, THREAD, THREAD + 1, &weight, 1);
	PUT(trace, thread_wakeup, at++, 3, THREAD, NO_ARGUMENTS);
	PUT(trace, legacy_context_switch, at++, 3, FXT_THREAD_STATE_DEAD, thread, other, 1, 2);
	PUT(trace, log, at++, thread, "hello, world", 12);
	PUT(trace, large_blob_with_metadata, other, INDEX(FUNCTION), TEXT("large"), at++, all + 10, 3, data,
	        8);
	PUT(trace, large_blob, INDEX(FUNCTION), TEXT("large"), data, sizeof(data));
	PUT(trace, provider_info, 2, "other", 5);
	PUT(trace, initialization, 2400000000);
	PUT(trace, provider_section, 1);
	PUT(trace, event, FXT_EVENT_INSTANT, thread, INDEX(FUNCTION), INDEX(NAME), at, NO_ARGUMENTS, 0);
}

#endif
