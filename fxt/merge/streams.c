/*
 * Finds messages in the notes about streams (streams.h). Runs on the main thread, after all
 * inputs are read. It must not take two connections for one. Nor may it join two connections
 * that are each inside a machine of their own.
 */
#include "streams.h"

#include "reader/trace/index.h"

/* This bit of a stream's number says that both addresses are of one machine. */
#define LOOPBACK UINT64_C(1)

/* Bounds times, so that their differences are numbers too. */
#define TIME_MAX (INT64_MAX / 8)

struct match {
	struct fxt_merge_streams *streams;
	const struct fxt_merge_clock *clocks;
	struct fxt_merge_messages *messages;
	struct fxt_spill_window window;
	bool has_reused; /* a connection was left out */
};

void fxt_merge_streams_init(struct fxt_merge_streams *s)
{
	*s = (struct fxt_merge_streams){.links = {0}};
	fxt_spill_init(&s->notes, sizeof(struct fxt_merge_note), FXT_SPILL_MEMORY_BYTES);
}

void fxt_merge_streams_add(struct fxt_merge_streams *s, const struct fxt_merge_note *note)
{
	fxt_spill_add(&s->notes, note);
}

void fxt_merge_streams_free(struct fxt_merge_streams *s)
{
	fxt_spill_free(&s->notes);
	fxt_merge_links_free(&s->links);
}

/* By streams; in a stream the furthest position comes first. At one position sends come
 * before receives, because a receive there does not have the next byte. The latest send is the
 * first. */
static int notes_compare(const void *left, const void *right)
{
	const struct fxt_merge_note *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->position != b->position)
		return a->position > b->position ? -1 : 1;
	if (a->is_received != b->is_received)
		return a->is_received < b->is_received ? -1 : 1;
	if (a->input != b->input)
		return a->input < b->input ? -1 : 1;
	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	return (a->socket > b->socket) - (a->socket < b->socket);
}

static struct fxt_merge_note match_note(struct match *m, uint64_t i)
{
	return *(const struct fxt_merge_note *)fxt_spill_at(&m->streams->notes, &m->window, i);
}

static int64_t match_ns(const struct match *m, const struct fxt_merge_note *note)
{
	uint64_t ns = fxt_merge_time(&m->clocks[note->input].line, note->ticks);

	return ns > TIME_MAX ? TIME_MAX : (int64_t)ns;
}

static bool match_is_one_kernel(
        const struct match *m, const struct fxt_merge_note *a, const struct fxt_merge_note *b)
{
	return a->input == b->input ||
	       fxt_anchors_are_of_one_kernel(&m->clocks[a->input].first, &m->clocks[b->input].first);
}

static void match_message(
        struct match *m, const struct fxt_merge_note *sent, const struct fxt_merge_note *received)
{
	uint32_t from = m->clocks[sent->input].machine, to = m->clocks[received->input].machine;
	uint64_t id = fxt_hash_mix(sent->stream ^ fxt_hash_mix(sent->position));

	if (sent->input == received->input || id == 0)
		return;
	fxt_merge_messages_add(m->messages, id, false, sent->ticks, sent->input);
	fxt_merge_messages_add(m->messages, id, true, received->ticks, received->input);
	if (from != to)
		fxt_merge_links_add(&m->streams->links, from, to, match_ns(m, sent), match_ns(m, received));
}

/* Takes the notes of one stream. The earliest receive behind a position bounds the offset the
 * most. Several traces of one machine may have receives, as the files of a rotation do. */
static void match_stream(struct match *m, uint64_t first, uint64_t end)
{
	struct fxt_merge_note received = {.is_received = false};
	uint64_t position = UINT64_MAX;

	for (uint64_t i = first; i < end; i++) {
		struct fxt_merge_note note = match_note(m, i);

		if (note.is_received) {
			if (!received.is_received || match_ns(m, &note) < match_ns(m, &received))
				received = note;
		} else if (received.is_received && note.position != position) {
			position = note.position;
			match_message(m, &note, &received);
		}
	}
}

/* True if the notes are of one connection: all sends are of one socket, all receives are of
 * one, and both are of one machine if the addresses are. */
static bool match_is_one(struct match *m, uint64_t first, uint64_t end)
{
	struct fxt_merge_note sides[2];
	bool has[2] = {false, false};

	for (uint64_t i = first; i < end; i++) {
		struct fxt_merge_note note = match_note(m, i);
		size_t side = note.is_received != 0;

		if (!has[side])
			sides[side] = note;
		has[side] = true;
		if (note.socket != sides[side].socket || !match_is_one_kernel(m, &note, &sides[side])) {
			m->has_reused = true;
			return false;
		}
	}
	return has[0] && has[1] &&
	       (!(sides[0].stream & LOOPBACK) || match_is_one_kernel(m, &sides[0], &sides[1]));
}

static void match_all(struct match *m)
{
	uint64_t count = m->streams->notes.count, end;

	for (uint64_t first = 0; first < count; first = end) {
		uint64_t stream = match_note(m, first).stream;

		for (end = first + 1; end < count && match_note(m, end).stream == stream; end++)
			;
		if (match_is_one(m, first, end))
			match_stream(m, first, end);
	}
}

static const char *match_lack(const struct match *m)
{
	const struct fxt_merge_links *links = &m->streams->links;
	bool is_fit = true;

	for (size_t i = 0; i < links->count; i++)
		if (links->items[i].low.count == 0 || links->items[i].high.count == 0)
			return "the TCP connections between them carried bytes in one direction only";
	for (size_t i = 0; i < links->count; i++)
		is_fit &= links->items[i].is_fit;
	if (!is_fit)
		return "the TCP connections between them contradict each other, as if a clock had been "
		       "set";
	if (m->streams->notes.count == 0)
		return "if both were recorded with fxtrun --connections, TCP connections between them "
		       "would relate them, too";
	if (m->has_reused)
		return "TCP connections between them had the same addresses one after the other";
	return "no TCP connection has both its ends in these traces with the same addresses";
}

void fxt_merge_streams_match(struct fxt_merge_streams *s, struct fxt_merge_clock *clocks, size_t count,
        struct fxt_merge_messages *messages)
{
	struct match m = {.streams = s, .clocks = clocks, .messages = messages};
	bool has_anchors = true;

	for (size_t i = 0; i < count; i++)
		has_anchors &= clocks[i].has_anchor && fxt_merge_timeline_draw(&clocks[i]);
	if (has_anchors) {
		fxt_spill_sort(&s->notes, notes_compare);
		match_all(&m);
		fxt_merge_links_fit(&s->links);
	}
	s->links.lack = match_lack(&m);
}
