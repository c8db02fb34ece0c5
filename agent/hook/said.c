/*
 * Writes the program's own events (said.h) on the thread that tells them. The fast path
 * (said_fast.h) is for the frequent cases. All other cases take the slow path, which has the
 * same result in any situation.
 */
#include "said.h"
#include "agent/base/attributes.h"
#include "agent/process/helper.h"
#include "agent/process/modules.h"
#include "claim.h"
#include "elided.h"
#include "events.h"
#include "filter.h"
#include "said_fast.h"
#include "triggers.h"

/* Larger objects go into the thread's chunk. */
#define DURABLE_WORDS 32

/* In a handler inside a hook, or at the end of a stack, where nothing can be written. The
 * thread's next hook shows the loss. */
static void said_lose_nested(void)
{
	add_relaxed(&agent_self.slot->nested_lost, 1);
	agent_force_slow_path(agent_self.writer);
}

bool agent_said_is_possible(const struct fxt_trace_site *site, bool begins, uint64_t stack_bytes)
{
	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth();
	if (load_relaxed(&agent_recording) == AGENT_QUIET || !agent_said_is_wanted(site))
		return false;
	if (agent_is_borrower()) {
		add_relaxed(&agent_engine.control->lost_without_slot, begins);
		return false;
	}
	if (agent_self.writer && !agent_stack_has(stack_bytes)) {
		if (begins)
			said_lose_nested();
		return false;
	}
	return true;
}

/* Claims a writer for something that the site says. NULL: nothing is recorded here and now,
 * or it was counted as lost. */
static struct fxt_thread_writer *said_claim(const struct fxt_trace_site *site, bool begins)
{
	struct fxt_thread_writer *writer;
	bool is_in_hook;

	if (!agent_said_is_possible(site, begins, AGENT_STACK_LEAST))
		return NULL;
	is_in_hook = agent_is_in_hook();
	writer = begins ? agent_claim_for_call() : agent_claim_for_wait();
	if (!writer && is_in_hook && begins && agent_self.writer && agent_engine.state == FXT_ENGINE_STARTED)
		said_lose_nested();
	return writer;
}

static void said_release(struct fxt_thread_writer *writer)
{
	bool is_coroutines_writer = writer == agent_self.claimed;

	if (agent_helper_wanted())
		agent_helper_start();
	agent_release(writer);
	/* The next hook finds out which stack it is on. */
	if (is_coroutines_writer && agent_self.writer)
		agent_force_slow_path(agent_self.writer);
}

/* Writes a record, or counts it as lost unless recording has ended. One that is too large
 * is lost at a moment: the records after it are not, so it is part of no gap. */
static void said_write_or_lose(struct fxt_thread_writer *writer, const struct said *said, uint64_t ticks)
{
	size_t words = said_words(said);

	if (words > FXT_RECORD_MAX_WORDS)
		add_relaxed(&fxt_slot(&agent_engine, writer->number)->nested_lost, 1);
	else if (!fxt_chunk_write_by(&agent_engine, writer, said_put, said, words, false) &&
	         load_relaxed(&agent_engine.run) == writer->run)
		agent_count_lost(writer, 1, ticks);
}

/* The names of objects are durable if there is room: a circular buffer then keeps them. */
static bool said_write_durable(const struct said *said)
{
	uint64_t record[DURABLE_WORDS];
	size_t words = said_words(said);
	uint64_t mask;
	bool is_written;

	if (words > DURABLE_WORDS)
		return false;
	said_put(record, words, said);
	mask = fxt_engine_lock(&agent_engine);
	is_written = fxt_durable_write(&agent_engine, record, words, false);
	fxt_engine_unlock(&agent_engine, mask);
	return is_written;
}

/* Records an event or an object of a site. Fills in the site's names, the thread and the
 * time. */
static COLD void said_record(struct said *said, struct fxt_trace_site *site,
        const struct fxt_trace_argument *arguments, size_t count)
{
	bool is_object = said->kind == SAID_USERSPACE_OBJECT || said->kind == SAID_KERNEL_OBJECT;
	struct fxt_thread_writer *writer = said_claim(site, true);
	struct fxt_argument to[FXT_ARGUMENTS_MAX];
	struct fxt_string name = said->name;

	if (!writer)
		return;
	agent_said_learn(site, arguments, count);
	said_fill(said, to, fxt_slot(&agent_engine, writer->number), site, arguments, count);
	said->ticks = agent_stamp(writer);
	if (is_object) {
		said->thread = fxt_thread_inline(agent_engine.process_koid, 0);
		said->name = name;
	}
	if (!is_object || !said_write_durable(said))
		said_write_or_lose(writer, said, said->ticks);
	said_release(writer);
}

/* ---- spans ---- */

static COLD void said_slow_begin(struct fxt_trace_span *span, void *call_site, uint64_t stack_pointer)
{
	struct fxt_trace_site *site = span->site;
	struct fxt_thread_writer *writer = said_claim(site, true);
	uint64_t ref;

	if (!writer)
		return;
	agent_said_learn(site, span->arguments, span->count);
	ref = fxt_span_ref(site->texts[0], site->texts[1]);
	agent_await_decision(ref);
	span->begin = agent_begin_wait(writer, ref, (uint64_t)(uintptr_t)call_site, stack_pointer);
	if (!span->begin)
		agent_count_lost(writer, 1, fxt_clock_ticks(agent_engine.clock));
	said_release(writer);
	agent_trigger_raise(agent_trigger_begin(ref));
}

static COLD void said_slow_end(const struct fxt_trace_span *span)
{
	struct fxt_trace_site *site = span->site;
	struct fxt_thread_writer *writer = said_claim(site, false);
	const struct fxt_frame *frame = writer ? agent_find_wait(writer, span->begin) : NULL;
	struct fxt_argument to[FXT_ARGUMENTS_MAX];
	uint32_t trigger = 0;
	struct said said = {.kind = SAID_EVENT, .type = FXT_EVENT_DURATION_COMPLETE};

	if (frame) {
		uint64_t end = writer->last;

		agent_said_learn(site, span->arguments, span->count);
		said_fill(&said, to, fxt_slot(&agent_engine, writer->number), site, span->arguments,
		        span->count);
		said.ticks = span->begin;
		said.extra = end;
		if (agent_filters_calls()) {
			trigger = agent_trigger_of(frame, end);
			agent_keep_around(frame);
		}
		/* Arguments that no record can hold are left out. */
		if (said_words(&said) > FXT_RECORD_MAX_WORDS ||
		        !fxt_chunk_write_by(
		                &agent_engine, writer, said_put, &said, said_words(&said), true)) {
			agent_end_frame(writer, frame, end, false); /* raises it */
			trigger = 0;
		}
	}
	if (writer)
		said_release(writer);
	agent_trigger_raise(trigger);
}

/* ---- the table ---- */

/* These are apart from the functions below, which therefore need no memory of their own. */
static __attribute__((noinline)) void said_any_event(struct fxt_trace_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	struct said said = {.kind = SAID_EVENT, .type = type, .extra = id};

	if (said_is_fast_without_calls() && likely(count ? said_fast_event(site, type, id, arguments, count)
	                                                 : said_fast_plain_event(site, type, id)))
		return;
	said_record(&said, site, arguments, count);
}

static void said_event(struct fxt_trace_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	if (count)
		said_any_event(site, type, id, arguments, count);
	else if (!said_is_fast() || unlikely(!said_fast_plain_event(site, type, id)))
		said_any_event(site, type, id, NULL, 0); /* two registers less to keep */
}

static __attribute__((noinline)) void said_any_begin(
        struct fxt_trace_span *span, void *call_site, uint64_t stack_pointer)
{
	if (!said_is_fast_without_calls() || unlikely(!said_fast_begin(span, call_site, stack_pointer)))
		said_slow_begin(span, call_site, stack_pointer);
}

static void said_span_begin(struct fxt_trace_span *span, void *call_site)
{
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();

	if (!said_is_fast() || unlikely(!said_fast_begin(span, call_site, stack_pointer)))
		said_any_begin(span, call_site, stack_pointer);
}

static __attribute__((noinline)) void said_any_end(const struct fxt_trace_span *span)
{
	if (!said_is_fast_without_calls() ||
	        unlikely(!(span->count ? said_fast_end(span) : said_fast_plain_end(span))))
		said_slow_end(span);
}

static void said_span_end(struct fxt_trace_span *span)
{
	if (span->count || !said_is_fast() || unlikely(!said_fast_plain_end(span)))
		said_any_end(span);
}

static void said_userspace_object(struct fxt_trace_site *site, uint64_t pointer, struct fxt_trace_value name,
        const struct fxt_trace_argument *arguments, size_t count)
{
	struct said said = {.kind = SAID_USERSPACE_OBJECT, .name = said_inline(&name), .extra = pointer};

	said_record(&said, site, arguments, count);
}

static void said_kernel_object(struct fxt_trace_site *site, uint64_t koid, uint32_t type,
        struct fxt_trace_value name, const struct fxt_trace_argument *arguments, size_t count)
{
	struct said said = {
	        .kind = SAID_KERNEL_OBJECT, .type = type & 0xff, .name = said_inline(&name), .extra = koid};

	said_record(&said, site, arguments, count);
}

static void said_blob(struct fxt_trace_site *site, int with_metadata, const void *data, size_t bytes,
        const struct fxt_trace_argument *arguments, size_t count)
{
	struct said said = {
	        .kind = with_metadata ? SAID_BLOB_EVENT : SAID_BLOB, .data = data, .bytes = bytes};

	said_record(&said, site, arguments, count);
}

static void said_log(struct fxt_trace_site *site, struct fxt_trace_value text)
{
	size_t bytes = text.type != FXT_TRACE_STRING       ? 0
	               : text.bytes < FXT_STRING_MAX_BYTES ? text.bytes
	                                                   : FXT_STRING_MAX_BYTES;
	struct said said = {.kind = SAID_LOG, .data = (const void *)(uintptr_t)text.word, .bytes = bytes};

	said_record(&said, site, NULL, 0);
}

EXPORT struct fxt_trace_agent fxt_trace_agent;

static uint64_t said_ticks(void)
{
	return fxt_clock_ticks(agent_engine.clock);
}

void agent_said_begin(void (*name_thread)(const char *name), void (*alert)(const char *name))
{
	fxt_trace_agent.category = agent_said_category;
	fxt_trace_agent.declare = agent_said_declare;
	fxt_trace_agent.event = said_event;
	fxt_trace_agent.span_begin = said_span_begin;
	fxt_trace_agent.span_end = said_span_end;
	fxt_trace_agent.userspace_object = said_userspace_object;
	fxt_trace_agent.kernel_object = said_kernel_object;
	fxt_trace_agent.blob = said_blob;
	fxt_trace_agent.log = said_log;
	fxt_trace_agent.name_thread = name_thread;
	fxt_trace_agent.alert = alert;
	fxt_trace_agent.nonce = agent_new_flow;
	fxt_trace_agent.ticks = said_ticks;
	/* Release: pairs with the acquire of the sites. */
	store_release(&fxt_trace_agent.version, FXT_TRACE_VERSION);
}
