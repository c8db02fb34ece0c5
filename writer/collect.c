#include "collect.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "buffer.h"
#include "chunk.h"
#include "encode.h"
#include "loss.h"
#include "strings.h"
#include "sys.h"

#define COMMITTED_BYTES (FXT_SLOTS * sizeof(uint64_t))
#define RECORD_WORDS    32
/* The longest record a thread writes as one step with what it notes of it: a loss. */
#define LAST_RECORD_WORDS 10

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
	fxt_buffer_layout(c->mode, buffer_bytes, &c->layout);
}

static const struct fxt_buffer_header *buffer_header(const struct fxt_collector *c)
{
	return (const struct fxt_buffer_header *)c->buffer;
}

static const struct fxt_thread_slot *slot_at(const struct fxt_collector *c, uint32_t number)
{
	return (const struct fxt_thread_slot *)((const uint8_t *)c->control + FXT_SLOTS_OFFSET) + number;
}

/* Something is not as it must be; the first such reason is the one told. */
static void leave_out(struct fxt_collector *c, const char *reason)
{
	if (!c->reason)
		c->reason = reason;
}

/* The same, where what follows cannot be told apart any more. */
static void violated(struct fxt_collector *c, const char *reason)
{
	leave_out(c, reason);
	c->violated = true;
}

/* The outcome of a call. */
static int outcome(const struct fxt_collector *c)
{
	return c->emit_error ? c->emit_error : c->violated ? EPROTO : 0;
}

/* ---- records ---- */

static void hand_out(struct fxt_collector *c, const uint64_t *first, const uint64_t *end)
{
	if (first < end && !c->emit_error)
		c->emit_error = c->emit(c->context, first, (uint64_t)(end - first) * 8);
}

/*
 * Hands out the records in [data, data + bytes), but for metadata records, which only a manager may write.
 * Stops at the first that is not well framed.
 */
static void emit_records(struct fxt_collector *c, const uint8_t *data, uint64_t bytes)
{
	const uint64_t *record = (const uint64_t *)data, *end = record + bytes / 8, *run = record;

	while (record < end) {
		uint64_t header = load_relaxed(record);
		uint64_t type = header & 15;
		uint64_t words =
		        type == FXT_RECORD_LARGE ? fxt_large_record_words(header) : fxt_record_words(header);

		if (words == 0 || words > (uint64_t)(end - record)) {
			leave_out(c, words ? "a record reaches beyond its chunk" : "a record of size 0");
			break;
		}
		if (type == FXT_RECORD_METADATA) {
			hand_out(c, run, record);
			leave_out(c, "a metadata record among a provider's data was left out");
			run = record + words;
		}
		c->events += type == FXT_RECORD_EVENT;
		record += words;
	}
	hand_out(c, run, record);
}

static void emit_durable(struct fxt_collector *c, uint64_t end)
{
	uint64_t start = c->durable_saved;

	if (end > c->layout.durable_bytes || end % 8 != 0) {
		violated(c, "the end of the durable data is outside its buffer");
	} else if (end < start) {
		violated(c, "the durable data shrank");
	} else {
		c->durable_saved = end;
		emit_records(c, c->buffer + sizeof(struct fxt_buffer_header) + start, end - start);
	}
}

/* ---- chunks ---- */

enum chunk_kind { DURABLE_CHUNKS, THREAD_CHUNKS };

/* An agent address inside the trace buffer, or at its very end, as an offset; 0 if it is none. */
static uint64_t buffer_offset(const struct fxt_collector *c, uint64_t address)
{
	uint64_t offset = address - c->buffer_address;

	return address && offset <= c->buffer_bytes && offset % 8 == 0 ? offset : 0;
}

/* Each field is read once: what was checked is what is used, whatever the other side does meanwhile. */
static struct fxt_chunk_header read_chunk_header(const struct fxt_chunk_header *shared)
{
	struct fxt_chunk_header chunk;

	/* Acquire: the state is stored last. Pairs with the release in closing.c. */
	chunk.state = load_acquire(&shared->state);
	chunk.size = load_relaxed(&shared->size);
	chunk.slot = load_relaxed(&shared->slot);
	chunk.committed = load_relaxed(&shared->committed);
	return chunk;
}

/*
 * How many bytes of records the thread of an open chunk at `offset` has committed to it. From late_from on
 * they are not the chunk's any more: a closer that died was about to close it there.
 */
static uint32_t open_chunk_bytes(
        const struct fxt_collector *c, const struct fxt_chunk_header *chunk, uint64_t offset)
{
	uint64_t first = offset + sizeof(*chunk), end = offset + chunk->size;
	bool is_durable = chunk->slot == FXT_SLOT_DURABLE;
	uint64_t committed = buffer_offset(c, is_durable ? c->durable_committed : c->committed[chunk->slot]);
	uint64_t late = is_durable ? 0 : buffer_offset(c, load_relaxed(&slot_at(c, chunk->slot)->late_from));

	if (committed < first || committed > end)
		return 0;
	return (uint32_t)((late >= first && late < committed ? late : committed) - first);
}

static const char *chunk_trouble(
        const struct fxt_collector *c, const struct fxt_chunk_header *chunk, uint64_t room)
{
	if (chunk->size < sizeof(*chunk) || chunk->size % 8 != 0 || chunk->size > room)
		return "a chunk's size is wrong";
	if (chunk->slot >= FXT_SLOTS && !(chunk->slot == FXT_SLOT_DURABLE && c->mode == FXT_ONESHOT))
		return "a chunk belongs to no thread";
	if (chunk->state == FXT_CHUNK_OPEN)
		return c->committed ? NULL : "a chunk of a saved buffer is still open";
	if (chunk->state != FXT_CHUNK_CLOSED)
		return "a chunk is neither open nor closed";
	if (chunk->committed > chunk->size - sizeof(*chunk) || chunk->committed % 8 != 0)
		return "a chunk holds more than its size";
	return NULL;
}

static void emit_chunks(struct fxt_collector *c, unsigned buffer, enum chunk_kind kind)
{
	uint64_t data_end = load_acquire(&buffer_header(c)->rolling_data_end[buffer]);

	if (data_end > c->layout.rolling_bytes) {
		violated(c, "the end of a rolling buffer's data is outside the buffer");
		return;
	}
	for (uint64_t at = 0; at < data_end && !c->emit_error;) {
		uint64_t offset = c->layout.rolling_offset[buffer] + at;
		const struct fxt_chunk_header *shared = (const struct fxt_chunk_header *)(c->buffer + offset);
		struct fxt_chunk_header chunk = {0}; /* none where there is no room for one */

		if (data_end - at >= sizeof(chunk))
			chunk = read_chunk_header(shared);
		const char *trouble = chunk_trouble(c, &chunk, data_end - at);

		if (trouble) {
			violated(c, trouble);
			return;
		}
		if (chunk.state == FXT_CHUNK_OPEN)
			chunk.committed = open_chunk_bytes(c, &chunk, offset);
		if ((chunk.slot == FXT_SLOT_DURABLE) == (kind == DURABLE_CHUNKS))
			emit_records(c, (const uint8_t *)(shared + 1), chunk.committed);
		at += chunk.size;
	}
}

/* Every call begins here: whether the header is as it was set up. */
static bool begin(struct fxt_collector *c)
{
	c->reason = fxt_buffer_check(buffer_header(c), c->mode, c->buffer_bytes);
	c->violated = c->reason != NULL;
	c->emit_error = 0;
	c->buffer_address = load_relaxed(&c->control->buffer_address);
	return !c->reason;
}

int fxt_collect_saved_buffer(struct fxt_collector *c, const struct fxt_packet *packet)
{
	if (!begin(c))
		return EPROTO;
	if (c->mode != FXT_STREAMING)
		violated(c, "a buffer was saved that is not streamed");
	else if (packet->data32 != c->next_wrapped)
		violated(c, "a buffer was saved out of turn");
	else if (packet->data64 < FXT_DURABLE_MIN_BYTES)
		violated(c, "the end of the durable data is outside its buffer");
	if (c->violated)
		return EPROTO;
	/* Whatever comes of it, this buffer's turn is over. */
	c->next_wrapped++;
	c->saves++;
	emit_durable(c, packet->data64);
	if (outcome(c) == 0)
		emit_chunks(c, packet->data32 & 1, THREAD_CHUNKS);
	return outcome(c);
}

/* ---- what lies in slots ---- */

/* A copy of what is needed of a slot: nothing here is read twice. */
struct slot_view {
	uint32_t number;
	bool is_thread_local; /* its thread index is registered chunk by chunk */
	uint64_t koid;
	char name[64];
	uint64_t committed, late_from, late_end;
	uint64_t lost, gap_lost, gap_start, nested_unshown;
	const struct fxt_frame *frames; /* open calls, oldest first */
	uint64_t open;
};

static void emit_event(struct fxt_collector *c, const struct slot_view *slot, enum fxt_event_type type,
        uint16_t category, struct fxt_string name, uint64_t start, const struct fxt_argument *argument,
        uint64_t end)
{
	uint64_t record[RECORD_WORDS];
	size_t words =
	        fxt_put_event(record, RECORD_WORDS, type, fxt_thread_inline(c->process_koid, slot->koid),
	                fxt_string_index(category), name, start, argument, argument != NULL, end);

	emit_records(c, (const uint8_t *)record, words * 8);
}

static struct fxt_string function_name(uint64_t function, char text[FXT_PLACEHOLDER_BYTES])
{
	uint64_t index = function & FXT_INDEX_LOCAL;

	if (index > 0 && index < FXT_STRING_LOCAL_FIRST)
		return fxt_string_index((uint32_t)index);
	return fxt_string_inline(text, fxt_placeholder(text, function >> FXT_FRAME_INDEX_BITS, 0));
}

static void emit_open_call(struct fxt_collector *c, const struct slot_view *slot,
        const struct fxt_frame *frame, enum fxt_ending ending, uint64_t now)
{
	char text[FXT_PLACEHOLDER_BYTES];
	struct fxt_argument abandoned = fxt_argument_bool(fxt_string_index(FXT_KNOWN_ABANDONED), true);
	struct fxt_string name = function_name(load_relaxed(&frame->function), text);
	uint64_t start = load_relaxed(&frame->start);

	if (ending == FXT_ENDED_NORMALLY)
		emit_event(c, slot, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_FUNCTION, name, start, &abandoned,
		        now > start ? now : start);
	else
		emit_event(c, slot, FXT_EVENT_DURATION_BEGIN, FXT_KNOWN_FUNCTION, name, start, NULL, 0);
}

static void emit_loss(
        struct fxt_collector *c, const struct slot_view *slot, uint64_t records, uint64_t start, uint64_t end)
{
	char text[48];
	struct fxt_argument argument = fxt_argument_uint64(fxt_string_index(FXT_KNOWN_RECORDS), records);

	emit_event(c, slot, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_FXT,
	        fxt_string_inline(text, fxt_loss_name(text, records)), start, &argument,
	        end > start ? end : start);
}

/*
 * What a parked thread committed after its chunk was closed, and did not come to move: then `committed` still
 * lies in that chunk. After the move it lies in another.
 */
static void emit_late_call(struct fxt_collector *c, const struct slot_view *slot)
{
	uint64_t late = buffer_offset(c, slot->late_from), end = buffer_offset(c, slot->committed);
	uint64_t thread[3];

	if (!late || end <= late || slot->committed > slot->late_end)
		return;
	if (slot->is_thread_local) /* the index meant another thread in the chunks handed out since */
		emit_records(c, (const uint8_t *)thread,
		        fxt_put_thread(thread, 3, FXT_THREAD_LOCAL_INDEX, c->process_koid, slot->koid) * 8);
	emit_records(c, c->buffer + late, end - late);
}

/*
 * A thread that died between publishing a record and noting that it did, by taking the call's frame off the
 * stack or by clearing the loss, left both. Starts are unique on a thread, so the last record's tells.
 */
static bool is_last_record(const struct fxt_collector *c, uint64_t committed, uint64_t start)
{
	uint64_t end = buffer_offset(c, committed);

	for (uint64_t words = 3; words <= LAST_RECORD_WORDS; words++) {
		const uint64_t *record = (const uint64_t *)(c->buffer + end) - words;

		if (end < sizeof(struct fxt_buffer_header) + words * 8)
			return false;
		if (fxt_record_type(record[0]) == FXT_RECORD_EVENT && fxt_record_words(record[0]) == words &&
		        record[1] == start)
			return true;
	}
	return false;
}

/* A thread whose name the durable buffer had no room for, and which may have no chunk to say it. */
static void emit_thread_name(struct fxt_collector *c, const struct slot_view *slot)
{
	struct fxt_argument process = fxt_argument_koid(fxt_string_index(FXT_KNOWN_PROCESS), c->process_koid);
	struct fxt_string name = fxt_string_inline(slot->name, strnlen(slot->name, sizeof(slot->name)));
	uint64_t record[RECORD_WORDS];

	emit_records(c, (const uint8_t *)record,
	        fxt_put_kernel_object(
	                record, RECORD_WORDS, FXT_OBJECT_THREAD, slot->koid, name, &process, 1) *
	                8);
}

static void emit_slot(
        struct fxt_collector *c, const struct slot_view *slot, enum fxt_ending ending, uint64_t now)
{
	uint64_t open = slot->open;

	if (slot->is_thread_local)
		emit_thread_name(c, slot);
	emit_late_call(c, slot);
	if (open && is_last_record(c, slot->committed, load_relaxed(&slot->frames[open - 1].start)))
		open--;
	if (slot->gap_lost && !is_last_record(c, slot->committed, slot->gap_start))
		emit_loss(c, slot, slot->gap_lost, slot->gap_start,
		        fxt_loss_end(slot->frames, open, slot->gap_start, now));
	if (slot->nested_unshown) /* at no known time: at the end, where nothing follows */
		emit_loss(c, slot, slot->nested_unshown, now, now);
	for (uint64_t i = 0; i < open; i++)
		emit_open_call(c, slot, &slot->frames[i], ending, now);
}

/*
 * The open calls of a slot. The top alone says in which stack they lie: a thread that died while it moved to
 * a large stack has them where its top is. A large stack is one slot's, or a few wrong tops would yield
 * terabytes.
 */
static void find_frames(
        const struct fxt_collector *c, struct slot_view *slot, uint64_t top, uint64_t *large_stacks_seen)
{
	uint64_t end = top - load_relaxed(&c->control->control_address);
	uint64_t place = FXT_STACKS_OFFSET + slot->number * FXT_SMALL_STACK_BYTES;
	uint64_t bytes = FXT_SMALL_STACK_BYTES;

	if (end > FXT_LARGE_STACKS_OFFSET && end <= FXT_HEAP_SUMS_OFFSET) {
		uint64_t stack = (end - 1 - FXT_LARGE_STACKS_OFFSET) / FXT_LARGE_STACK_BYTES;

		if (*large_stacks_seen >> stack & 1)
			return;
		*large_stacks_seen |= UINT64_C(1) << stack;
		place = FXT_LARGE_STACKS_OFFSET + stack * FXT_LARGE_STACK_BYTES;
		bytes = FXT_LARGE_STACK_BYTES;
	}
	/* Behind the sentinel. */
	uint64_t first = place + fxt_stack_color(slot->number) + sizeof(struct fxt_frame);

	if (end < first || end > place + bytes || (end - first) % sizeof(struct fxt_frame) != 0)
		return;
	slot->frames = (const struct fxt_frame *)((const uint8_t *)c->control + first);
	slot->open = (end - first) / sizeof(struct fxt_frame);
}

/* Sums up and hands out what is in a slot. */
static void take_slot(struct fxt_collector *c, uint32_t number, uint64_t *large_stacks_seen,
        enum fxt_ending ending, uint64_t now)
{
	const struct fxt_thread_slot *shared = slot_at(c, number);
	/* Acquire: whoever made the slot live wrote the rest before. */
	uint32_t state = load_acquire(&shared->state);
	uint64_t nested = load_relaxed(&shared->nested);
	struct slot_view slot = {.number = number,
	        .is_thread_local = load_relaxed(&shared->thread_index) == FXT_THREAD_LOCAL_INDEX,
	        .koid = load_relaxed(&shared->koid),
	        .committed = c->committed[number],
	        .late_from = load_relaxed(&shared->late_from),
	        .late_end = load_relaxed(&shared->late_end),
	        .gap_lost = load_relaxed(&shared->gap_lost),
	        .gap_start = load_relaxed(&shared->gap_start),
	        .nested_unshown = nested - load_relaxed(&shared->nested_shown)};

	if (state != FXT_SLOT_LIVE)
		return;
	memcpy(slot.name, shared->name, sizeof(slot.name));
	c->lost += load_relaxed(&shared->lost) + nested + load_relaxed(&shared->overwritten);
	/* Acquire: the frames were written before the top that covers them. */
	find_frames(c, &slot, load_acquire(&shared->top), large_stacks_seen);
	emit_slot(c, &slot, ending, now);
}

/* ---- the rest of a provider ---- */

/* Lengths first, then the durable end: every name these records use lies below it. */
static void sample_lengths(struct fxt_collector *c, uint32_t used)
{
	c->durable_committed = load_acquire(&c->control->durable_committed);
	for (uint32_t i = 0; i < used; i++)
		c->committed[i] = load_acquire(&slot_at(c, i)->committed);
}

static void emit_rolling_buffers(struct fxt_collector *c)
{
	uint32_t wrapped = load_acquire(&buffer_header(c)->wrapped_count);
	uint32_t unsaved = wrapped - c->next_wrapped;

	if (c->mode == FXT_ONESHOT) {
		emit_chunks(c, 0, THREAD_CHUNKS);
		return;
	}
	if (c->mode == FXT_STREAMING && unsaved > 1) {
		violated(c, "the wrapped count jumped");
		return;
	}
	if (c->mode == FXT_STREAMING ? unsaved == 1 : wrapped > 0)
		emit_chunks(c, (wrapped - 1) & 1, THREAD_CHUNKS);
	emit_chunks(c, wrapped & 1, THREAD_CHUNKS);
}

/* A part that breaks a rule is left out; the others are taken. */
static void emit_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	uint32_t used = load_acquire(&c->control->slots_used);
	uint64_t large_stacks_seen = 0;

	if (used > FXT_SLOTS) {
		violated(c, "more thread slots in use than there are");
		used = 0;
	}
	sample_lengths(c, used);
	if (c->mode == FXT_ONESHOT)
		emit_chunks(c, 0, DURABLE_CHUNKS);
	else
		emit_durable(c, load_acquire(&buffer_header(c)->durable_data_end));
	emit_rolling_buffers(c);
	c->threads = load_relaxed(&c->control->threads);
	c->lost = load_relaxed(&c->control->lost_without_slot) + load_relaxed(&c->control->lost_recycled) +
	          load_relaxed(&c->control->overwritten_recycled);
	for (uint32_t i = 0; i < used && !c->emit_error; i++)
		take_slot(c, i, &large_stacks_seen, ending, now);
}

int fxt_collect_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	if (!begin(c))
		return EPROTO;
	c->committed = sys_map(COMMITTED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!c->committed)
		return ENOMEM;
	emit_rest(c, ending, now);
	sys_unmap(c->committed, COMMITTED_BYTES);
	c->committed = NULL;
	return outcome(c);
}
