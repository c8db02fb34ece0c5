/*
 * Copies records out of shared memory into the reader's own, checks their framing, and
 * hands them out. Runs in the manager, or on the helper of a standalone agent, while the
 * provider may write. Must never hand out a byte that it has not copied and checked.
 */
#include "copy.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "writer/shared/atomics.h"
#include "writer/shared/buffer.h"
#include "writer/format/format.h"
#include "writer/engine/strings.h"
#include "writer/shared/sys.h"

int fxt_copy_open(struct fxt_copy *copy)
{
	copy->reason = NULL;
	copy->error = 0;
	copy->is_stale = false;
	if (!copy->memory)
		copy->memory =
		        sys_map(FXT_COPY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	return copy->memory ? 0 : ENOMEM;
}

void fxt_copy_close(struct fxt_copy *copy)
{
	if (copy->memory)
		sys_unmap(copy->memory, FXT_COPY_BYTES);
	copy->memory = NULL;
	copy->handed = copy->checked = 0;
}

static void copy_exclude(struct fxt_copy *copy, const char *reason)
{
	if (!copy->reason)
		copy->reason = reason;
}

/* Hands out the checked records up to the one at `end`. */
static void copy_hand_out(struct fxt_copy *copy, uint64_t end)
{
	if (copy->handed < end && !copy->error)
		copy->error = copy->emit(copy->context, copy->memory + copy->handed, end - copy->handed);
	copy->handed = end;
	copy->has_others = false;
}

/* Whether the record goes to emit_record by itself: it holds a name, or needs one. */
static bool copy_is_named(uint64_t header)
{
	switch (fxt_record_type(header)) {
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_STRING:
	case FXT_RECORD_LOG:
		return true;
	case FXT_RECORD_EVENT:
		return header >> 63;
	default:
		return false;
	}
}

/* Whether a record registers a string or a thread under an index that holds in its chunk
 * alone. */
static bool copy_is_name_of_chunk(uint64_t header)
{
	switch (fxt_record_type(header)) {
	case FXT_RECORD_STRING:
		return fxt_field(header, 16, 16) >= FXT_STRING_LOCAL_FIRST;
	case FXT_RECORD_THREAD:
		return fxt_field(header, 16, 8) == FXT_THREAD_LOCAL_INDEX;
	default:
		return false;
	}
}

/* Nearly all records are calls of this type and size, with a name by index. They have a
 * loop of their own. */
#define CALL_FRAMING (FXT_RECORD_EVENT | FXT_CALL_WORDS << 4)
#define CALL_MASK    (UINT64_C(1) << 63 | UINT16_MAX)

/* Whether an event is an excluded call. A call with an inline name goes to emit_record. */
static bool copy_is_excluded(const struct fxt_copy *copy, const uint64_t *record)
{
	uint64_t header = *record;

	return copy->excluded && fxt_record_type(header) == FXT_RECORD_EVENT && !(header >> 63) &&
	       fxt_is_function_category(fxt_field(header, 32, 16)) && copy->excluded[header >> 48] &&
	       (!copy->kept_from || record[1] < copy->kept_from);
}

/* Looks for a call of a function among events of FXT_CALL_WORDS words. */
static void copy_look_for_calls(struct fxt_copy *copy, const uint64_t *record, const uint64_t *end)
{
	for (; record < end && !copy->has_calls; record += FXT_CALL_WORDS)
		copy->has_calls = fxt_is_function_category(fxt_field(*record, 32, 16));
}

/* Returns the place behind consecutive calls that are to be handed out. */
static const uint64_t *copy_skip_calls(
        const struct fxt_copy *copy, const uint64_t *record, const uint64_t *last)
{
	while (last - record >= FXT_CALL_WORDS && (*record & CALL_MASK) == CALL_FRAMING &&
	        !copy_is_excluded(copy, record))
		record += FXT_CALL_WORDS;
	return record;
}

/* Checks the records in [checked, end) of the copy, and moves `checked` behind the last
 * good one. False: the record there is malformed, so the beginning of the next one is
 * unknown. */
static bool copy_check(struct fxt_copy *copy, uint64_t end)
{
	const uint64_t *memory = (const uint64_t *)copy->memory, *last = memory + end / 8;
	const uint64_t *record = memory + copy->checked / 8, *object = NULL;
	bool is_good = true;

	while (record < last) {
		const uint64_t *call = record;

		record = copy_skip_calls(copy, record, last);
		copy->events += (uint64_t)(record - call) / FXT_CALL_WORDS;
		copy_look_for_calls(copy, call, record);
		if (record == last)
			break;
		uint64_t header = *record;
		uint64_t type = header & 15;
		uint64_t words = fxt_record_words(header);

		if (words == 0 || words > FXT_COPY_BYTES / 8) {
			copy_exclude(
			        copy, words ? "a record reaches beyond its chunk" : "a record of size 0");
			is_good = false;
		}
		if (!is_good || words > (uint64_t)(last - record))
			break;
		bool is_excluded = copy_is_excluded(copy, record);

		if (type == FXT_RECORD_EVENT && !is_excluded) {
			copy->events++;
			copy->has_calls |= fxt_is_function_category(fxt_field(header, 32, 16));
		}
		copy->names_of_chunks += copy_is_name_of_chunk(header);
		if (is_excluded || type == FXT_RECORD_METADATA ||
		        (copy->emit_record && copy_is_named(header))) {
			copy_hand_out(copy, (uint64_t)((const uint8_t *)record - copy->memory));
			if (type == FXT_RECORD_METADATA)
				copy_exclude(copy, "a metadata record among a provider's data was dropped");
			else if (!is_excluded && !copy->error)
				copy->error = copy->emit_record(copy->context, record, words);
			copy->handed += words * 8;
		} else {
			copy->has_others = true;
		}
		if (type == FXT_RECORD_USERSPACE_OBJECT)
			object = record;
		record += words;
	}
	copy->checked = (uint64_t)((const uint8_t *)record - copy->memory);
	copy->last_object = object && object + fxt_record_words(*object) == record
	                            ? (uint64_t)((const uint8_t *)object - copy->memory)
	                            : copy->checked;
	return is_good;
}

/* The fence orders the copying before the look at the guard: if memory was overwritten, the
 * guard had changed before. */
static bool copy_has_become_stale(struct fxt_copy *copy)
{
	full_fence();
	copy->is_stale |= copy->guard && load_relaxed(copy->guard) != copy->guard_value;
	return copy->is_stale;
}

void fxt_copy_append(struct fxt_copy *copy, const void *data, uint64_t bytes)
{
	const uint8_t *from = data;
	uint64_t copied = copy->checked; /* between two calls only whole records are held */
	bool is_good = true;

	while (is_good && bytes && !copy->error) {
		uint64_t step = FXT_COPY_BYTES - copied < bytes ? FXT_COPY_BYTES - copied : bytes;

		memcpy(copy->memory + copied, from, step);
		if (copy_has_become_stale(copy))
			return;
		from += step;
		bytes -= step;
		copied += step;
		is_good = copy_check(copy, copied);
		if (copied == FXT_COPY_BYTES) {
			/* An object at the end waits for the record behind it. One that fills
			 * the memory is handed out alone: there is no room to wait. */
			uint64_t end = copy->last_object ? copy->last_object : copy->checked;

			copy_hand_out(copy, end);
			copy->has_others = end < copy->checked;
			copied -= end;
			memmove(copy->memory, copy->memory + end, copied);
			copy->checked -= end;
			copy->handed = 0;
		}
	}
	if (is_good && copied != copy->checked && !copy->error)
		copy_exclude(copy, "a record reaches beyond its chunk");
}

void fxt_copy_append_names(struct fxt_copy *copy, const void *data, uint64_t bytes)
{
	const uint64_t *record = data, *end = record + bytes / 8;

	while (record < end && !copy->is_stale) {
		/* Read once: whatever the other side writes there, the next record lies in
		 * the data. */
		uint64_t header = load_relaxed(record), words = fxt_record_words(header);

		if (words == 0 || words > (uint64_t)(end - record))
			break;
		if (copy_is_name_of_chunk(header))
			fxt_copy_append(copy, record, words * 8);
		record += words;
	}
}

uint64_t fxt_copy_room(const struct fxt_copy *copy)
{
	return FXT_COPY_BYTES - copy->checked;
}

int fxt_copy_flush(struct fxt_copy *copy)
{
	copy_hand_out(copy, copy->checked);
	copy->handed = copy->checked = 0;
	return copy->error;
}
