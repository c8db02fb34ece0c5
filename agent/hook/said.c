/*
 * Writes what the program says (said.h), on the thread that says it. The fast path is for
 * small records of a thread that is in no hook and on its own stack. All other cases take
 * the slow path, which has the same result in any situation.
 */
#include "said.h"
#include <string.h>
#include "agent/base/attributes.h"
#include "agent/process/helper.h"
#include "agent/process/modules.h"
#include "claim.h"
#include "elided.h"
#include "events.h"
#include "filter.h"
#include "shadow.h"
#include "stacks.h"
#include "triggers.h"
#include "writer/format/encode.h"

/* The fast path writes without the lock, and a closer moves records of this size. */
#define FAST_WORDS     ((FXT_ALLOCATION_BYTES + 8) / 8)
#define FAST_ARGUMENTS 4
/* Larger objects go into the thread's chunk. */
#define DURABLE_WORDS 32

enum said_kind {
	SAID_EVENT,
	SAID_LOG,
	SAID_BLOB,
	SAID_BLOB_EVENT,
	SAID_USERSPACE_OBJECT,
	SAID_KERNEL_OBJECT
};

/* A record, ready to be encoded. */
struct said {
	enum said_kind kind;
	uint32_t type; /* of the event or of the kernel object */
	struct fxt_thread thread;
	struct fxt_string category, name;
	uint64_t ticks;
	uint64_t extra; /* id or end of the event; pointer or koid of the object */
	const struct fxt_argument *arguments;
	size_t count;
	const void *data; /* of the blob, or the text of the log */
	size_t bytes;
};

/* ---- encoding ---- */

static inline struct fxt_string said_text(uint16_t index, const char *text)
{
	if (index)
		return fxt_string_index(index);
	return text ? fxt_string_inline(text, strlen(text)) : fxt_string_empty();
}

/* A value as inline text. It is cut to what a string can have. */
static inline struct fxt_string said_inline(const struct fxt_trace_value *value)
{
	size_t bytes = value->type != FXT_TRACE_STRING       ? 0
	               : value->bytes < FXT_STRING_MAX_BYTES ? value->bytes
	                                                     : FXT_STRING_MAX_BYTES;

	return fxt_string_inline((const char *)(uintptr_t)value->word, bytes);
}

static inline void said_arguments(struct fxt_argument *to, const struct fxt_trace_site *site,
        const struct fxt_trace_argument *arguments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct fxt_trace_value *value = &arguments[i].value;
		struct fxt_string name = said_text(load_relaxed(&site->texts[2 + i]), arguments[i].name);

		if (value->type == FXT_TRACE_STRING)
			to[i] = fxt_argument_string(name, said_inline(value));
		else if (value->type == FXT_TRACE_BLOB)
			to[i] = fxt_argument_blob(name, (const void *)(uintptr_t)value->word, value->bytes);
		else
			to[i] = fxt_argument_of_word((uint8_t)value->type, name, value->word);
	}
}

static size_t said_words(const struct said *said)
{
	size_t texts = fxt_string_words(said->category) + fxt_string_words(said->name);
	size_t arguments = fxt_arguments_words(said->arguments, said->count);

	switch (said->kind) {
	case SAID_EVENT:
		return 2 + texts + arguments + fxt_event_has_extra((enum fxt_event_type)said->type);
	case SAID_LOG:
		return 2 + fxt_words(said->bytes);
	case SAID_BLOB:
		return 3 + texts + fxt_words(said->bytes);
	case SAID_BLOB_EVENT:
		return 4 + texts + arguments + fxt_words(said->bytes);
	case SAID_USERSPACE_OBJECT:
		return 2 + texts + fxt_thread_words(said->thread) / 2 + arguments;
	case SAID_KERNEL_OBJECT:
		return 2 + texts + arguments;
	}
	return FXT_IMPOSSIBLE_WORDS;
}

static inline size_t said_put_event(uint64_t *position, uint64_t words, const struct said *said)
{
	return fxt_put_event(position, words, (enum fxt_event_type)said->type, said->thread, said->category,
	        said->name, said->ticks, said->arguments, said->count, said->extra);
}

static void said_put(uint64_t *position, uint64_t words, const void *context)
{
	const struct said *said = context;

	switch (said->kind) {
	case SAID_EVENT:
		said_put_event(position, words, said);
		break;
	case SAID_LOG:
		fxt_put_log(position, words, said->ticks, said->thread, said->data, said->bytes);
		break;
	case SAID_BLOB:
		fxt_put_large_blob(position, words, said->category, said->name, said->data, said->bytes);
		break;
	case SAID_BLOB_EVENT:
		fxt_put_large_blob_with_metadata(position, words, said->thread, said->category, said->name,
		        said->ticks, said->arguments, said->count, said->data, said->bytes);
		break;
	case SAID_USERSPACE_OBJECT:
		fxt_put_userspace_object(
		        position, words, said->thread, said->extra, said->name, said->arguments, said->count);
		break;
	case SAID_KERNEL_OBJECT:
		fxt_put_kernel_object(
		        position, words, said->type, said->extra, said->name, said->arguments, said->count);
		break;
	}
}

/* ---- the fast path ---- */

/* The calling thread's writer, if nothing stands in the way of its fast path; else NULL.
 * The hooks' fast path needs the same clock, and no filter. */
static inline struct fxt_thread_writer *said_fast_writer(const struct fxt_trace_site *site, size_t count)
{
	int32_t recording = load_relaxed(&agent_recording);
	struct fxt_thread_writer *writer = agent_self.writer;

	if (unlikely(recording != AGENT_BY_COUNTER) &&
	        (recording != AGENT_WITHOUT_CALLS || agent_recording_of_calls() != AGENT_BY_COUNTER))
		return NULL;
	if (unlikely(!writer || load_foldable(&writer->busy) != FXT_IDLE || count > FAST_ARGUMENTS ||
	             !agent_said_is_known(site) ||
	             !agent_stack_is_own((uint64_t)(uintptr_t)__builtin_frame_address(0))))
		return NULL;
	return writer;
}

static inline void said_make_event(struct said *said, struct fxt_argument *to,
        const struct fxt_thread_slot *slot, const struct fxt_trace_site *site, uint32_t type, uint64_t extra,
        const struct fxt_trace_argument *arguments, size_t count)
{
	said_arguments(to, site, arguments, count);
	said->kind = SAID_EVENT;
	said->type = type;
	said->thread = fxt_thread_index(slot->thread_index);
	said->category = said_text(load_relaxed(&site->texts[0]), site->category);
	said->name = said_text(load_relaxed(&site->texts[1]), site->name);
	said->extra = extra;
	said->arguments = to;
	said->count = count;
}

/* Encodes an event behind the thread's records, and does not commit it. The writer is
 * WRITING. Returns its words; 0: there is no room here. */
static inline size_t said_fast_put(const struct fxt_thread_writer *writer, const struct fxt_thread_slot *slot,
        const struct said *said, uint64_t **position)
{
	uint64_t limit = load_foldable(&writer->limit), room;

	*position = fxt_chunk_position(slot);
	if (unlikely((uint64_t)(uintptr_t)*position >= limit))
		return 0;
	room = (limit - (uint64_t)(uintptr_t)*position) / 8;
	return said_put_event(*position, room < FAST_WORDS ? room : FAST_WORDS, said);
}

/* The present time for the thread's next record, by the clock of the fast path. */
static inline uint64_t said_fast_stamp(struct fxt_thread_writer *writer)
{
	uint64_t now = fxt_later(
	        fxt_clock_ticks(FXT_CLOCK_COUNTER), load_relaxed(&writer->last) + agent_engine.step);

	store_relaxed(&writer->last, now);
	return now;
}

/* Writes an event that has no arguments, and registered texts. `begin`: of a duration,
 * which ends at `extra`; 0: now. The writer is WRITING. False: it is another one, or has no
 * room here. */
static inline bool said_fast_plain(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const struct fxt_trace_site *site, uint32_t type, uint64_t begin, uint64_t extra)
{
	uint64_t category = load_relaxed(&site->texts[0]), name = load_relaxed(&site->texts[1]);
	uint64_t words = 2 + fxt_event_has_extra((enum fxt_event_type)type);
	uint64_t *position = fxt_chunk_position(slot);

	if (unlikely(!category || !name ||
	             (uint64_t)(uintptr_t)(position + words) > load_foldable(&writer->limit)))
		return false;
	position[0] = fxt_record_header(FXT_RECORD_EVENT, words) | (uint64_t)type << 16 |
	              (uint64_t)slot->thread_index << 24 | category << 32 | name << 48;
	position[1] = begin ? begin : said_fast_stamp(writer);
	if (words > 2)
		position[2] = extra;
	fxt_chunk_commit(slot, position, words);
	/* Counted after the commit, as in agent_end_write(). */
	writer->other_bytes += words * 8;
	return true;
}

/* Writes an event without arguments, and needs no memory of its own [an instant takes 34 ns
 * this way, and 40 the general way; the clock takes 20 of them]. */
static inline bool said_fast_plain_event(struct fxt_trace_site *site, uint32_t type, uint64_t id)
{
	struct fxt_thread_writer *writer = said_fast_writer(site, 0);
	bool is_written;

	if (unlikely(!writer))
		return false;
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	is_written = said_fast_plain(writer, agent_self.slot, site, type, 0, id);
	store_release(&writer->busy, FXT_IDLE);
	return is_written;
}

static inline bool said_fast_event(struct fxt_trace_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	struct fxt_thread_writer *writer = said_fast_writer(site, count);
	struct fxt_argument to[FAST_ARGUMENTS];
	struct fxt_thread_slot *slot = agent_self.slot;
	struct said said;
	uint64_t *position;
	size_t words;

	if (unlikely(!writer))
		return false;
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	said_make_event(&said, to, slot, site, type, id, arguments, count);
	said.ticks = said_fast_stamp(writer);
	words = said_fast_put(writer, slot, &said, &position);
	if (likely(words)) {
		fxt_chunk_commit(slot, position, words);
		/* Counted after the commit, as in agent_end_write(). */
		writer->other_bytes += words * 8;
	}
	store_release(&writer->busy, FXT_IDLE);
	return words;
}

/* ---- the slow path ---- */

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

static COLD void said_slow_event(struct fxt_trace_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	struct fxt_thread_writer *writer = said_claim(site, true);
	struct fxt_argument to[FXT_ARGUMENTS_MAX];
	struct said said;

	if (!writer)
		return;
	agent_said_learn(site, arguments, count);
	said_make_event(&said, to, fxt_slot(&agent_engine, writer->number), site, type, id, arguments, count);
	said.ticks = agent_stamp(writer);
	said_write_or_lose(writer, &said, said.ticks);
	said_release(writer);
}

/* ---- spans ---- */

static inline bool said_fast_begin(struct fxt_trace_span *span, void *call_site, uint64_t stack_pointer)
{
	struct fxt_trace_site *site = span->site;
	struct fxt_thread_writer *writer = said_fast_writer(site, 0);
	uint64_t stack_offset = agent_stack_offset(stack_pointer);
	struct fxt_thread_slot *slot = agent_self.slot;
	bool has_room;

	if (unlikely(!writer))
		return false;
	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	struct fxt_frame *top = slot_top(slot);

	has_room = (uint64_t)(uintptr_t)top < load_foldable(&writer->top_limit) &&
	           !is_dead(top - 1, stack_offset, call_site);
	if (likely(has_room)) {
		agent_push(writer, slot, top,
		        fxt_span_ref(load_relaxed(&site->texts[0]), load_relaxed(&site->texts[1])), call_site,
		        stack_offset, FXT_CLOCK_COUNTER);
		span->begin = writer->last;
	}
	store_release(&writer->busy, FXT_IDLE);
	return has_room;
}

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

/* The end of a duration without arguments, as above. */
static inline bool said_fast_plain_end(const struct fxt_trace_span *span)
{
	struct fxt_thread_writer *writer = said_fast_writer(span->site, 0);
	struct fxt_thread_slot *slot = agent_self.slot;
	bool is_written = false;

	if (unlikely(!writer))
		return false;
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	const struct fxt_frame *frame = slot_top(slot) - 1;

	if (likely(frame->start == span->begin && fxt_is_span(frame->function))) {
		uint64_t end = fxt_later(fxt_clock_ticks(FXT_CLOCK_COUNTER), load_relaxed(&writer->last));

		is_written = said_fast_plain(
		        writer, slot, span->site, FXT_EVENT_DURATION_COMPLETE, span->begin, end);
		if (likely(is_written)) {
			set_top(slot, frame);
			store_relaxed(&writer->last, end);
		}
	}
	store_release(&writer->busy, FXT_IDLE);
	return is_written;
}

static inline bool said_fast_end(const struct fxt_trace_span *span)
{
	const struct fxt_trace_site *site = span->site;
	struct fxt_thread_writer *writer = said_fast_writer(site, span->count);
	struct fxt_argument to[FAST_ARGUMENTS];
	struct fxt_thread_slot *slot = agent_self.slot;
	const struct fxt_frame *frame;
	struct said said;
	uint64_t *position;
	size_t words = 0;

	if (unlikely(!writer))
		return false;
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	frame = slot_top(slot) - 1;
	if (likely(frame->start == span->begin && fxt_is_span(frame->function))) {
		uint64_t end = fxt_later(fxt_clock_ticks(FXT_CLOCK_COUNTER), load_relaxed(&writer->last));

		said_make_event(&said, to, slot, site, FXT_EVENT_DURATION_COMPLETE, end, span->arguments,
		        span->count);
		said.ticks = span->begin;
		words = said_fast_put(writer, slot, &said, &position);
		if (likely(words)) {
			fxt_chunk_commit(slot, position, words);
			writer->other_bytes += words * 8;
			set_top(slot, frame);
			store_relaxed(&writer->last, end);
		}
	}
	store_release(&writer->busy, FXT_IDLE);
	return words;
}

static COLD void said_slow_end(const struct fxt_trace_span *span)
{
	struct fxt_trace_site *site = span->site;
	struct fxt_thread_writer *writer = said_claim(site, false);
	const struct fxt_frame *frame = writer ? agent_find_wait(writer, span->begin) : NULL;
	struct fxt_argument to[FXT_ARGUMENTS_MAX];
	uint32_t trigger = 0;
	struct said said;

	if (frame) {
		uint64_t end = writer->last;

		agent_said_learn(site, span->arguments, span->count);
		said_make_event(&said, to, fxt_slot(&agent_engine, writer->number), site,
		        FXT_EVENT_DURATION_COMPLETE, end, span->arguments, span->count);
		said.ticks = span->begin;
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

static __attribute__((noinline)) void said_any_event(struct fxt_trace_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	if (unlikely(!said_fast_event(site, type, id, arguments, count)))
		said_slow_event(site, type, id, arguments, count);
}

static void said_event(struct fxt_trace_site *site, uint32_t type, uint64_t id,
        const struct fxt_trace_argument *arguments, size_t count)
{
	if (count || unlikely(!said_fast_plain_event(site, type, id)))
		said_any_event(site, type, id, arguments, count);
}

static void said_span_begin(struct fxt_trace_span *span, void *call_site)
{
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();

	if (unlikely(!said_fast_begin(span, call_site, stack_pointer)))
		said_slow_begin(span, call_site, stack_pointer);
}

static __attribute__((noinline)) void said_any_end(const struct fxt_trace_span *span)
{
	if (unlikely(!said_fast_end(span)))
		said_slow_end(span);
}

static void said_span_end(struct fxt_trace_span *span)
{
	if (span->count || unlikely(!said_fast_plain_end(span)))
		said_any_end(span);
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

static void said_object(enum said_kind kind, struct fxt_trace_site *site, uint64_t id, uint32_t type,
        const struct fxt_trace_value *name, const struct fxt_trace_argument *arguments, size_t count)
{
	struct fxt_thread_writer *writer = said_claim(site, true);
	struct fxt_argument to[FXT_ARGUMENTS_MAX];
	struct said said = {.kind = kind,
	        .type = type,
	        .thread = fxt_thread_inline(agent_engine.process_koid, 0),
	        .category = fxt_string_empty(),
	        .name = said_inline(name),
	        .extra = id,
	        .arguments = to,
	        .count = count};

	if (!writer)
		return;
	agent_said_learn(site, arguments, count);
	said_arguments(to, site, arguments, count);
	if (!said_write_durable(&said))
		said_write_or_lose(writer, &said, agent_stamp(writer));
	said_release(writer);
}

static void said_userspace_object(struct fxt_trace_site *site, uint64_t pointer, struct fxt_trace_value name,
        const struct fxt_trace_argument *arguments, size_t count)
{
	said_object(SAID_USERSPACE_OBJECT, site, pointer, 0, &name, arguments, count);
}

static void said_kernel_object(struct fxt_trace_site *site, uint64_t koid, uint32_t type,
        struct fxt_trace_value name, const struct fxt_trace_argument *arguments, size_t count)
{
	said_object(SAID_KERNEL_OBJECT, site, koid, type & 0xff, &name, arguments, count);
}

static void said_data(struct fxt_trace_site *site, enum said_kind kind, const void *data, size_t bytes,
        const struct fxt_trace_argument *arguments, size_t count)
{
	struct fxt_thread_writer *writer = said_claim(site, true);
	struct fxt_argument to[FXT_ARGUMENTS_MAX];
	struct said said;

	if (!writer)
		return;
	agent_said_learn(site, arguments, count);
	said_make_event(&said, to, fxt_slot(&agent_engine, writer->number), site, 0, 0, arguments, count);
	said.kind = kind;
	said.ticks = agent_stamp(writer);
	said.data = data;
	said.bytes = bytes;
	said_write_or_lose(writer, &said, said.ticks);
	said_release(writer);
}

static void said_blob(struct fxt_trace_site *site, int with_metadata, const void *data, size_t bytes,
        const struct fxt_trace_argument *arguments, size_t count)
{
	said_data(site, with_metadata ? SAID_BLOB_EVENT : SAID_BLOB, data, bytes, arguments, count);
}

static void said_log(struct fxt_trace_site *site, struct fxt_trace_value text)
{
	size_t bytes = text.type != FXT_TRACE_STRING       ? 0
	               : text.bytes < FXT_STRING_MAX_BYTES ? text.bytes
	                                                   : FXT_STRING_MAX_BYTES;

	said_data(site, SAID_LOG, (const void *)(uintptr_t)text.word, bytes, NULL, 0);
}

EXPORT struct fxt_trace_agent fxt_trace_agent;

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
	/* Release: pairs with the acquire of the sites. */
	store_release(&fxt_trace_agent.version, FXT_TRACE_VERSION);
}
