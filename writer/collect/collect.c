#include "internal.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "writer/buffer.h"
#include "writer/format.h"
#include "writer/left_out.h"
#include "writer/sys.h"

#define NOTES_BYTES (FXT_SLOTS * sizeof(struct fxt_slot_note))

void fxt_collector_init(struct fxt_collector *c, const void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, fxt_emit *emit, void *context)
{
	memset(c, 0, sizeof(*c));
	c->buffer = buffer;
	c->buffer_bytes = buffer_bytes;
	c->control = control;
	c->copy.emit = emit;
	c->copy.context = context;
	c->mode = (enum fxt_buffering_mode)control->buffering_mode; /* before the agent could change it */
	c->leaves_out_calls = fxt_leaves_out_calls(control);
	c->process_koid = control->process_koid;
	fxt_buffer_layout(c->mode, buffer_bytes, &c->layout);
}

void fxt_collector_restart(struct fxt_collector *c, enum fxt_start_mode mode)
{
	if (mode == FXT_START_RETAIN)
		return;
	c->next_wrapped = 0;
	if (mode == FXT_START_CLEAR_NONDURABLE && c->mode != FXT_ONESHOT)
		return;
	c->durable_saved = 0;
	c->earlier_losses = c->losses;
}

static const struct fxt_buffer_header *collect_header(const struct fxt_collector *c)
{
	return (const struct fxt_buffer_header *)c->buffer;
}

/* Notes why something is left out. The first reason is kept: others often follow from it. */
static void collect_leave_out(struct fxt_collector *c, const char *reason)
{
	if (!c->reason)
		c->reason = reason;
}

/* The same for a broken rule after which the rest of a buffer cannot be read: the call returns EPROTO. */
static void collect_violated(struct fxt_collector *c, const char *reason)
{
	collect_leave_out(c, reason);
	c->violated = true;
}

/* Ends every call: hands out what was taken, and returns what the call is to return. */
static int collect_end(struct fxt_collector *c)
{
	int error = fxt_copy_flush(&c->copy);

	if (c->copy.reason)
		collect_leave_out(c, c->copy.reason);
	return error ? error : c->violated ? EPROTO : 0;
}

static void collect_durable(struct fxt_collector *c, uint64_t end)
{
	uint64_t start = c->durable_saved;

	if (end > c->layout.durable_bytes || end % 8 != 0) {
		collect_violated(c, "the end of the durable data is outside its buffer");
	} else if (end < start) {
		collect_violated(c, "the durable data shrank");
	} else {
		c->durable_saved = end;
		fxt_copy_append(&c->copy, c->buffer + sizeof(struct fxt_buffer_header) + start, end - start);
	}
}

/* ---- chunks ---- */

enum chunk_kind { DURABLE_CHUNKS, THREAD_CHUNKS };

/* Each field is read once: what was checked is what is used, whatever the other side does meanwhile. */
static struct fxt_chunk_header collect_read_chunk_header(const struct fxt_chunk_header *shared)
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
 * How many bytes of records the thread of an open chunk at `offset` has committed to it. From late_record on
 * they are not the chunk's any more: a closer that died was about to close it there.
 */
static uint32_t collect_open_chunk_bytes(
        const struct fxt_collector *c, const struct fxt_chunk_header *chunk, uint64_t offset)
{
	uint64_t first = offset + sizeof(*chunk), end = offset + chunk->size;
	bool is_durable = chunk->slot == FXT_SLOT_DURABLE;
	uint64_t committed =
	        fxt_collect_offset(c, is_durable ? c->durable_committed : c->notes[chunk->slot].committed);
	uint64_t late =
	        is_durable ? 0
	                   : fxt_collect_offset(c,
	                             load_relaxed(&fxt_control_slot(c->control, chunk->slot)->late_record));

	if (committed < first || committed > end)
		return 0;
	return (uint32_t)((late >= first && late < committed ? late : committed) - first);
}

static const char *collect_chunk_trouble(
        const struct fxt_collector *c, const struct fxt_chunk_header *chunk, uint64_t room)
{
	if (chunk->size < sizeof(*chunk) || chunk->size % 8 != 0 || chunk->size > room)
		return "a chunk's size is wrong";
	if (chunk->slot >= FXT_SLOTS && !(chunk->slot == FXT_SLOT_DURABLE && c->mode == FXT_ONESHOT))
		return "a chunk belongs to no thread";
	if (chunk->state == FXT_CHUNK_OPEN)
		return c->notes ? NULL : "a chunk of a saved buffer is still open";
	if (chunk->state != FXT_CHUNK_CLOSED)
		return "a chunk is neither open nor closed";
	if (chunk->committed > chunk->size - sizeof(*chunk) || chunk->committed % 8 != 0)
		return "a chunk holds more than its size";
	return NULL;
}

static void collect_chunks(struct fxt_collector *c, unsigned buffer, enum chunk_kind kind)
{
	uint64_t data_end = load_acquire(&collect_header(c)->rolling_data_end[buffer]);

	if (data_end > c->layout.rolling_bytes) {
		collect_violated(c, "the end of a rolling buffer's data is outside the buffer");
		return;
	}
	for (uint64_t at = 0; at < data_end && !c->copy.error;) {
		uint64_t offset = c->layout.rolling_offset[buffer] + at;
		const struct fxt_chunk_header *shared = (const struct fxt_chunk_header *)(c->buffer + offset);
		struct fxt_chunk_header chunk = {0}; /* none where there is no room for one */

		if (data_end - at >= sizeof(chunk))
			chunk = collect_read_chunk_header(shared);
		const char *trouble = collect_chunk_trouble(c, &chunk, data_end - at);

		if (trouble) {
			collect_violated(c, trouble);
			return;
		}
		if (chunk.state == FXT_CHUNK_OPEN)
			chunk.committed = collect_open_chunk_bytes(c, &chunk, offset);
		if ((chunk.slot == FXT_SLOT_DURABLE) == (kind == DURABLE_CHUNKS))
			fxt_copy_append(&c->copy, shared + 1, chunk.committed);
		if (c->mode == FXT_CIRCULAR)
			fxt_collect_see_slices(c, chunk.slot, (const uint8_t *)(shared + 1), chunk.committed);
		at += chunk.size;
	}
}

/* Begins every call: checks that the buffer's header is as it was set up. Returns 0, EPROTO, or ENOMEM. */
static int collect_begin(struct fxt_collector *c)
{
	if (fxt_copy_open(&c->copy) != 0)
		return ENOMEM;
	c->reason = fxt_buffer_check(collect_header(c), c->mode, c->buffer_bytes);
	c->violated = c->reason != NULL;
	c->buffer_address = load_relaxed(&c->control->buffer_address);
	c->copy.kept_from = load_relaxed(&c->control->kept_from);
	return c->reason ? EPROTO : 0;
}

int fxt_collect_saved_buffer(struct fxt_collector *c, const struct fxt_packet *packet)
{
	int error = collect_begin(c);

	if (error)
		return error;
	if (c->mode != FXT_STREAMING)
		collect_violated(c, "a buffer was saved that is not streamed");
	else if (packet->data32 != c->next_wrapped)
		collect_violated(c, "a buffer was saved out of turn");
	else if (packet->data64 < FXT_DURABLE_MIN_BYTES)
		collect_violated(c, "the end of the durable data is outside its buffer");
	if (c->violated)
		return EPROTO;
	/* Counted before it is read: a buffer that is found broken is not asked for again. */
	c->next_wrapped++;
	c->saves++;
	collect_durable(c, packet->data64);
	if (!c->violated)
		collect_chunks(c, packet->data32 & 1, THREAD_CHUNKS);
	return collect_end(c);
}

/* ---- the rest of a provider ---- */

/* Lengths first, then the durable end: every name these records use lies below it. */
static void collect_sample_lengths(struct fxt_collector *c, uint32_t used)
{
	c->durable_committed = load_acquire(&c->control->durable_committed);
	for (uint32_t i = 0; i < used; i++)
		c->notes[i].committed = load_acquire(&fxt_control_slot(c->control, i)->committed);
}

static void collect_rolling_buffers(struct fxt_collector *c)
{
	uint32_t wrapped = load_acquire(&collect_header(c)->wrapped_count);
	uint32_t unsaved = wrapped - c->next_wrapped;

	if (c->mode == FXT_ONESHOT) {
		collect_chunks(c, 0, THREAD_CHUNKS);
		return;
	}
	if (c->mode == FXT_STREAMING && unsaved > 1) {
		collect_violated(c, "the wrapped count jumped");
		return;
	}
	if (c->mode == FXT_STREAMING ? unsaved == 1 : wrapped > 0)
		collect_chunks(c, (wrapped - 1) & 1, THREAD_CHUNKS);
	collect_chunks(c, wrapped & 1, THREAD_CHUNKS);
}

/* Takes all that is left. A part that breaks a rule is left out, and the next one is taken. */
static void collect_take_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	uint32_t used = load_acquire(&c->control->slots_used);
	uint64_t large_stacks_seen = 0;

	if (used > FXT_SLOTS) {
		collect_violated(c, "more thread slots in use than there are");
		used = 0;
	}
	collect_sample_lengths(c, used);
	if (c->mode == FXT_ONESHOT)
		collect_chunks(c, 0, DURABLE_CHUNKS);
	else
		collect_durable(c, load_acquire(&collect_header(c)->durable_data_end));
	collect_rolling_buffers(c);
	c->threads = load_relaxed(&c->control->threads);
	c->waited_ticks = load_relaxed(&c->control->waited_ticks);
	c->losses = c->earlier_losses;
	for (uint32_t i = 0; i < used && !c->copy.error; i++)
		fxt_collect_take_slot(c, i, &large_stacks_seen, ending, now);
	fxt_collect_recycled(c, now);
	if (!c->copy.error)
		fxt_collect_left_out(c, now);
}

int fxt_collect_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	int error = collect_begin(c);

	if (error)
		return error;
	c->notes = sys_map(NOTES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!c->notes)
		return ENOMEM;
	collect_take_rest(c, ending, now);
	sys_unmap(c->notes, NOTES_BYTES);
	c->notes = NULL;
	error = collect_end(c);
	fxt_copy_close(&c->copy);
	return error;
}

void fxt_collector_free(struct fxt_collector *c)
{
	fxt_copy_close(&c->copy);
}
