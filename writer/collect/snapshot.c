/*
 * Copies a running provider's memory as it was at one moment. Runs in the manager, while
 * the provider's threads go on. Must never trust a value that it has not copied and
 * checked.
 */
#include "snapshot.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "writer/shared/buffer.h"
#include "writer/engine/chunk.h"
#include "writer/shared/clock.h"
#include "writer/engine/elided.h"
#include "writer/shared/sys.h"
#include "internal.h"

#define FREE_TRIES 3  /* without asking the provider to hold its chunks */
#define HELD_TRIES 20 /* the first one suffices, unless this thread is kept from running */
#define SLOT_TRIES 64
#define QUIET_NS   UINT64_C(10000000) /* for a change under way to end */

/* Copies whole words. */
static RACING void snapshot_copy_words(void *to, const void *from, uint64_t bytes)
{
	volatile const uint64_t *source = from;
	uint64_t *target = to;

	for (uint64_t i = 0; i < bytes / 8; i++)
		target[i] = source[i];
}

/* ---- one thread ---- */

/* Whether a record of a call that began at `start` lies in [from, to) of the trace
 * buffer. */
static RACING bool snapshot_is_recorded(const uint8_t *buffer, uint64_t from, uint64_t to, uint64_t start)
{
	while (to - from >= FXT_CALL_BYTES) {
		const uint64_t *record = (const uint64_t *)(buffer + from);
		uint64_t words = fxt_record_words(record[0]);

		if (fxt_record_type(record[0]) == FXT_RECORD_EVENT && words >= FXT_CALL_WORDS &&
		        record[1] == start)
			return true;
		if (words == 0 || words > (to - from) / 8)
			return false;
		from += words * 8;
	}
	return false;
}

/* Copies the slot, and the frames that were open at one moment. A large stack belongs to
 * one slot only, or a few wrong tops would cause terabytes to be copied. Returns 0; EAGAIN:
 * its thread took another chunk during the copy; EPROTO: it claims to have committed
 * records outside the buffer; ENOMEM. */
static int snapshot_copy_slot(struct fxt_snapshot *s, const uint8_t *buffer, struct fxt_control_map *map,
        const struct fxt_control *control, uint32_t number, uint64_t *large_stacks_seen)
{
	const struct fxt_thread_slot *slot = fxt_control_slot(control, number);
	struct fxt_thread_slot *copy = fxt_control_slot(s->map.control, number);
	uint64_t base = load_relaxed(&control->buffer_address);
	uint64_t before = load_acquire(&slot->committed);
	uint64_t now = fxt_clock_ticks((enum fxt_clock_kind)s->map.control->clock_kind);
	/* Acquire: the frames below it are complete. */
	uint64_t top = load_acquire(&slot->top);
	struct fxt_shadow_stack_view stack = fxt_shadow_stack_find(control, number, top);
	struct fxt_frame *frames = (struct fxt_frame *)((uint8_t *)s->map.control + stack.offset);
	uint64_t large = stack.large < FXT_LARGE_STACKS ? UINT64_C(1) << stack.large : 0;
	uint64_t kept = 0;

	if (before && (before - base > s->buffer_bytes || (before - base) % 8 != 0))
		return EPROTO;
	if (*large_stacks_seen & large)
		stack.frames = 0;
	uint64_t end = stack.offset + stack.frames * sizeof(*frames);

	if (stack.frames > 0 && (!fxt_control_reach(map, end) || !fxt_control_reach(&s->map, end)))
		return ENOMEM;
	snapshot_copy_words(frames, (const uint8_t *)control + stack.offset, stack.frames * sizeof(*frames));
	full_fence();
	snapshot_copy_words(copy, slot, sizeof(*copy));
	uint64_t after = load_acquire(&slot->committed);

	if (after < before || (before == 0) != (after == 0))
		return EAGAIN;
	uint64_t from = before ? before - base : 0, to = after ? after - base : 0;

	if (from > to || to > s->buffer_bytes || to % 8 != 0)
		return EPROTO;
	/* A call inside a call that has ended has ended too; it has no record if it was
	 * elided. The search for a long record runs once: only the newest call can have had
	 * its record when the top was read. */
	while (kept < stack.frames && frames[kept].start <= now &&
	        !snapshot_is_recorded(buffer, from, to, frames[kept].start) &&
	        !fxt_is_last_record(buffer, from, frames[kept].start,
	                kept + 1 < stack.frames ? FXT_WAIT_WORDS : FXT_RECORD_MAX_WORDS))
		kept++;
	copy->committed = after;
	/* A stalled thread's late call may lie beyond the data of its buffer, if that is
	 * being filled anew. */
	if (copy->late_record && after > copy->late_record && after <= copy->late_chunk_end &&
	        copy->late_record - base < s->buffer_bytes && after - base <= s->buffer_bytes)
		snapshot_copy_words(s->buffer + (copy->late_record - base),
		        buffer + (copy->late_record - base), after - copy->late_record);
	copy->top = load_relaxed(&control->control_address) + stack.offset + kept * sizeof(*frames);
	*large_stacks_seen |= large;
	return 0;
}

/* ---- the whole ---- */

/* Copies the used part of a rolling buffer. */
static void snapshot_copy_rolling(const struct fxt_snapshot *s, const uint8_t *buffer,
        const struct fxt_buffer_layout *layout, unsigned number)
{
	struct fxt_buffer_header *header = (struct fxt_buffer_header *)s->buffer;
	uint64_t end = header->rolling_data_end[number];

	if (end <= layout->rolling_bytes)
		snapshot_copy_words(s->buffer + layout->rolling_offset[number],
		        buffer + layout->rolling_offset[number], end);
}

/* Copies the sums of elided calls. This is done before the open calls. A call that ends in
 * between is then in neither, instead of in both; so is a call that is in the sums by now,
 * and off the shadow stack a moment later. */
static void snapshot_copy_elided(
        const struct fxt_snapshot *s, const struct fxt_control *control, uint32_t number)
{
	const struct fxt_elided *table = fxt_elided(control, number);
	uint32_t end = load_relaxed(&table->end);
	struct fxt_elided *copy = fxt_elided(s->map.control, number);

	if (end > FXT_STRING_LOCAL_FIRST)
		return;
	copy->end = end;
	snapshot_copy_words(copy->functions, table->functions, end * sizeof(*copy->functions));
	copy->counted_start = load_relaxed(&table->counted_start);
}

static int snapshot_copy(struct fxt_snapshot *s, const uint8_t *buffer, const struct fxt_control *control,
        struct fxt_control_map *map)
{
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)buffer;
	struct fxt_buffer_layout layout;
	uint64_t large_stacks_seen = 0;
	uint32_t used;

	snapshot_copy_words(s->map.control, control, FXT_CONTROL_PAGE_BYTES);
	used = s->map.control->slots_used;
	if (used > FXT_SLOTS ||
	        fxt_buffer_check(header, (enum fxt_buffering_mode)s->map.control->buffering_mode,
	                s->buffer_bytes) != NULL)
		return EPROTO;
	fxt_buffer_layout((enum fxt_buffering_mode)s->map.control->buffering_mode, s->buffer_bytes, &layout);
	if (s->map.elides_calls) {
		for (uint32_t i = 0; i < used && i < FXT_ELIDED_THREADS; i++) {
			if (!fxt_control_reach_slot(map, i) || !fxt_control_reach_slot(&s->map, i))
				return ENOMEM;
			snapshot_copy_elided(s, control, i);
		}
		snapshot_copy_elided(s, control, FXT_ELIDED_RECYCLED);
	}
	for (uint32_t i = 0; i < used; i++) {
		int error = EAGAIN;

		for (int tries = 0; tries <= SLOT_TRIES && error == EAGAIN; tries++)
			error = snapshot_copy_slot(s, buffer, map, control, i, &large_stacks_seen);
		if (error)
			return error;
	}
	snapshot_copy_words(s->buffer, header, sizeof(*header));
	s->map.control->durable_committed = load_acquire(&control->durable_committed);
	snapshot_copy_rolling(s, buffer, &layout, 0);
	snapshot_copy_rolling(s, buffer, &layout, 1);
	/* Copied last, so that it has every name the records use. */
	uint64_t durable_end = load_acquire(&header->durable_data_end);

	if (durable_end > layout.durable_bytes)
		return EPROTO;
	((struct fxt_buffer_header *)s->buffer)->durable_data_end = durable_end;
	snapshot_copy_words(s->buffer + sizeof(*header), buffer + sizeof(*header), durable_end);
	return 0;
}

/* Waits for a change of chunks to end, and returns the sequence number, which is still odd
 * if the change does not end in QUIET_NS. Acquire and fence: the memory copied next is read
 * after it. Pair with fxt_engine_change_end() and _begin(). */
static uint32_t snapshot_sequence(const struct fxt_control *control)
{
	uint64_t deadline = fxt_monotonic_ns() + QUIET_NS;
	uint32_t sequence;

	while ((sequence = load_acquire(&control->chunk_sequence)) & 1 && fxt_monotonic_ns() < deadline)
		sys_pause_ns(20000);
	full_fence();
	return sequence;
}

static int snapshot_try(struct fxt_snapshot *s, const uint8_t *buffer, struct fxt_control *control,
        struct fxt_control_map *map, bool held)
{
	uint32_t sequence;
	int error;

	if (held) {
		store_relaxed(&control->snapshot_hold, 1);
		/* A thread that does not see this request has counted its change by now,
		 * and the change is seen below. */
		full_fence();
	}
	sequence = snapshot_sequence(control);
	s->ticks = fxt_clock_ticks((enum fxt_clock_kind)control->clock_kind);
	error = sequence & 1 ? EAGAIN : snapshot_copy(s, buffer, control, map);
	full_fence();
	if (!error && load_relaxed(&control->chunk_sequence) != sequence)
		error = EAGAIN;
	if (held) {
		store_release(&control->snapshot_hold, 0);
		sys_futex_wake(&control->snapshot_hold, INT32_MAX);
	}
	return error;
}

int fxt_snapshot_take(struct fxt_snapshot *snapshot, const uint8_t *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, struct fxt_control_map *map, bool elides_calls)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, access = PROT_READ | PROT_WRITE;
	int error = ENOMEM;

	/* Populated now: faults while the provider is held would lengthen its wait. */
	*snapshot = (struct fxt_snapshot){.buffer = sys_map(buffer_bytes, access, flags | MAP_POPULATE, -1),
	        .buffer_bytes = buffer_bytes};
	if (snapshot->buffer &&
	        fxt_control_map_whole(&snapshot->map, -1, MAP_PRIVATE, elides_calls, snapshot->buffer) == 0)
		for (int tries = 0; tries < FREE_TRIES + HELD_TRIES; tries++) {
			error = snapshot_try(snapshot, buffer, control, map, tries >= FREE_TRIES);
			if (error != EAGAIN)
				break;
		}
	if (error)
		fxt_snapshot_free(snapshot);
	return error;
}

void fxt_snapshot_free(struct fxt_snapshot *snapshot)
{
	if (snapshot->buffer)
		sys_unmap(snapshot->buffer, snapshot->buffer_bytes);
	fxt_control_unmap(&snapshot->map);
	*snapshot = (struct fxt_snapshot){0};
}
