/* Checks and mends the order of messages (messages.h). Runs on the main thread, after the
 * lines of all traces are chosen and before anything is written. */
#include "messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/rate.h"
#include "reader/trace/text.h"

/* A move by more than that, some years, comes from a broken trace. */
#define MOVE_MAX (INT64_C(1) << 58)

struct message_end {
	uint64_t id, ticks;
	uint32_t input, is_received;
};

void fxt_merge_messages_init(struct fxt_merge_messages *m)
{
	*m = (struct fxt_merge_messages){.count = 0};
	fxt_spill_init(&m->ends, sizeof(struct message_end), FXT_SPILL_MEMORY_BYTES);
}

void fxt_merge_messages_free(struct fxt_merge_messages *m)
{
	fxt_spill_free(&m->ends);
	fxt_index_free(&m->index);
	free(m->pairs);
}

void fxt_merge_messages_add(
        struct fxt_merge_messages *m, uint64_t id, bool is_received, uint64_t ticks, uint32_t input)
{
	fxt_spill_add(&m->ends, &(struct message_end){id, ticks, input, is_received});
}

/* A send comes before the receive of the same message. */
static int messages_compare(const void *left, const void *right)
{
	const struct message_end *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->is_received != b->is_received)
		return a->is_received < b->is_received ? -1 : 1;
	if (a->input != b->input)
		return a->input < b->input ? -1 : 1;
	return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static struct fxt_merge_pair *messages_pair(struct fxt_merge_messages *m, uint32_t from, uint32_t to)
{
	uint32_t hash = fxt_hash_word((uint64_t)from << 32 | to);

	for (struct fxt_probe probe = fxt_probe(&m->index, hash); fxt_probe_next(&m->index, &probe);)
		if (m->pairs[probe.id].from == from && m->pairs[probe.id].to == to)
			return &m->pairs[probe.id];
	fxt_index_add(&m->index, hash, (uint32_t)m->pair_count);
	fxt_make_room(m->pairs, m->pair_count, m->pair_room);
	m->pairs[m->pair_count] = (struct fxt_merge_pair){from, to, INT64_MAX};
	return &m->pairs[m->pair_count++];
}

static __int128 messages_ns(const struct fxt_merge_clock *clocks, const struct fxt_merge_timeline *t,
        const struct message_end *end)
{
	uint64_t ticks = fxt_merge_time(&clocks[end->input].line, end->ticks);

	return t->rate == FXT_NS_PER_SECOND ? ticks : (__int128)ticks * FXT_NS_PER_SECOND / t->rate;
}

static void messages_take(struct fxt_merge_messages *m, const struct fxt_merge_clock *clocks,
        const struct fxt_merge_timeline *t, const struct message_end *sent,
        const struct message_end *received)
{
	__int128 took = messages_ns(clocks, t, received) - messages_ns(clocks, t, sent);
	struct fxt_merge_pair *pair = messages_pair(m, sent->input, received->input);

	if (took < pair->ns)
		pair->ns = took < -MOVE_MAX ? -MOVE_MAX : (int64_t)took;
	m->count++;
	if (took >= 0)
		return;
	m->wrong++;
	if (-took > m->worst)
		m->worst = took < -MOVE_MAX ? MOVE_MAX : (int64_t)-took;
}

static void messages_match(struct fxt_merge_messages *m, const struct fxt_merge_clock *clocks,
        const struct fxt_merge_timeline *t)
{
	struct fxt_spill_window window = {0};
	struct message_end sent = {0};

	fxt_spill_sort(&m->ends, messages_compare);
	for (uint64_t i = 0; i < m->ends.count; i++) {
		const struct message_end *end = fxt_spill_at(&m->ends, &window, i);

		if (end->is_received && sent.id == end->id) {
			messages_take(m, clocks, t, &sent, end);
			sent.id = 0;
			continue;
		}
		m->lone += end->is_received + (sent.id != 0);
		sent = end->is_received ? (struct message_end){0} : *end;
	}
	m->lone += sent.id != 0;
}

/*
 * Each pair of traces says how much later than the first the second must be at least. The
 * least moves that fulfil all of them are the longest paths; without a circle that asks for
 * more each time, they are found in as many rounds as there are traces.
 */
static bool messages_find_moves(const struct fxt_merge_messages *m, int64_t *moves, size_t count)
{
	for (size_t round = 0; round <= count; round++) {
		bool is_changed = false;

		for (size_t i = 0; i < m->pair_count; i++) {
			const struct fxt_merge_pair *pair = &m->pairs[i];
			int64_t least = moves[pair->from] - pair->ns;

			if (moves[pair->to] >= least)
				continue;
			if (least > MOVE_MAX)
				return false;
			moves[pair->to] = least;
			is_changed = true;
		}
		if (!is_changed)
			return true;
	}
	return false;
}

static void messages_move(struct fxt_merge_messages *m, struct fxt_merge_clock *clocks, size_t count)
{
	int64_t *moves = fxt_allocate(count * sizeof(*moves));

	if (messages_find_moves(m, moves, count)) {
		for (size_t i = 0; i < count; i++) {
			clocks[i].line.shift += moves[i];
			clocks[i].moved_ns = (uint64_t)moves[i];
			m->moved_count += moves[i] > 0;
			m->moved = moves[i] > m->moved ? moves[i] : m->moved;
		}
	} else {
		for (size_t i = 0; i < m->pair_count; i++)
			m->left += m->pairs[i].ns < 0;
	}
	free(moves);
}

void fxt_merge_messages_judge(struct fxt_merge_messages *m, struct fxt_merge_clock *clocks, size_t count,
        const struct fxt_merge_timeline *t)
{
	messages_match(m, clocks, t);
	if (m->wrong == 0)
		return;
	if (t->by != FXT_MERGE_BY_COUNTER)
		messages_move(m, clocks, count);
	else
		m->left = m->wrong;
}

void fxt_merge_messages_describe(const struct fxt_merge_messages *m, char *text, size_t text_bytes)
{
	const char *between = m->is_of_ranks ? "between ranks" : "of TCP connections";
	size_t used = strlen(text);

	if (m->count == 0)
		return;
	if (m->wrong == 0) {
		snprintf(text + used, text_bytes - used,
		        "; %" PRIu64 " message%s %s, none received before it was sent", m->count,
		        fxt_plural(m->count), between);
		return;
	}
	used += (size_t)snprintf(text + used, text_bytes - used,
	        "; %" PRIu64 " of %" PRIu64
	        " messages %s seemed to be received before they were sent, by up to %s",
	        m->wrong, m->count, between, fxt_time_text((double)m->worst).text);
	if (used >= text_bytes)
		return;
	if (m->left > 0)
		snprintf(text + used, text_bytes - used, ": no move of whole traces mends that");
	else
		snprintf(text + used, text_bytes - used, ": %zu trace%s moved, by up to %s, and none is now",
		        m->moved_count, m->moved_count == 1 ? " was" : "s were",
		        fxt_time_text((double)m->moved).text);
}
