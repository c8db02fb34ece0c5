/*
 * Writes events that are not calls (events.h). Runs on the thread that makes the event,
 * outside of hooks, also in signal handlers.
 */
#include "events.h"
#include "frames.h"
#include "writer/engine/valid.h"
#include "writer/format/categories.h"

#define EVENT_WORDS 48

bool agent_records_category(const char *category)
{
	return load_relaxed(&agent_recording) != AGENT_QUIET && agent_is_own_process() &&
	       fxt_category_is_enabled(agent_engine.control, category);
}

bool agent_write_event(struct fxt_thread_writer *writer, enum fxt_event_type type, const char *category,
        const char *name, uint64_t ticks, const struct fxt_argument *arguments, size_t count, uint64_t extra)
{
	const struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	uint64_t record[EVENT_WORDS];
	size_t words = fxt_put_event(record, EVENT_WORDS, type, fxt_thread_index(slot->thread_index),
	        agent_text(category), agent_text(name), ticks, arguments, count, extra);

	FXT_ASSERT_SLOW_PATH(writer);
	return words && fxt_chunk_write(&agent_engine, writer, record, words);
}

void agent_instant(const char *category, const char *name, const struct fxt_argument *arguments, size_t count)
{
	struct fxt_thread_writer *writer = agent_records_category(category) ? agent_claim() : NULL;

	if (!writer)
		return;
	agent_write_event(
	        writer, FXT_EVENT_INSTANT, category, name, agent_stamp(writer), arguments, count, 0);
	agent_release(writer);
}

uint64_t agent_slice_begin(const char *category)
{
	struct fxt_thread_writer *writer = agent_records_category(category) ? agent_claim() : NULL;
	uint64_t begin;

	if (!writer)
		return 0;
	begin = agent_stamp(writer);
	writer->slice_start = begin;
	agent_release(writer);
	return begin;
}

void agent_slice_end(uint64_t begin, const char *category, const char *name,
        const struct fxt_argument *arguments, size_t count)
{
	struct fxt_thread_writer *writer = begin && agent_records_category(category) ? agent_claim() : NULL;

	if (!writer)
		return;
	uint64_t end = fxt_later(fxt_clock_ticks(agent_engine.clock), writer->last);

	agent_write_event(writer, FXT_EVENT_DURATION_COMPLETE, category, name, begin, arguments, count, end);
	writer->slice_start = 0;
	store_relaxed(&writer->last, fxt_later(writer->last, end));
	agent_release(writer);
}

static uint32_t latest_flow;

uint64_t agent_new_flow(void)
{
	return agent_flow_id(agent_new_flows(1));
}

uint32_t agent_new_flows(uint32_t count)
{
	return add_relaxed(&latest_flow, count) + 1;
}

uint64_t agent_flow_id(uint32_t number)
{
	return agent_engine.process_koid << 32 | number;
}

uint32_t agent_latest_flow(void)
{
	return load_relaxed(&latest_flow);
}

bool agent_write_arrow(struct fxt_thread_writer *writer, enum fxt_event_type type, const char *category,
        const char *slice, const char *name, const uint64_t ticks[3], uint64_t flow, const void *object)
{
	struct fxt_argument released =
	        fxt_argument_pointer(agent_text("object"), (uint64_t)(uintptr_t)object);
	struct fxt_thread thread = fxt_thread_index(fxt_slot(&agent_engine, writer->number)->thread_index);
	uint64_t records[EVENT_WORDS];
	size_t words = fxt_put_event(records, EVENT_WORDS, FXT_EVENT_DURATION_COMPLETE, thread,
	        agent_text(category), agent_text(slice), ticks[0], NULL, 0, ticks[2]);
	size_t more = fxt_put_event(records + words, EVENT_WORDS - words, type, thread, agent_text(category),
	        agent_text(name), ticks[1], &released, object != NULL, flow);

	FXT_ASSERT_SLOW_PATH(writer);
	return words && more && fxt_chunk_write(&agent_engine, writer, records, words + more);
}

bool agent_mark_flow(const char *category, const char *name, uint64_t flow, bool is_end, const void *object)
{
	struct fxt_thread_writer *writer = agent_records_category(category) ? agent_claim() : NULL;
	bool is_written;

	if (!writer)
		return false;
	uint64_t ticks[3];

	for (int i = 0; i < 3; i++)
		ticks[i] = agent_stamp(writer);
	if (flow)
		is_written = agent_write_arrow(writer, is_end ? FXT_EVENT_FLOW_END : FXT_EVENT_FLOW_BEGIN,
		        category, name, name, ticks, flow, object);
	else
		is_written = agent_write_event(
		        writer, FXT_EVENT_DURATION_COMPLETE, category, name, ticks[0], NULL, 0, ticks[2]);
	agent_release(writer);
	return is_written;
}
