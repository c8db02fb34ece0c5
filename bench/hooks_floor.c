/*
 * The floor: what any tracer of exact times has to do, and nothing else. The clock is read
 * at entry and at exit, and 24 bytes are stored: function, start, end. There is no name, no
 * nesting check, no reader; each thread goes round a populated region of its own, as large
 * as a rolling buffer.
 *
 * For the macros of <fxt/trace.h> it is an agent of the same kind: an instant is 16 bytes,
 * a duration 24.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "include/fxt/trace.h"
#include "writer/shared/clock.h"

#define REGION_BYTES (UINT64_C(24) << 20)
#define DEPTH        1024u

static __thread struct {
	uint64_t *at, *end;
	uint64_t start[DEPTH];
	uint32_t depth;
} thread;

static __attribute__((noinline)) void next_region(void)
{
	if (!thread.end) {
		thread.at = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (thread.at == MAP_FAILED)
			_exit(125);
		thread.end = thread.at + REGION_BYTES / 8;
	} else {
		thread.at = thread.end - REGION_BYTES / 8;
	}
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
	thread.start[thread.depth++ % DEPTH] = arch_counter();
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	uint64_t end = arch_counter();

	(void)call_site;
	if (__builtin_expect(thread.at == thread.end, 0))
		next_region();
	thread.at[0] = (uint64_t)(uintptr_t)function;
	thread.at[1] = thread.start[--thread.depth % DEPTH];
	thread.at[2] = end;
	thread.at += 3;
}

static const uint32_t *category(const char *name)
{
	static const uint32_t on = 1;

	(void)name;
	return &on;
}

static void event(struct fxt_trace_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	(void)type;
	(void)id;
	(void)arguments;
	(void)count;
	if (__builtin_expect(thread.at == thread.end, 0))
		next_region();
	thread.at[0] = (uint64_t)(uintptr_t)site;
	thread.at[1] = arch_counter();
	thread.at += 2;
}

static void span_begin(struct fxt_trace_span *span, void *call_site)
{
	(void)call_site;
	span->begin = arch_counter();
}

static void span_end(struct fxt_trace_span *span)
{
	uint64_t end = arch_counter();

	if (__builtin_expect(thread.at == thread.end, 0))
		next_region();
	thread.at[0] = (uint64_t)(uintptr_t)span->site;
	thread.at[1] = span->begin;
	thread.at[2] = end;
	thread.at += 3;
}

__attribute__((visibility("default"))) struct fxt_trace_agent fxt_trace_agent = {
        .version = FXT_TRACE_VERSION,
        .category = category,
        .event = event,
        .span_begin = span_begin,
        .span_end = span_end,
};
