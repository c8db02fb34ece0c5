#include "collect.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "buffer.h"
#include "chunk.h"
#include "encode.h"
#include "strings.h"
#include "sys.h"

#define COMMITTED_BYTES (FXT_SLOTS * sizeof(uint64_t))
#define RECORD_WORDS    32

void fxt_collector_init(struct fxt_collector *c, const void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, fxt_emit *emit, void *context)
{
	memset(c, 0, sizeof(*c));
	c->buffer = buffer;
	c->buffer_bytes = buffer_bytes;
	c->control = control;
	c->emit = emit;
	c->context = context;
	c->mode = (enum fxt_buffering_mode)control->buffering_mode; /* before the agent could change it */
	c->process_koid = control->process_koid;
}

static const struct fxt_buffer_header *buffer_header(const struct fxt_collector *c)
{
	return (const struct fxt_buffer_header *)c->buffer;
}

static int broken(struct fxt_collector *c, const char *reason)
{
	c->reason = reason;
	return EPROTO;
}

/* ---- records ---- */

/*
 * Hands out the records in [data, data + bytes), but for metadata records, which only a manager may write.
 * Stops at the first that is not well framed.
 */
static int emit_records(struct fxt_collector *c, const uint8_t *data, uint64_t bytes)
{
	const uint64_t *record = (const uint64_t *)data, *end = record + bytes / 8, *run = record;
	int error = 0;

	while (record < end) {
		uint64_t header = *record;
		uint64_t type = header & 15;
		uint64_t words =
		        type == FXT_RECORD_LARGE ? fxt_large_record_words(header) : fxt_record_words(header);

		if (words == 0 || words > (uint64_t)(end - record)) {
			c->reason = words ? "a record reaches beyond its chunk" : "a record of size 0";
			break;
		}
		if (type == FXT_RECORD_METADATA) {
			if (record != run)
				error = c->emit(c->context, run, (uint64_t)(record - run) * 8);
			if (error)
				return error;
			c->reason = "a metadata record among a provider's data was left out";
			run = record + words;
		}
		c->events += type == FXT_RECORD_EVENT;
		record += words;
	}
	if (record != run)
		error = c->emit(c->context, run, (uint64_t)(record - run) * 8);
	return error ? error : record < end ? EPROTO : 0;
}

static int emit_durable(struct fxt_collector *c, uint64_t end)
{
	uint64_t start = c->durable_saved;

	if (end < start)
		return broken(c, "the durable data shrank");
	c->durable_saved = end;
	return end == start
	               ? 0
	               : emit_records(c, c->buffer + sizeof(struct fxt_buffer_header) + start, end - start);
}

/* ---- chunks ---- */

enum chunk_kind { DURABLE_CHUNKS, THREAD_CHUNKS };

/* An agent address inside the trace buffer as an offset; 0 if it is none. */
static uint64_t buffer_offset(const struct fxt_collector *c, uint64_t address)
{
	uint64_t offset = address - c->control->buffer_address;

	return address && offset < c->buffer_bytes && offset % 8 == 0 ? offset : 0;
}

/* How many bytes of the chunk at `offset` hold committed records. */
static uint64_t committed_bytes(
        const struct fxt_collector *c, const struct fxt_chunk_header *header, uint64_t offset)
{
	uint64_t first = offset + sizeof(*header), end = offset + header->size;
	uint64_t committed;

	/* Acquire: pairs with the release in close_chunk(). */
	if (load_acquire(&header->state) == FXT_CHUNK_CLOSED)
		return header->committed;
	committed = buffer_offset(
	        c, header->slot == FXT_SLOT_DURABLE ? c->durable_committed : c->committed[header->slot]);
	return committed > first && committed <= end ? committed - first : 0;
}

static int emit_chunks(struct fxt_collector *c, unsigned buffer, enum chunk_kind kind)
{
	const struct fxt_buffer_header *header = buffer_header(c);
	struct fxt_buffer_layout layout;
	uint64_t data_end = load_acquire(&header->rolling_data_end[buffer]);

	if (fxt_buffer_layout(c->mode, c->buffer_bytes, &layout) != 0 || data_end > layout.rolling_bytes)
		return broken(c, "the end of a rolling buffer's data is outside the buffer");
	for (uint64_t at = 0; at < data_end;) {
		uint64_t offset = layout.rolling_offset[buffer] + at;
		const struct fxt_chunk_header *shared = (const struct fxt_chunk_header *)(c->buffer + offset);
		struct fxt_chunk_header chunk = *shared;

		if (chunk.size < sizeof(chunk) || chunk.size % 8 != 0 || chunk.size > data_end - at)
			return broken(c, "a chunk's size is wrong");
		if (chunk.slot >= FXT_SLOTS && !(chunk.slot == FXT_SLOT_DURABLE && c->mode == FXT_ONESHOT))
			return broken(c, "a chunk belongs to no thread");
		chunk.committed = (uint32_t)committed_bytes(c, shared, offset);
		if (chunk.committed > chunk.size - sizeof(chunk) || chunk.committed % 8 != 0)
			return broken(c, "a chunk holds more than its size");
		if (chunk.committed && (chunk.slot == FXT_SLOT_DURABLE) == (kind == DURABLE_CHUNKS)) {
			int error = emit_records(c, (const uint8_t *)(shared + 1), chunk.committed);

			if (error)
				return error;
		}
		at += chunk.size;
	}
	return 0;
}

int fxt_collect_saved_buffer(struct fxt_collector *c, const struct fxt_packet *packet)
{
	const struct fxt_buffer_header *header = buffer_header(c);
	uint64_t durable_end = packet->data64;
	int error;

	c->reason = fxt_buffer_check(header, c->mode, c->buffer_bytes);
	if (c->reason)
		return EPROTO;
	if (packet->data32 != c->next_wrapped)
		return broken(c, "a buffer was saved out of turn");
	if (durable_end < FXT_DURABLE_MIN_BYTES || durable_end > header->durable_buffer_size ||
	        durable_end % 8 != 0)
		return broken(c, "the end of the durable data is outside its buffer");
	error = emit_durable(c, durable_end);
	if (!error)
		error = emit_chunks(c, packet->data32 & 1, THREAD_CHUNKS);
	c->next_wrapped++;
	c->saves++;
	return error;
}

/* ---- the end: what lies in slots ---- */

static int emit_event(struct fxt_collector *c, enum fxt_event_type type, const struct fxt_thread_slot *slot,
        uint16_t category, struct fxt_string name, uint64_t start, const struct fxt_argument *argument,
        uint64_t end)
{
	uint64_t record[RECORD_WORDS];
	size_t words =
	        fxt_put_event(record, RECORD_WORDS, type, fxt_thread_inline(c->process_koid, slot->koid),
	                fxt_string_index(category), name, start, argument, argument != NULL, end);

	return words ? emit_records(c, (const uint8_t *)record, words * 8) : 0;
}

static struct fxt_string frame_name(const struct fxt_frame *frame, char text[FXT_PLACEHOLDER_BYTES])
{
	uint64_t index = frame->function & ((1u << FXT_FRAME_INDEX_BITS) - 1);

	if (index > 0 && index < FXT_STRING_LOCAL_FIRST)
		return fxt_string_index((uint32_t)index);
	return fxt_string_inline(text, fxt_placeholder(text, frame->function >> FXT_FRAME_INDEX_BITS, 0));
}

static int emit_open_call(struct fxt_collector *c, const struct fxt_thread_slot *slot,
        const struct fxt_frame *frame, enum fxt_ending ending, uint64_t now)
{
	char text[FXT_PLACEHOLDER_BYTES];
	struct fxt_argument abandoned = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
	struct fxt_string name = frame_name(frame, text);

	if (ending != FXT_ENDED_NORMALLY)
		return emit_event(
		        c, FXT_EVENT_DURATION_BEGIN, slot, FXT_KNOWN_FUNCTION, name, frame->start, NULL, 0);
	return emit_event(c, FXT_EVENT_DURATION_COMPLETE, slot, FXT_KNOWN_FUNCTION, name, frame->start,
	        &abandoned, now > frame->start ? now : frame->start);
}

/* The open calls of a slot, checked to lie in the control memory; their number. */
static uint64_t open_frames(
        const struct fxt_collector *c, const struct fxt_thread_slot *slot, const struct fxt_frame **frames)
{
	uint64_t first = slot->stack_offset + sizeof(struct fxt_frame);
	uint64_t end = load_acquire(&slot->top) - c->control->control_address;

	if (slot->stack_offset < FXT_STACKS_OFFSET || slot->stack_offset % 8 != 0 ||
	        slot->stack_bytes > FXT_LARGE_STACK_BYTES ||
	        slot->stack_offset > FXT_CONTROL_BYTES - slot->stack_bytes)
		return 0;
	if (end < first || end > slot->stack_offset + slot->stack_bytes)
		return 0;
	*frames = (const struct fxt_frame *)((const uint8_t *)c->control + first);
	return (end - first) / sizeof(struct fxt_frame);
}

/*
 * A thread that died between publishing the record of a call and taking its frame off the stack left both;
 * starts are unique on a thread, so the record's start tells. A call's record is 3 words, an abandoned
 * one's 4.
 */
static bool is_recorded(const struct fxt_collector *c, const struct fxt_frame *newest, uint64_t committed)
{
	uint64_t end = buffer_offset(c, committed);

	for (uint64_t words = 3; words <= 4; words++) {
		const uint64_t *record = (const uint64_t *)(c->buffer + end) - words;

		if (end > sizeof(struct fxt_buffer_header) + words * 8 &&
		        fxt_record_type(record[0]) == FXT_RECORD_EVENT &&
		        fxt_record_words(record[0]) == words && record[1] == newest->start)
			return true;
	}
	return false;
}

static int emit_loss(struct fxt_collector *c, const struct fxt_thread_slot *slot, uint64_t records,
        uint64_t start, uint64_t end)
{
	char text[48];
	struct fxt_argument argument = fxt_argument_uint64(fxt_string_index(FXT_KNOWN_RECORDS), records);

	return emit_event(c, FXT_EVENT_DURATION_COMPLETE, slot, FXT_KNOWN_FXT,
	        fxt_string_inline(text, fxt_loss_name(text, records)), start, &argument, end);
}

static int emit_slot(struct fxt_collector *c, const struct fxt_thread_slot *slot, uint64_t committed,
        enum fxt_ending ending, uint64_t now)
{
	const struct fxt_frame *frames = NULL;
	uint64_t open = open_frames(c, slot, &frames);
	uint64_t late = buffer_offset(c, slot->late_from), late_end = buffer_offset(c, committed);
	int error = 0;

	if (late && late_end > late && late_end - late <= FXT_RECORD_MAX_WORDS * 8)
		error = emit_records(c, c->buffer + late, late_end - late);
	if (open && is_recorded(c, &frames[open - 1], committed))
		open--;
	if (!error && slot->gap_lost)
		error = emit_loss(c, slot, slot->gap_lost, slot->gap_start,
		        fxt_loss_end(frames, open, slot->gap_start, now));
	if (!error && slot->nested) /* at no known time: at the end, where nothing follows */
		error = emit_loss(c, slot, slot->nested, now, now);
	for (uint64_t i = 0; i < open && !error; i++)
		error = emit_open_call(c, slot, &frames[i], ending, now);
	return error;
}

static int emit_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	const struct fxt_buffer_header *header = buffer_header(c);
	const struct fxt_thread_slot *slots =
	        (const struct fxt_thread_slot *)((uint8_t *)c->control + FXT_SLOTS_OFFSET);
	uint32_t used = load_acquire(&c->control->slots_used);
	uint32_t wrapped = load_acquire(&header->wrapped_count);
	int error = 0;

	if (used > FXT_SLOTS)
		return broken(c, "more thread slots in use than there are");
	/* Lengths first, then the durable end: every name these records use lies below it. */
	c->durable_committed = load_acquire(&c->control->durable_committed);
	for (uint32_t i = 0; i < used; i++)
		c->committed[i] = load_acquire(&slots[i].committed);
	if (c->mode == FXT_ONESHOT)
		error = emit_chunks(c, 0, DURABLE_CHUNKS);
	else
		error = emit_durable(c, load_acquire(&header->durable_data_end));
	if (!error && c->mode == FXT_STREAMING && wrapped - c->next_wrapped > 1)
		return broken(c, "the wrapped count jumped");
	if (!error && (c->mode == FXT_STREAMING ? wrapped != c->next_wrapped
	                                        : wrapped > 0 && c->mode == FXT_CIRCULAR))
		error = emit_chunks(c, (wrapped - 1) & 1, THREAD_CHUNKS);
	if (!error)
		error = emit_chunks(c, c->mode == FXT_ONESHOT ? 0 : wrapped & 1, THREAD_CHUNKS);
	c->lost =
	        c->control->lost_without_slot + c->control->lost_recycled + c->control->overwritten_recycled;
	c->threads = c->control->threads;
	for (uint32_t i = 0; i < used && !error; i++) {
		const struct fxt_thread_slot *slot = &slots[i];

		if (load_acquire(&slot->state) != FXT_SLOT_LIVE)
			continue;
		c->lost += slot->lost + slot->nested + slot->overwritten;
		error = emit_slot(c, slot, c->committed[i], ending, now);
	}
	return error;
}

int fxt_collect_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	int error;

	c->reason = fxt_buffer_check(buffer_header(c), c->mode, c->buffer_bytes);
	if (c->reason)
		return EPROTO;
	c->committed = sys_map(COMMITTED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!c->committed)
		return ENOMEM;
	error = emit_rest(c, ending, now);
	sys_unmap(c->committed, COMMITTED_BYTES);
	c->committed = NULL;
	return error;
}
