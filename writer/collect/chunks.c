/*
 * Takes the records in a provider's buffers: durable data, chunks of a full buffer, and
 * chunks ahead of a full buffer. Runs in the manager, or on the helper of a standalone
 * agent, while the provider may go on. Must never use a field that it has not read once and
 * checked.
 */
#include <errno.h>
#include <sys/mman.h>
#include "internal.h"
#include "writer/shared/sys.h"

#define AHEAD_BYTES (FXT_SLOTS * sizeof(struct fxt_slot_ahead))

/* The agent takes some microseconds to change chunks. */
#define AHEAD_TRIES 64

void fxt_collect_durable(struct fxt_collector *c, uint64_t end)
{
	uint64_t start = c->durable_saved;

	if (end > c->layout.durable_bytes || end % 8 != 0) {
		fxt_collect_violated(c, "the end of the durable data is outside its buffer");
	} else if (end < start) {
		fxt_collect_violated(c, "the durable data shrank");
	} else {
		c->durable_saved = end;
		fxt_copy_append(&c->copy, c->buffer + sizeof(struct fxt_buffer_header) + start, end - start);
		if (c->copy.is_stale) /* a part of it was not taken */
			c->durable_saved = start;
	}
}

/* ---- chunks ---- */

/* Each field is read once, so that the checked value is the one used, whatever the other
 * side does in the meantime. */
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
 * Returns how many bytes of records the thread of an open chunk at `offset` has committed
 * to it. Bytes from late_record on do not belong to the chunk any more: a closer that died
 * was about to close it there.
 */
static uint32_t collect_open_chunk_bytes(const struct fxt_collector *c, const struct fxt_chunk_header *chunk,
        uint64_t offset, uint64_t committed)
{
	uint64_t first = offset + sizeof(*chunk), end = offset + chunk->size;
	uint64_t late =
	        chunk->slot == FXT_SLOT_DURABLE
	                ? 0
	                : fxt_collect_offset(
	                          c, load_relaxed(&fxt_control_slot(c->control, chunk->slot)->late_record));

	committed = fxt_collect_offset(c, committed);

	if (committed < first || committed > end)
		return 0;
	return (uint32_t)((late >= first && late < committed ? late : committed) - first);
}

static const char *collect_chunk_trouble(
        const struct fxt_collector *c, const struct fxt_chunk_header *chunk, uint64_t room, bool may_be_open)
{
	if (chunk->size < sizeof(*chunk) || chunk->size % 8 != 0 || chunk->size > room)
		return "a chunk's size is wrong";
	if (chunk->slot >= FXT_SLOTS && !(chunk->slot == FXT_SLOT_DURABLE && c->mode == FXT_ONESHOT))
		return "a chunk belongs to no thread";
	if (chunk->state == FXT_CHUNK_OPEN)
		return may_be_open ? NULL : "a chunk of a saved buffer is still open";
	if (chunk->state != FXT_CHUNK_CLOSED)
		return "a chunk is neither open nor closed";
	if (chunk->committed > chunk->size - sizeof(*chunk) || chunk->committed % 8 != 0)
		return "a chunk holds more than its size";
	return NULL;
}

/* ---- what was handed out ahead ---- */

/* Returns how many bytes of a chunk of the next buffer to be saved were handed out;
 * UINT32_MAX: all of them. */
static uint32_t collect_bytes_ahead(const struct fxt_collector *c, uint32_t slot, uint64_t at)
{
	const struct fxt_slot_ahead *ahead = c->ahead ? &c->ahead[slot] : NULL;

	if (!ahead || ahead->round != c->ahead_round || at > ahead->at)
		return 0;
	return at < ahead->at ? UINT32_MAX : ahead->bytes;
}

void fxt_collect_forget_ahead(struct fxt_collector *c)
{
	c->ahead_round++;
}

/* Hands out the records of a chunk from byte `from` on; UINT32_MAX: all were handed out.
 * Names that hold in the chunk alone are handed out again, because chunks of other threads
 * have used the same indices for other names since. */
static void collect_take_chunk(struct fxt_collector *c, const struct fxt_chunk_header *chunk, uint64_t at,
        const uint8_t *records, uint32_t from)
{
	if (from == UINT32_MAX || from == chunk->committed)
		return;
	if (from > chunk->committed) {
		fxt_collect_violated(c, "a chunk holds less than was taken of it before");
		return;
	}
	if (from && c->ahead[chunk->slot].has_names && c->ahead[chunk->slot].at == at)
		fxt_copy_append_names(&c->copy, records, from);
	fxt_copy_append(&c->copy, records + from, chunk->committed - from);
}

/* Reads the header of the chunk at `at` in a rolling buffer with data up to `data_end`.
 * False: it is wrong. */
static bool collect_next_chunk(struct fxt_collector *c, uint64_t offset, uint64_t room, bool may_be_open,
        struct fxt_chunk_header *chunk)
{
	const char *trouble;

	*chunk = (struct fxt_chunk_header){0}; /* no header if there is no room for one */
	if (room >= sizeof(*chunk))
		*chunk = collect_read_chunk_header((const struct fxt_chunk_header *)(c->buffer + offset));
	trouble = collect_chunk_trouble(c, chunk, room, may_be_open);
	if (trouble)
		fxt_collect_violated(c, trouble);
	return !trouble;
}

/* Returns the end of the data of a rolling buffer; 0 if it is wrong. */
static uint64_t collect_data_end(struct fxt_collector *c, unsigned buffer)
{
	/* Acquire: the headers below it are complete. */
	uint64_t data_end = load_acquire(&fxt_collect_header(c)->rolling_data_end[buffer]);

	if (data_end <= c->layout.rolling_bytes)
		return data_end;
	fxt_collect_violated(c, "the end of a rolling buffer's data is outside the buffer");
	return 0;
}

void fxt_collect_chunks(struct fxt_collector *c, uint32_t wrapped, enum fxt_chunk_kind kind, bool is_ahead)
{
	unsigned buffer = c->mode == FXT_ONESHOT ? 0 : wrapped & 1;
	uint64_t data_end = collect_data_end(c, buffer);
	struct fxt_chunk_header chunk;

	for (uint64_t at = 0; at < data_end && !c->copy.error; at += chunk.size) {
		uint64_t offset = c->layout.rolling_offset[buffer] + at;
		const uint8_t *records = c->buffer + offset + sizeof(chunk);

		if (!collect_next_chunk(c, offset, data_end - at, c->takes_rest, &chunk))
			return;
		bool is_durable = chunk.slot == FXT_SLOT_DURABLE;

		if (chunk.state == FXT_CHUNK_OPEN)
			chunk.committed = collect_open_chunk_bytes(c, &chunk, offset,
			        is_durable ? c->durable_committed : c->notes[chunk.slot].committed);
		if (is_durable == (kind == FXT_DURABLE_CHUNKS))
			collect_take_chunk(c, &chunk, at, records,
			        is_ahead ? collect_bytes_ahead(c, chunk.slot, at) : 0);
		if (c->mode == FXT_CIRCULAR)
			fxt_collect_on_slices(c, chunk.slot, records, chunk.committed);
	}
}

/* ---- ahead of a full buffer ---- */

/*
 * Reads how much an open chunk holds now, or a closed one if it was closed in between. Its
 * thread goes on, and so do threads that close chunks. The slot's length is that of this
 * chunk if no chunk changed its thread between the looks at the chunk and at the slot
 * (chunk_sequence). Then no closer has left a late record behind it either. False: chunks
 * change all the time.
 */
static bool collect_read_open_chunk(
        const struct fxt_collector *c, struct fxt_chunk_header *chunk, uint64_t offset)
{
	const struct fxt_chunk_header *shared = (const struct fxt_chunk_header *)(c->buffer + offset);
	const struct fxt_thread_slot *slot = fxt_control_slot(c->control, chunk->slot);

	for (int tries = 0; tries < AHEAD_TRIES; tries++) {
		/* Acquire and fence: pair with fxt_engine_change_end() and _begin(). */
		uint32_t sequence = load_acquire(&c->control->chunk_sequence);

		full_fence();
		struct fxt_chunk_header now = collect_read_chunk_header(shared);

		/* Acquire: the records below it are complete. */
		if (now.state == FXT_CHUNK_OPEN)
			now.committed =
			        collect_open_chunk_bytes(c, chunk, offset, load_acquire(&slot->committed));
		full_fence();
		if (sequence % 2 == 0 && load_relaxed(&c->control->chunk_sequence) == sequence &&
		        now.size == chunk->size && now.slot == chunk->slot &&
		        now.committed <= chunk->size - sizeof(*chunk)) {
			*chunk = now;
			return true;
		}
	}
	return false;
}

/* Hands out the part of a chunk that was not handed out, and notes it. */
static void collect_chunk_ahead(
        struct fxt_collector *c, const struct fxt_chunk_header *chunk, uint64_t at, const uint8_t *records)
{
	struct fxt_slot_ahead *ahead = &c->ahead[chunk->slot];
	uint32_t from = collect_bytes_ahead(c, chunk->slot, at);
	uint64_t names = c->copy.names_of_chunks;

	if (from == UINT32_MAX || from == chunk->committed)
		return;
	/* Every name that these records use lies below. */
	fxt_collect_durable(c, load_acquire(&fxt_collect_header(c)->durable_data_end));
	/* Makes room, so that it is taken whole, or not at all if it becomes stale. */
	if (chunk->committed > fxt_copy_room(&c->copy))
		fxt_copy_flush(&c->copy);
	collect_take_chunk(c, chunk, at, records, from);
	if (c->copy.is_stale)
		return;
	*ahead = (struct fxt_slot_ahead){.round = c->ahead_round,
	        .at = (uint32_t)at,
	        .bytes = chunk->committed,
	        .has_names = c->copy.names_of_chunks != names};
}

void fxt_collect_chunks_ahead(struct fxt_collector *c)
{
	unsigned buffer = c->next_wrapped & 1;
	uint64_t data_end = collect_data_end(c, buffer);
	struct fxt_chunk_header chunk;

	c->ahead_passes++;
	for (uint64_t at = 0; at < data_end && !c->copy.error && !c->copy.is_stale && !c->violated;
	        at += chunk.size) {
		uint64_t offset = c->layout.rolling_offset[buffer] + at;

		if (!collect_next_chunk(c, offset, data_end - at, true, &chunk))
			return;
		struct fxt_slot_ahead *ahead = &c->ahead[chunk.slot];

		/* The records of a thread stay in their order. */
		if (ahead->pass == c->ahead_passes)
			continue;
		if (chunk.state == FXT_CHUNK_OPEN && !collect_read_open_chunk(c, &chunk, offset)) {
			ahead->pass = c->ahead_passes;
			continue;
		}
		bool is_open = chunk.state == FXT_CHUNK_OPEN;

		collect_chunk_ahead(c, &chunk, at, c->buffer + offset + sizeof(chunk));
		if (is_open)
			ahead->pass = c->ahead_passes;
	}
}

int fxt_collect_begin_ahead(struct fxt_collector *c)
{
	if (!c->ahead)
		c->ahead = sys_map(
		        AHEAD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	return c->ahead ? 0 : ENOMEM;
}

void fxt_collect_end_ahead(struct fxt_collector *c)
{
	if (c->ahead)
		sys_unmap(c->ahead, AHEAD_BYTES);
	c->ahead = NULL;
}
