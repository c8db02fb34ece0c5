#include "chunk.h"
#include <string.h>
#include "encode.h"
#include "threads.h"

#define CHUNK_FIRST_BYTES   UINT64_C(1024)
#define CHUNK_LARGE_BYTES   (UINT64_C(256) << 10)
#define CHUNK_GRANULE       UINT64_C(16) /* so that a gap between two chunks always holds a chunk header */
#define CLOSE_PATIENCE_NS   UINT64_C(10000000)
#define MANAGER_PATIENCE_NS UINT64_C(1000000000)

/* Room for what a new chunk begins with and for the slices that explain what came before it. */
#define THREAD_WORDS 24
#define SLICE_WORDS  32

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + CHUNK_GRANULE - 1) & ~(CHUNK_GRANULE - 1);
}

static uint8_t *rolling_start(const struct fxt_engine *e, unsigned buffer)
{
	return e->buffer + e->layout.rolling_offset[buffer];
}

static unsigned current_buffer(const struct fxt_engine *e)
{
	return e->mode == FXT_ONESHOT ? 0 : e->wrapped & 1;
}

/* ---- closing ---- */

/* Settles a chunk up to `end`. Release: the length comes before the state that makes it count. */
static void close_chunk(uint64_t chunk, uint64_t end)
{
	struct fxt_chunk_header *header = (struct fxt_chunk_header *)(uintptr_t)chunk;

	header->committed = (uint32_t)(end - chunk - sizeof(*header));
	store_release(&header->state, FXT_CHUNK_CLOSED);
}

static void account_calls(struct fxt_engine *e, struct fxt_block *block, uint64_t end)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	uint64_t bytes = end - block->chunk - sizeof(struct fxt_chunk_header) - block->other_bytes;
	unsigned buffer = block->chunk >= (uint64_t)(uintptr_t)rolling_start(e, 1);

	slot->calls[buffer] += bytes / 24;
	block->other_bytes = 0;
}

void fxt_chunk_retire(struct fxt_engine *e, struct fxt_block *block)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);

	if (!block->chunk || block->parked)
		return;
	account_calls(e, block, slot->committed);
	close_chunk(block->chunk, slot->committed);
	store_release(&slot->committed,
	        0); /* after the header took over: a collector finds the bytes in one of them */
	block->chunk = 0;
	store_relaxed(&block->limit, 0);
}

static void close_durable_chunk(struct fxt_engine *e)
{
	if (!e->durable_chunk)
		return;
	close_chunk(e->durable_chunk, e->control->durable_committed);
	store_release(&e->control->durable_committed, 0);
	e->durable_chunk = 0;
}

/* Waits until the thread is seen outside of a write; false when `patience` ran out. */
static bool wait_until_quiet(const struct fxt_block *block, uint64_t deadline_ns)
{
	for (unsigned spins = 0; load_acquire(&block->busy) == FXT_WRITING; spins++) {
		if (spins < 64)
			continue;
		if (fxt_monotonic_ns() > deadline_ns)
			return false;
		sys_pause_ns(50000);
	}
	return true;
}

void fxt_chunk_close_all(struct fxt_engine *e)
{
	uint32_t used = e->control->slots_used;
	uint64_t dropped = e->control->lost_recycled + e->control->overwritten_recycled;

	for (uint32_t i = 0; i < used; i++)
		if (e->blocks[i].chunk && !e->blocks[i].parked)
			store_relaxed(&e->blocks[i].limit, 0);
	/* After this a thread that becomes WRITING sees limit 0, and one that did not see it is seen to be
	 * WRITING. */
	sys_membarrier();
	uint64_t deadline = fxt_monotonic_ns() + CLOSE_PATIENCE_NS;

	for (uint32_t i = 0; i < used; i++) {
		struct fxt_block *block = &e->blocks[i];
		struct fxt_thread_slot *slot = fxt_slot(e, i);

		dropped += load_relaxed(&slot->lost) + slot->overwritten;
		if (!block->chunk || block->parked)
			continue;
		if (wait_until_quiet(block, deadline)) {
			fxt_chunk_retire(e, block);
		} else {
			uint64_t committed = load_acquire(&slot->committed);

			/* The collector takes the chunk up to here; what follows counts as late
			 * (slot->late_from). */
			account_calls(e, block, committed);
			store_release(&slot->late_from, committed);
			close_chunk(block->chunk, committed);
			block->parked = 1;
			e->parked++;
		}
	}
	close_durable_chunk(e);
	e->header->num_records_dropped = dropped;
}

/* ---- switching ---- */

/* Reads what the manager answered. Any packet but the acknowledgement awaited breaks the protocol. */
static void read_replies(struct fxt_engine *e)
{
	struct fxt_ring *ring = &e->control->to_provider;

	/* Acquire: the packet was written before `written` moved. */
	while (load_acquire(&ring->written) != ring->read) {
		struct fxt_packet reply = ring->packet[ring->read % FXT_FIFO_DEPTH];

		store_release(&ring->read, ring->read + 1);
		if (!e->save_outstanding || reply.request != FXT_PROVIDER_BUFFER_SAVED ||
		        reply.reserved != 0 || reply.data32 != e->save.data32 ||
		        reply.data64 != e->save.data64) {
			e->broken = true;
			return;
		}
		e->save_outstanding = false;
		store_release(&e->header->rolling_data_end[e->save.data32 & 1], 0);
	}
}

/* Parked chunks keep their place in a buffer that is filled anew, but their old records are not to be saved
 * again. */
static void empty_parked_chunks(struct fxt_engine *e, unsigned buffer)
{
	uint64_t start = (uint64_t)(uintptr_t)rolling_start(e, buffer);

	for (uint32_t i = 0; e->parked && i < e->control->slots_used; i++) {
		struct fxt_block *block = &e->blocks[i];

		if (block->parked && block->chunk >= start && block->chunk < start + e->layout.rolling_bytes)
			((struct fxt_chunk_header *)(uintptr_t)block->chunk)->committed = 0;
	}
}

static void count_overwritten(struct fxt_engine *e, unsigned buffer)
{
	for (uint32_t i = 0; i < e->control->slots_used; i++) {
		struct fxt_thread_slot *slot = fxt_slot(e, i);

		if (e->mode == FXT_CIRCULAR)
			slot->overwritten += slot->calls[buffer];
		slot->calls[buffer] = 0;
	}
	if (e->mode == FXT_CIRCULAR)
		e->control->overwritten_recycled += e->recycled_calls[buffer];
	e->recycled_calls[buffer] = 0;
}

static void switch_buffer(struct fxt_engine *e)
{
	unsigned next = (e->wrapped + 1) & 1;

	fxt_chunk_close_all(e);
	count_overwritten(e, next);
	empty_parked_chunks(e, next);
	/* The next buffer is empty before it becomes the current one, whenever a collector looks. */
	store_release(&e->header->rolling_data_end[next], 0);
	if (e->mode == FXT_STREAMING) {
		/* Closed first, then sampled: every name the buffer uses lies below this durable end. */
		e->save = (struct fxt_packet){
		        .request = FXT_PROVIDER_SAVE_BUFFER, .data32 = e->wrapped, .data64 = e->durable_end};
		e->save_outstanding = true;
	}
	store_release(&e->header->wrapped_count, ++e->wrapped);
	e->rolling_used = 0;
	if (e->mode == FXT_STREAMING && !fxt_engine_send(e, &e->save))
		e->broken = true;
}

/* ---- carving ---- */

/* The parked chunk of this buffer that begins first at or behind `address`; NULL = none. */
static const struct fxt_chunk_header *next_parked(const struct fxt_engine *e, uint64_t address, uint64_t end)
{
	uint64_t nearest = end;

	for (uint32_t i = 0; e->parked && i < e->control->slots_used; i++)
		if (e->blocks[i].parked && e->blocks[i].chunk >= address && e->blocks[i].chunk < nearest)
			nearest = e->blocks[i].chunk;
	return nearest == end ? NULL : (const struct fxt_chunk_header *)(uintptr_t)nearest;
}

/* Gives out a chunk of at least `least` and at most `most` bytes (both with header), or 0: the buffer is
 * full. */
static uint64_t carve(struct fxt_engine *e, uint32_t slot, uint64_t least, uint64_t most)
{
	unsigned buffer = current_buffer(e);
	uint64_t start = (uint64_t)(uintptr_t)rolling_start(e, buffer);

	for (;;) {
		uint64_t address = start + e->rolling_used;
		uint64_t end = start + (e->layout.rolling_bytes & ~(CHUNK_GRANULE - 1));
		const struct fxt_chunk_header *parked = next_parked(e, address, end);
		uint64_t room = (parked ? (uint64_t)(uintptr_t)parked : end) - address;
		struct fxt_chunk_header *header = (struct fxt_chunk_header *)(uintptr_t)address;
		uint64_t size = most < room ? most : room;

		if (size >= least) {
			header->size = (uint32_t)size;
			header->slot = slot;
			header->committed = 0;
			store_release(&header->state, FXT_CHUNK_OPEN);
			e->rolling_used += size;
			/* Release: the header is complete before the end covers it. */
			store_release(&e->header->rolling_data_end[buffer], e->rolling_used);
			return address;
		}
		if (!parked)
			return 0;
		if (room) { /* an empty chunk bridges what is too small to use */
			header->size = (uint32_t)room;
			header->slot = slot;
			header->committed = 0;
			store_release(&header->state, FXT_CHUNK_CLOSED);
		}
		e->rolling_used += room + parked->size;
		store_release(&e->header->rolling_data_end[buffer], e->rolling_used);
	}
}

/* The record a parked thread committed after its chunk was closed: moved, in one step, by slot.committed. */
static uint64_t move_late_record(struct fxt_engine *e, struct fxt_block *block, uint64_t position)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	uint64_t bytes = slot->committed - slot->late_from;

	if (bytes)
		memcpy((void *)(uintptr_t)position, (const void *)(uintptr_t)slot->late_from, bytes);
	return bytes;
}

/* Makes a carved chunk the thread's own. */
static void open_chunk(struct fxt_engine *e, struct fxt_block *block, uint64_t chunk)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	uint64_t position = chunk + sizeof(struct fxt_chunk_header);
	uint64_t end = chunk + ((struct fxt_chunk_header *)(uintptr_t)chunk)->size;

	block->other_bytes = 0;
	if (slot->thread_index == FXT_THREAD_LOCAL_INDEX) {
		uint64_t *words = (uint64_t *)(uintptr_t)position;
		uint64_t count = fxt_put_thread(
		        words, THREAD_WORDS, FXT_THREAD_LOCAL_INDEX, e->process_koid, slot->koid);

		count += fxt_thread_object(e, slot, words + count, THREAD_WORDS - count);
		block->other_bytes = count * 8;
		position += count * 8;
	}
	if (block->parked) {
		position += move_late_record(e, block, position);
		block->parked = 0;
		e->parked--;
	}
	block->chunk = chunk;
	block->local_strings = 0;
	block->chunk_serial++;
	store_release(&slot->committed, position);
	store_release(&slot->late_from, 0);
	store_relaxed(&block->limit, end);
	if (block->chunk_bytes < CHUNK_LARGE_BYTES && block->chunk_bytes < e->layout.rolling_bytes / 16)
		block->chunk_bytes *= 2;
}

enum take_outcome { TAKEN, FULL, WAIT };

/* With the lock held. */
static enum take_outcome take_locked(struct fxt_engine *e, struct fxt_block *block, uint64_t words)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	uint64_t least = round_up(sizeof(struct fxt_chunk_header) + (words + THREAD_WORDS) * 8);

	if (e->state != FXT_ENGINE_STARTED || e->broken)
		return FULL;
	if (block->chunk && !block->parked) {
		uint64_t end = block->chunk + ((struct fxt_chunk_header *)(uintptr_t)block->chunk)->size;

		/* The limit may have been lowered only to get the thread here. */
		if (slot->committed + words * 8 <= end) {
			store_relaxed(&block->limit, end);
			return TAKEN;
		}
	}
	if (!block->chunk_bytes)
		block->chunk_bytes = CHUNK_FIRST_BYTES;
	for (int tries = 0; tries < 2; tries++) {
		uint64_t most = block->chunk_bytes > least ? block->chunk_bytes : least;
		uint64_t chunk = carve(e, block->number, least, most);

		if (chunk) {
			fxt_chunk_retire(e, block);
			open_chunk(e, block, chunk);
			return TAKEN;
		}
		if (e->mode == FXT_ONESHOT)
			return FULL;
		if (e->mode == FXT_STREAMING) {
			read_replies(e);
			if (e->save_outstanding || e->broken)
				return e->broken ? FULL : WAIT;
		}
		switch_buffer(e);
	}
	return FULL; /* a record larger than a whole rolling buffer */
}

/* With the lock held. The manager's heartbeat stood still for too long: it died or is stopped. */
static bool manager_is_gone(struct fxt_engine *e)
{
	uint64_t now = fxt_monotonic_ns();
	uint32_t beat = load_relaxed(&e->control->heartbeat);

	if (beat != e->heartbeat || e->heartbeat_ns == 0) {
		store_relaxed(&e->heartbeat, beat);
		e->heartbeat_ns = now;
	}
	return now - e->heartbeat_ns > MANAGER_PATIENCE_NS;
}

/* While records are being dropped and nothing has changed at the manager's side, the lock is not worth
 * taking. */
static bool still_full(const struct fxt_engine *e)
{
	return load_relaxed(&e->full) &&
	       (e->mode == FXT_ONESHOT ||
	               (load_relaxed(&e->control->to_provider.written) == load_relaxed(&e->full_replies) &&
	                       load_relaxed(&e->control->heartbeat) == load_relaxed(&e->heartbeat)));
}

/* ---- slices that explain a wait or a loss ---- */

bool fxt_chunk_try_write(struct fxt_block *block, struct fxt_thread_slot *slot, const uint64_t *record,
        uint64_t words, uint64_t calls)
{
	bool room;

	store_relaxed(&block->busy, FXT_WRITING);
	compiler_barrier();
	uint64_t *position = fxt_chunk_position(slot);

	room = (uint64_t)(uintptr_t)(position + words) <= load_relaxed(&block->limit);
	if (room) {
		memcpy(position, record, words * 8);
		block->other_bytes += words * 8 - calls * 24;
		fxt_chunk_commit(slot, position, words);
	}
	store_release(&block->busy, FXT_OUT_OF_LINE);
	return room;
}

static bool write_slice(struct fxt_engine *e, struct fxt_block *block, struct fxt_string name, uint64_t start,
        uint64_t end, const struct fxt_argument *arguments, size_t count)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	uint64_t record[SLICE_WORDS];
	size_t words = fxt_put_event(record, SLICE_WORDS, FXT_EVENT_DURATION_COMPLETE,
	        fxt_thread_index(slot->thread_index), fxt_string_index(FXT_KNOWN_FXT), name, start, arguments,
	        count, end);

	return fxt_chunk_try_write(block, slot, record, words, 0);
}

size_t fxt_loss_name(char text[48], uint64_t records)
{
	static const char before[] = "fxt: ", after[] = " records lost";
	char digits[20];
	size_t count = 0, length = sizeof(before) - 1;

	do
		digits[count++] = (char)('0' + records % 10);
	while (records /= 10);
	memcpy(text, before, length);
	while (count)
		text[length++] = digits[--count];
	memcpy(text + length, after, sizeof(after) - 1);
	return length + sizeof(after) - 1;
}

static bool write_loss(
        struct fxt_engine *e, struct fxt_block *block, uint64_t records, uint64_t start, uint64_t end)
{
	char text[48];
	struct fxt_argument argument = fxt_argument_uint64(fxt_string_index(FXT_KNOWN_RECORDS), records);

	return write_slice(
	        e, block, fxt_string_inline(text, fxt_loss_name(text, records)), start, end, &argument, 1);
}

static uint64_t latest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t fxt_loss_end(const struct fxt_frame *frames, uint64_t count, uint64_t gap_start, uint64_t now)
{
	for (uint64_t i = 0; i < count; i++)
		if (frames[i].start > gap_start)
			return latest(frames[i].start - 1, gap_start);
	return now;
}

/* Shows what came before the chunk that was just taken. False: the chunk is gone again, what is left to show
 * waits. */
static bool explain(struct fxt_engine *e, struct fxt_block *block, uint64_t *wait_start)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);

	if (slot->gap_lost) {
		const struct fxt_frame *frames = fxt_slot_frames(e, slot);
		uint64_t now = latest(fxt_clock_ticks(e->clock), block->last);
		uint64_t open = (slot->top - (uint64_t)(uintptr_t)frames) / sizeof(*frames);

		if (!write_loss(e, block, slot->gap_lost, slot->gap_start,
		            fxt_loss_end(frames, open, slot->gap_start, now)))
			return false;
		block->last = now;
		store_relaxed(&slot->gap_lost, 0);
		store_relaxed(&slot->gap_start, 0);
	}
	if (slot->nested) {
		uint64_t nested = slot->nested;

		/* No time can be given for these: the hook they fell into has no gap around it. */
		if (!write_loss(e, block, nested, block->last + e->step, block->last + e->step))
			return false;
		block->last += e->step;
		store_relaxed(&slot->lost, slot->lost + nested);
		store_relaxed(&slot->nested, 0);
	}
	if (*wait_start) {
		uint64_t start = latest(*wait_start, block->last + e->step);
		uint64_t end = latest(fxt_clock_ticks(e->clock), start);

		if (!write_slice(e, block, fxt_string_index(FXT_KNOWN_WAITED), start, end, NULL, 0))
			return false;
		block->last = end;
		*wait_start = 0;
	}
	return true;
}

/* ---- the interface ---- */

bool fxt_chunk_take(struct fxt_engine *e, struct fxt_block *block, uint64_t words)
{
	uint64_t wait_start = 0;

	for (;;) {
		if (still_full(e))
			return false;
		uint32_t replies = load_acquire(&e->control->to_provider.written);
		uint64_t mask = fxt_lock(&e->lock);
		enum take_outcome outcome = take_locked(e, block, words + SLICE_WORDS * 3);

		if (outcome == WAIT && (e->control->on_full != FXT_ON_FULL_BLOCK || manager_is_gone(e)))
			outcome = FULL;
		if (load_relaxed(&e->control->command) == FXT_COMMAND_QUIT)
			e->broken = true, outcome = FULL;
		store_relaxed(&e->full, outcome == FULL);
		store_relaxed(&e->full_replies, replies);
		fxt_unlock(&e->lock, mask);
		if (outcome == FULL)
			return false;
		if (outcome == TAKEN) {
			if (explain(e, block, &wait_start))
				return true;
			continue;
		}
		if (!wait_start)
			wait_start = fxt_clock_ticks(e->clock);
		sys_futex_wait(&e->control->to_provider.written, replies, 50000000);
	}
}

bool fxt_chunk_write(struct fxt_engine *e, struct fxt_block *block, const uint64_t *record, uint64_t words)
{
	while (!fxt_chunk_try_write(block, fxt_slot(e, block->number), record, words, 0))
		if (!fxt_chunk_take(e, block, words))
			return false;
	return true;
}

void fxt_chunk_lose(struct fxt_engine *e, struct fxt_block *block, uint64_t records, uint64_t ticks)
{
	struct fxt_thread_slot *slot = fxt_slot(e, block->number);

	if (!slot->gap_start) {
		block->last = latest(ticks, block->last + e->step);
		store_relaxed(&slot->gap_start, block->last);
	}
	store_relaxed(&slot->lost, slot->lost + records);
	store_relaxed(&slot->gap_lost, slot->gap_lost + records);
}

uint64_t *fxt_chunk_durable_reserve(struct fxt_engine *e, uint64_t words)
{
	struct fxt_chunk_header *header = (struct fxt_chunk_header *)(uintptr_t)e->durable_chunk;

	if (header && e->control->durable_committed + words * 8 <= e->durable_chunk + header->size)
		return (uint64_t *)(uintptr_t)e->control->durable_committed;
	close_durable_chunk(e);
	uint64_t least = round_up(sizeof(*header) + words * 8);
	uint64_t most = e->layout.rolling_bytes / 16;

	e->durable_chunk = carve(e, FXT_SLOT_DURABLE, least, least > most ? least : round_up(most));
	if (!e->durable_chunk)
		return NULL;
	store_release(&e->control->durable_committed, e->durable_chunk + sizeof(*header));
	return (uint64_t *)(uintptr_t)e->control->durable_committed;
}

void fxt_chunk_durable_commit(struct fxt_engine *e, const uint64_t *position, uint64_t words)
{
	store_release(&e->control->durable_committed, (uint64_t)(uintptr_t)(position + words));
}
