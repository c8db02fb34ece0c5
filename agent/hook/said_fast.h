/*
 * The fast path of the program's own events (said.h). It writes small records of a thread
 * that is in no hook and on its own stack. Each function returns false, with nothing done,
 * if the slow path has to write the record.
 */
#ifndef FXT_AGENT_SAID_FAST_H
#define FXT_AGENT_SAID_FAST_H

#include "frames.h"
#include "said_record.h"
#include "shadow.h"
#include "stacks.h"

/* The fast path writes without the lock, and a closer moves records of this size. */
#define FAST_WORDS     ((FXT_ALLOCATION_BYTES + 8) / 8)
#define FAST_ARGUMENTS 4

/* A function call, with the registers that it saves, would cost more than some of this. */
#define SAID_FAST static inline __attribute__((always_inline))

/* Whether the fast path may be tried: the hooks' needs the same clock, and no filter. The
 * second also finds this out while no calls are recorded, for which it calls a function. */
static inline bool said_is_fast(void)
{
	return likely(load_relaxed(&agent_recording) == AGENT_BY_COUNTER);
}

static inline bool said_is_fast_without_calls(void)
{
	return said_is_fast() || (load_relaxed(&agent_recording) == AGENT_WITHOUT_CALLS &&
	                                 agent_recording_of_calls() == AGENT_BY_COUNTER);
}

/* The calling thread's writer, if nothing stands in the way of its fast path; else NULL. */
SAID_FAST struct fxt_thread_writer *said_fast_writer(const struct fxt_trace_site *site, size_t count)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	if (unlikely(!writer || load_foldable(&writer->busy) != FXT_IDLE || count > FAST_ARGUMENTS ||
	             !agent_said_is_known(site) ||
	             !agent_stack_is_own((uint64_t)(uintptr_t)__builtin_dwarf_cfa())))
		return NULL;
	return writer;
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

/* The indices of category and name where an event's header has them; 0: one has none. */
static inline uint64_t said_both_texts(const struct fxt_trace_site *site)
{
	uint64_t category = load_relaxed(&site->texts[0]), name = load_relaxed(&site->texts[1]);

	return category && name ? category << 32 | name << 48 : 0;
}

/* Writes an event that has no arguments, and registered texts. `begin`: of a duration,
 * which ends at `extra`; 0: now. The writer is WRITING. False: it is another one, or has no
 * room here. */
SAID_FAST bool said_fast_plain(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const struct fxt_trace_site *site, uint32_t type, uint64_t begin, uint64_t extra)
{
	uint64_t texts = said_both_texts(site);
	uint64_t words = 2 + fxt_event_has_extra((enum fxt_event_type)type);
	uint64_t *position = fxt_chunk_position(slot);

	if (unlikely(!texts || (uint64_t)(uintptr_t)(position + words) > load_foldable(&writer->limit)))
		return false;
	position[0] = fxt_record_header(FXT_RECORD_EVENT, words) | (uint64_t)type << 16 |
	              (uint64_t)slot->thread_index << 24 | texts;
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
SAID_FAST bool said_fast_plain_event(struct fxt_trace_site *site, uint32_t type, uint64_t id)
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
	struct said said = {.kind = SAID_EVENT, .type = type, .extra = id};
	uint64_t *position;
	size_t words;

	if (unlikely(!writer))
		return false;
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	said_fill(&said, to, slot, site, arguments, count);
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

/* ---- spans ---- */

SAID_FAST bool said_fast_begin(struct fxt_trace_span *span, void *call_site, uint64_t stack_pointer)
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

/* The end of a duration without arguments, as above. */
SAID_FAST bool said_fast_plain_end(const struct fxt_trace_span *span)
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
	struct said said = {.kind = SAID_EVENT, .type = FXT_EVENT_DURATION_COMPLETE};
	uint64_t *position;
	size_t words = 0;

	if (unlikely(!writer))
		return false;
	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	frame = slot_top(slot) - 1;
	if (likely(frame->start == span->begin && fxt_is_span(frame->function))) {
		uint64_t end = fxt_later(fxt_clock_ticks(FXT_CLOCK_COUNTER), load_relaxed(&writer->last));

		said_fill(&said, to, slot, site, span->arguments, span->count);
		said.ticks = span->begin;
		said.extra = end;
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

#endif
