#include "events.h"
#include "frames.h"
#include "writer/categories.h"

#define EVENT_WORDS 48

bool agent_records_category(const char *category)
{
	return load_relaxed(&agent_recording) != AGENT_QUIET && agent_is_own_process() &&
	       fxt_category_is_enabled(agent_engine.control, category);
}

bool agent_write_event(struct fxt_block *block, enum fxt_event_type type, const char *category,
        const char *name, uint64_t ticks, const struct fxt_argument *arguments, size_t count, uint64_t extra)
{
	const struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	uint64_t record[EVENT_WORDS];
	size_t words = fxt_put_event(record, EVENT_WORDS, type, fxt_thread_index(slot->thread_index),
	        agent_text(category), agent_text(name), ticks, arguments, count, extra);

	return words && fxt_chunk_write(&agent_engine, block, record, words);
}

void agent_instant(const char *category, const char *name, const struct fxt_argument *arguments, size_t count)
{
	struct fxt_block *block = agent_records_category(category) ? agent_claim() : NULL;

	if (!block)
		return;
	agent_write_event(block, FXT_EVENT_INSTANT, category, name, agent_stamp(block), arguments, count, 0);
	agent_release(block);
}

uint64_t agent_slice_begin(const char *category)
{
	struct fxt_block *block = agent_records_category(category) ? agent_claim() : NULL;
	uint64_t begin;

	if (!block)
		return 0;
	begin = agent_stamp(block);
	agent_release(block);
	return begin;
}

void agent_slice_end(uint64_t begin, const char *category, const char *name,
        const struct fxt_argument *arguments, size_t count)
{
	struct fxt_block *block = begin && agent_records_category(category) ? agent_claim() : NULL;

	if (!block)
		return;
	uint64_t end = fxt_later(fxt_clock_ticks(agent_engine.clock), block->last);

	agent_write_event(block, FXT_EVENT_DURATION_COMPLETE, category, name, begin, arguments, count, end);
	store_relaxed(&block->last, fxt_later(block->last, end));
	agent_release(block);
}

uint64_t agent_new_flow(void)
{
	static uint32_t last;

	return agent_engine.process_koid << 32 | (add_relaxed(&last, 1) + 1);
}

bool agent_mark_flow(const char *category, const char *name, uint64_t flow, bool is_end)
{
	struct fxt_block *block = agent_records_category(category) ? agent_claim() : NULL;
	enum fxt_event_type type = is_end ? FXT_EVENT_FLOW_END : FXT_EVENT_FLOW_BEGIN;
	bool written;

	if (!block)
		return false;
	uint64_t begin = agent_stamp(block), middle = agent_stamp(block), end = agent_stamp(block);

	written =
	        agent_write_event(block, FXT_EVENT_DURATION_COMPLETE, category, name, begin, NULL, 0, end) &&
	        flow && agent_write_event(block, type, category, name, middle, NULL, 0, flow);
	agent_release(block);
	return written;
}
