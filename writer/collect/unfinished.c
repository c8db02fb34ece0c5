/*
 * Takes the data in the thread slots beside the buffers: open calls, losses, late records,
 * and the sums of threads without a slot. Runs in the manager, or on the helper of a
 * standalone agent, at the end of a recording, after a death or on a snapshot. Must never
 * trust a value: each is read once and checked.
 */
#include <string.h>
#include "writer/engine/chunk.h"
#include "internal.h"
#include "writer/format/encode.h"
#include "writer/engine/loss.h"
#include "writer/engine/strings.h"
#include "writer/format/thread_object.h"

#define RECORD_WORDS 32

/* A copy of the fields needed of a slot: nothing here is read twice. */
struct slot_view {
	uint32_t number;
	bool is_thread_local; /* its thread index is registered chunk by chunk */
	bool is_nested;
	uint64_t koid;
	char name[FXT_THREAD_NAME_BYTES];
	uint64_t began, committed, late_record, late_chunk_end;
	uint64_t gap_lost, gap_start, nested_unshown;
	struct fxt_losses losses; /* all losses so far, shown or not */
	uint64_t overwritten_until;
	const struct fxt_frame *frames; /* open calls, oldest first */
	uint64_t open;
};

static void unfinished_emit_event(struct fxt_collector *c, uint64_t koid, enum fxt_event_type type,
        uint16_t category, struct fxt_string name, uint64_t start, const struct fxt_argument *argument,
        uint64_t end)
{
	uint64_t record[RECORD_WORDS];
	size_t words = fxt_put_event(record, RECORD_WORDS, type, fxt_thread_inline(c->process_koid, koid),
	        fxt_string_index(category), name, start, argument, argument != NULL, end);

	fxt_copy_append(&c->copy, record, words * 8);
}

static struct fxt_string unfinished_function_name(uint64_t function, char text[FXT_PLACEHOLDER_BYTES])
{
	uint64_t index = fxt_frame_index(function);

	if (index > 0 && index < FXT_STRING_LOCAL_FIRST)
		return fxt_string_index((uint32_t)index);
	return fxt_string_inline(text, fxt_placeholder(text, function >> FXT_FRAME_INDEX_BITS, 0));
}

static void unfinished_emit_open_call(struct fxt_collector *c, const struct slot_view *slot,
        const struct fxt_frame *frame, enum fxt_ending ending, uint64_t now)
{
	char text[FXT_PLACEHOLDER_BYTES];
	struct fxt_argument abandoned = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
	bool has_ended = ending == FXT_ENDED_NORMALLY;
	enum fxt_event_type type = has_ended ? FXT_EVENT_DURATION_COMPLETE : FXT_EVENT_DURATION_BEGIN;
	uint64_t word = load_relaxed(&frame->function), start = load_relaxed(&frame->start);
	uint64_t end = now > start ? now : start;

	if (load_relaxed(&frame->call_site) & FXT_FRAME_UNRECORDED)
		return;
	if (fxt_is_wait(word)) {
		uint64_t record[FXT_WAIT_WORDS];

		fxt_copy_append(&c->copy, record,
		        fxt_put_wait(record, type, c->process_koid,
		                fxt_thread_inline(c->process_koid, slot->koid), frame, has_ended, end) *
		                8);
	} else {
		unfinished_emit_event(c, slot->koid, type,
		        fxt_is_inherited(word) ? FXT_KNOWN_INHERITED : FXT_KNOWN_FUNCTION,
		        unfinished_function_name(word, text), start, has_ended ? &abandoned : NULL, end);
	}
}

/* Shows lost records by a slice, or by an instant if their time is not known. Does nothing
 * for 0 records. */
static void unfinished_emit_loss(struct fxt_collector *c, uint64_t koid, enum fxt_event_type type,
        const char *fate, uint64_t records, uint64_t start, uint64_t end)
{
	char text[FXT_LOSS_NAME_BYTES];
	struct fxt_argument argument = fxt_argument_uint64(fxt_string_index(FXT_KNOWN_RECORDS), records);

	if (records)
		unfinished_emit_event(c, koid, type, FXT_KNOWN_FXT,
		        fxt_string_inline(text, fxt_loss_name(text, records, fate)), start, &argument,
		        end > start ? end : start);
}

/*
 * Hands out the record that a stalled thread committed after its chunk was closed, unless
 * it was moved into the thread's next chunk since: `committed` lies in the closed chunk
 * before the move, in the next one after it.
 */
static void unfinished_emit_late_record(struct fxt_collector *c, const struct slot_view *slot)
{
	uint64_t late = fxt_collect_offset(c, slot->late_record),
	         end = fxt_collect_offset(c, slot->committed);
	uint64_t thread[3];

	if (!late || end <= late || slot->committed > slot->late_chunk_end)
		return;
	/* the index meant another thread in the chunks handed out since */
	if (slot->is_thread_local)
		fxt_copy_append(&c->copy, thread,
		        fxt_put_thread(thread, 3, FXT_THREAD_LOCAL_INDEX, c->process_koid, slot->koid) * 8);
	fxt_copy_append(&c->copy, c->buffer + late, end - late);
	if (c->mode == FXT_CIRCULAR)
		fxt_collect_on_slices(c, slot->number, c->buffer + late, end - late);
}

/* ---- what circular buffering overwrote ---- */

/*
 * Takes note of a slice, in order to find the longest time in which a slice for the
 * overwritten records fits without overlapping another one in part.
 *
 *   call A  |-------------------------------------------|     recorded third
 *   call B            |----------------------------|          recorded second
 *   call C                       |------------|               recorded first of those left
 *           ^ gap     ^ gap      ^
 *
 * Calls are recorded as they end, so the overwritten ones ended before C did. Overwritten
 * calls that were not inside C lay between B's start and C's start, or between A's start
 * and B's, and so on. No remaining slice begins or ends inside one of these gaps. The
 * longest is kept in gap_start and gap_end. The part of a gap after the latest overwritten
 * call does not count, or a thread that fell idle would seem to have been losing calls ever
 * since.
 */
static void unfinished_on_slice(struct fxt_slot_note *note, uint64_t start, uint64_t end, uint64_t until)
{
	uint64_t earliest = note->oldest ? note->oldest : UINT64_MAX;
	uint64_t gap_end = earliest < until ? earliest : until;

	if (start >= earliest)
		return;
	/* A wait is recorded before the call that it came after: that call is not around
	 * it. */
	if (end >= earliest && gap_end > start && gap_end - start > note->gap_end - note->gap_start) {
		note->gap_start = start;
		note->gap_end = gap_end;
	}
	note->oldest = start;
}

/* Returns the number of lost records that a slice of the tracer's own shows, or 0. */
static uint64_t unfinished_loss_shown(const uint64_t *record, uint64_t words)
{
	uint64_t argument = words >= 5 ? record[words - 3] : 0;

	if (fxt_field(record[0], 32, 16) == FXT_KNOWN_FXT &&
	        fxt_field(argument, 0, 4) == FXT_ARGUMENT_UINT64 &&
	        fxt_field(argument, 16, 16) == FXT_KNOWN_RECORDS)
		return record[words - 2];
	return 0;
}

void fxt_collect_on_slices(struct fxt_collector *c, uint32_t slot, const uint8_t *data, uint64_t bytes)
{
	const struct fxt_thread_slot *shared = fxt_control_slot(c->control, slot);
	uint64_t began = load_relaxed(&shared->began), until = load_relaxed(&shared->overwritten_until);
	const uint64_t *record = (const uint64_t *)data, *end = record + bytes / 8;
	struct fxt_slot_note *note = &c->notes[slot];

	while (record < end) {
		uint64_t header = load_relaxed(record), words = fxt_record_words(header);

		if (words == 0 || words > (uint64_t)(end - record))
			break;
		/* Older slices belong to a thread that had the slot before. */
		if (words >= FXT_CALL_WORDS && fxt_record_type(header) == FXT_RECORD_EVENT &&
		        record[1] > began && fxt_field(header, 16, 4) == FXT_EVENT_DURATION_COMPLETE) {
			unfinished_on_slice(note, record[1], record[words - 1], until);
			note->shown += unfinished_loss_shown(record, words);
		}
		record += words;
	}
}

/* Shows how many records circular buffering overwrote: all lost records, less those that
 * slices in the buffers show, less `shown`, for which slices were written just now. */
static void unfinished_emit_overwritten(
        struct fxt_collector *c, const struct slot_view *slot, uint64_t shown, uint64_t open, uint64_t now)
{
	struct fxt_slot_note note = c->notes[slot->number];
	uint64_t until = slot->overwritten_until > slot->began ? slot->overwritten_until : now;
	uint64_t missing = slot->losses.lost + slot->losses.overwritten;

	shown += note.shown;
	if (missing <= shown)
		return;
	missing -= shown;
	unfinished_on_slice(&note, now, now, until);
	for (uint64_t i = open; i-- > 0;)
		unfinished_on_slice(&note, load_relaxed(&slot->frames[i].start), UINT64_MAX, until);
	unfinished_on_slice(&note, slot->began, UINT64_MAX, until);
	/* Starts differ by a nanosecond at least. */
	uint64_t step = load_relaxed(&c->control->ticks_per_second) / 1000000000 + 1;

	/* Nested: these times may overlap the thread's other calls. */
	if (slot->is_nested || note.gap_end - note.gap_start < 2 * step)
		unfinished_emit_loss(
		        c, slot->koid, FXT_EVENT_INSTANT, FXT_LOSS_OVERWRITTEN, missing, until, until);
	else
		unfinished_emit_loss(c, slot->koid, FXT_EVENT_DURATION_COMPLETE, FXT_LOSS_OVERWRITTEN,
		        missing, note.gap_start + step, note.gap_end - step);
}

/* ---- one slot ---- */

/* Whether the last record that the thread had committed when the collection began is the
 * one that began at `start`. */
static bool unfinished_is_last_record(
        const struct fxt_collector *c, const struct slot_view *slot, uint64_t start)
{
	return fxt_is_last_record(
	        c->buffer, fxt_collect_offset(c, slot->committed), start, FXT_RECORD_MAX_WORDS);
}

/* Whether the newest call, which began at `start`, has its record, or is elided and
 * counted. */
static bool unfinished_is_recorded(
        const struct fxt_collector *c, const struct slot_view *slot, uint64_t start)
{
	return unfinished_is_last_record(c, slot, start) || fxt_collect_was_eliding(c, slot->number, start);
}

/* Names a thread if the durable buffer had no room for its name. Its chunks have the name
 * too, but it may have no chunks left. */
static void unfinished_emit_thread_name(struct fxt_collector *c, const struct slot_view *slot)
{
	uint64_t record[FXT_THREAD_OBJECT_WORDS];

	fxt_copy_append(&c->copy, record,
	        fxt_thread_object(slot->koid, slot->name, c->process_koid, record, FXT_THREAD_OBJECT_WORDS) *
	                8);
}

/* Returns how many of the oldest calls ended with the oneshot buffer, if the frame behind
 * them is the mark (fxt_stack_keep). */
static uint64_t unfinished_calls_kept(const struct slot_view *slot)
{
	uint64_t kept = slot->open;

	while (kept && load_relaxed(&slot->frames[kept - 1].function))
		kept--;
	return kept ? kept - 1 : 0;
}

/* What the end means for a thread with these open calls. After a stop, a call ends when
 * nobody sees it. But a thread that waits may wait for ever, and then its wait is what
 * matters. */
static enum fxt_ending unfinished_ending(const struct slot_view *slot, uint64_t open, enum fxt_ending ending)
{
	uint64_t newest = open > 0 ? load_relaxed(&slot->frames[open - 1].function) : 0;

	if (ending != FXT_WAS_STOPPED)
		return ending;
	return fxt_is_wait(newest) && !fxt_is_span(newest) ? FXT_ENDED_BY_SIGNAL : FXT_ENDED_NORMALLY;
}

static void unfinished_emit_slot(
        struct fxt_collector *c, const struct slot_view *slot, enum fxt_ending ending, uint64_t now)
{
	uint64_t open = slot->open, kept = unfinished_calls_kept(slot), shown = slot->nested_unshown;

	if (slot->is_thread_local)
		unfinished_emit_thread_name(c, slot);
	unfinished_emit_late_record(c, slot);
	if (open && unfinished_is_recorded(c, slot, load_relaxed(&slot->frames[open - 1].start)))
		open--;
	for (uint64_t i = kept; i-- > 0;)
		unfinished_emit_open_call(c, slot, &slot->frames[i], FXT_ENDED_NORMALLY,
		        load_relaxed(&slot->frames[kept].start));
	if (slot->gap_lost && !unfinished_is_last_record(c, slot, slot->gap_start)) {
		uint64_t start = slot->gap_start;

		/* records that are no calls may have been lost before the last call
		 * ended */
		if (kept)
			start = fxt_later(start, load_relaxed(&slot->frames[kept].start) + 1);
		shown += slot->gap_lost;
		unfinished_emit_loss(c, slot->koid, FXT_EVENT_DURATION_COMPLETE, FXT_LOSS_LOST,
		        slot->gap_lost, start, fxt_loss_end(slot->frames, open, start, now));
	}
	/* The time is not known: it is shown at the end, where nothing follows. */
	unfinished_emit_loss(
	        c, slot->koid, FXT_EVENT_DURATION_COMPLETE, FXT_LOSS_LOST, slot->nested_unshown, now, now);
	if (c->mode == FXT_CIRCULAR)
		unfinished_emit_overwritten(c, slot, shown, open, now);
	uint64_t first_open = kept ? kept + 1 : 0;

	ending = unfinished_ending(slot, open, ending);
	for (uint64_t i = first_open; i < open; i++)
		unfinished_emit_open_call(c, slot, &slot->frames[i], ending, now);
	if (c->left_open && ending == FXT_ENDED_BY_SIGNAL && open > first_open)
		c->left_open(c->left_open_context, slot->koid, open - first_open);
}

/* Finds the open calls of a slot. A large stack belongs to one slot only, or a few wrong
 * tops would yield terabytes. */
static void unfinished_find_frames(
        struct fxt_collector *c, struct slot_view *slot, uint64_t top, uint64_t *large_stacks_seen)
{
	struct fxt_shadow_stack_view stack = fxt_shadow_stack_find(c->control, slot->number, top);
	uint64_t end = stack.offset + stack.frames * sizeof(struct fxt_frame);

	if (stack.frames == 0)
		return;
	if (!fxt_control_reach(c->map, end)) {
		c->reason = c->reason ? c->reason : "no memory to read its open calls";
		return;
	}

	if (stack.large < FXT_LARGE_STACKS) {
		if (*large_stacks_seen >> stack.large & 1)
			return;
		*large_stacks_seen |= UINT64_C(1) << stack.large;
	}
	slot->frames = (const struct fxt_frame *)((const uint8_t *)c->control + stack.offset);
	slot->open = stack.frames;
}

/* The longest record of a call that is found here, with its arguments. A search among more
 * words would be more likely to mistake one for the beginning of a record. */
#define SLICE_WORDS 128

/* Returns the end of the slice whose record ends at `end` in the trace buffer; 0: the
 * record is not a slice. */
static uint64_t unfinished_last_end(const struct fxt_collector *c, uint64_t end)
{
	for (uint64_t words = FXT_CALL_WORDS; words <= SLICE_WORDS; words++) {
		if (end < sizeof(struct fxt_buffer_header) + words * 8)
			break;
		const uint64_t *record = (const uint64_t *)(c->buffer + end) - words;
		uint64_t header = load_relaxed(record);

		if (fxt_record_type(header) == FXT_RECORD_EVENT && fxt_record_words(header) == words &&
		        fxt_field(header, 16, 4) == FXT_EVENT_DURATION_COMPLETE)
			return load_relaxed(record + words - 1);
	}
	return 0;
}

/*
 * Returns the moment at which open calls of a slot end: `now`, or later if the thread went
 * on. A forked child may follow the end of a session late, and its last records then end
 * after `now`. Its open calls are around these records. If they ended before them, calls of
 * one thread would overlap in part.
 */
static uint64_t unfinished_end(const struct fxt_collector *c, const struct slot_view *slot, uint64_t now)
{
	uint64_t last = unfinished_last_end(c, fxt_collect_offset(c, slot->committed));

	if (slot->open)
		last = fxt_later(last, load_relaxed(&slot->frames[slot->open - 1].start));
	return fxt_later(now, last);
}

void fxt_collect_take_slot(struct fxt_collector *c, uint32_t number, uint64_t *large_stacks_seen,
        enum fxt_ending ending, uint64_t now)
{
	const struct fxt_thread_slot *shared = fxt_control_slot(c->control, number);
	/* Acquire: the other fields were written before the slot became live. */
	uint32_t state = load_acquire(&shared->state);
	uint64_t nested = load_relaxed(&shared->nested_lost);
	struct slot_view slot = {.number = number,
	        .is_thread_local = load_relaxed(&shared->thread_index) == FXT_THREAD_LOCAL_INDEX,
	        .is_nested = load_relaxed(&shared->is_nested),
	        .koid = load_relaxed(&shared->koid),
	        .began = load_relaxed(&shared->began),
	        .committed = c->notes[number].committed,
	        .late_record = load_relaxed(&shared->late_record),
	        .late_chunk_end = load_relaxed(&shared->late_chunk_end),
	        .gap_lost = fxt_collect_believe_calls(c, load_relaxed(&shared->gap_lost), 1, now),
	        .gap_start = load_relaxed(&shared->gap_start),
	        .nested_unshown =
	                fxt_collect_believe_calls(c, nested - load_relaxed(&shared->nested_shown), 1, now),
	        .losses = {fxt_collect_believe_calls(c, load_relaxed(&shared->lost) + nested, 1, now),
	                fxt_collect_believe_calls(c, load_relaxed(&shared->overwritten), 1, now)},
	        .overwritten_until = load_relaxed(&shared->overwritten_until)};

	uint64_t ended = load_relaxed(&shared->ended);

	if (state != FXT_SLOT_LIVE)
		return;
	/* `now` is the time at which the process was found gone. */
	if (ending == FXT_ENDED_NORMALLY && ended && ended < now)
		now = ended;
	memcpy(slot.name, shared->name, sizeof(slot.name));
	c->losses.lost += slot.losses.lost;
	c->losses.overwritten += slot.losses.overwritten;
	/* Acquire: the frames were written before the top that covers them. */
	unfinished_find_frames(c, &slot, load_acquire(&shared->top), large_stacks_seen);
	unfinished_emit_slot(c, &slot, ending, unfinished_end(c, &slot, now));
}

/* ---- the latest moment ---- */

/* Returns the start of the newest call that is open in a slot; 0: none is. */
static uint64_t unfinished_last_start(const struct fxt_collector *c, uint32_t number, uint64_t top)
{
	struct fxt_shadow_stack_view stack = fxt_shadow_stack_find(c->control, number, top);
	uint64_t end = stack.offset + stack.frames * sizeof(struct fxt_frame);

	if (stack.frames == 0 || !fxt_control_reach(c->map, end))
		return 0;
	return load_relaxed(&((const struct fxt_frame *)((const uint8_t *)c->control + end) - 1)->start);
}

uint64_t fxt_collect_latest(const struct fxt_collector *c, uint64_t until)
{
	uint32_t used = load_acquire(&c->control->slots_used);
	uint64_t latest = 0;

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++) {
		const struct fxt_thread_slot *slot = fxt_control_slot(c->control, i);
		/* Acquire: as fxt_collect_take_slot() does. */
		uint32_t state = load_acquire(&slot->state);
		uint64_t moments[] = {unfinished_last_start(c, i, load_acquire(&slot->top)),
		        unfinished_last_end(c, fxt_collect_offset(c, load_relaxed(&slot->committed)))};

		for (unsigned k = 0; state == FXT_SLOT_LIVE && k < 2; k++)
			if (moments[k] < until)
				latest = fxt_later(latest, moments[k]);
	}
	return latest;
}

/* ---- threads without a slot ---- */

void fxt_collect_recycled(struct fxt_collector *c, uint64_t now)
{
	uint64_t no_slot = load_relaxed(&c->control->lost_without_slot);
	uint64_t lost = no_slot + load_relaxed(&c->control->lost_recycled);
	uint64_t unshown = no_slot + load_relaxed(&c->control->unshown_recycled);
	uint64_t overwritten = load_relaxed(&c->control->overwritten_recycled);

	overwritten = fxt_collect_believe_calls(c, overwritten, c->cpus, now);
	c->losses.lost += fxt_collect_believe_calls(c, lost, c->cpus, now);
	c->losses.overwritten += overwritten;
	unfinished_emit_loss(c, c->process_koid, FXT_EVENT_INSTANT, FXT_LOSS_LOST,
	        fxt_collect_believe_calls(c, unshown, c->cpus, now), now, now);
	unfinished_emit_loss(
	        c, c->process_koid, FXT_EVENT_INSTANT, FXT_LOSS_OVERWRITTEN, overwritten, now, now);
}
