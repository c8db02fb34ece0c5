#include "heap.h"
#include <string.h>
#include "writer/shared/atomics.h"
#include "writer/format/categories.h"
#include "writer/shared/clock.h"
#include "writer/format/encode.h"

struct fxt_heap_live fxt_heap_live(const struct fxt_control *control)
{
	uint32_t used = load_acquire(&control->slots_used);
	/* the program can write any numbers, and their sum may make no sense */
	uint64_t bytes = 0, objects = 0;

	for (uint32_t i = 0; (i < used && i < FXT_SLOTS) || i < FXT_HEAP_SHARED_SUMS; i++) {
		const struct fxt_heap_sum *sum = fxt_heap_sum(control, i);

		bytes += (uint64_t)load_relaxed(&sum->bytes) + (uint64_t)load_relaxed(&sum->nested_bytes);
		objects +=
		        (uint64_t)load_relaxed(&sum->objects) + (uint64_t)load_relaxed(&sum->nested_objects);
	}
	return (struct fxt_heap_live){.bytes = (int64_t)bytes, .objects = (int64_t)objects};
}

uint64_t fxt_heap_counters_put(struct fxt_heap_counters *last, const struct fxt_control *control,
        uint64_t process_koid, uint64_t ticks, uint64_t record[FXT_HEAP_COUNTERS_WORDS])
{
	struct fxt_heap_live live;

	if (control->heap_mode == FXT_HEAP_OFF || load_relaxed(&control->heap_is_late) ||
	        !fxt_category_is_enabled(control, "heap"))
		return 0;
	live = fxt_heap_live(control);
	if (live.bytes == last->live.bytes && live.objects == last->live.objects)
		return 0;
	last->live = live;
	struct fxt_argument arguments[] = {
	        fxt_argument_int64(fxt_string_text(FXT_HEAP_COUNTERS_BYTES), live.bytes),
	        fxt_argument_int64(fxt_string_text(FXT_HEAP_COUNTERS_OBJECTS), live.objects)};

	uint64_t words = last->begun ? 0 : fxt_put_initialization(record, 2, control->ticks_per_second);

	last->begun = true;
	return words + fxt_put_large_blob_with_metadata(record + words, FXT_HEAP_COUNTERS_WORDS - words,
	                       fxt_thread_inline(process_koid, process_koid),
	                       fxt_string_text(FXT_HEAP_COUNTERS_NAME),
	                       fxt_string_text(FXT_HEAP_COUNTERS_NAME), ticks, arguments, 2, NULL, 0);
}

uint64_t fxt_heap_counters_due(struct fxt_heap_counters *last, const struct fxt_control *control,
        uint64_t process_koid, uint64_t record[FXT_HEAP_COUNTERS_WORDS])
{
	uint64_t now = fxt_monotonic_ns();

	if (control->heap_mode == FXT_HEAP_OFF || now < last->next_ns)
		return 0;
	struct fxt_heap_counters next = *last;
	uint64_t words = fxt_heap_counters_put(&next, control, process_koid,
	        fxt_clock_ticks((enum fxt_clock_kind)control->clock_kind), record);

	/* If this thread was kept from running for long here, the sums may not belong to
	 * the record's time: they are taken again. */
	if (fxt_monotonic_ns() - now > FXT_HEAP_COUNTERS_NS / 10)
		return 0;
	*last = next;
	last->next_ns = now + FXT_HEAP_COUNTERS_NS;
	return words;
}

/* ---- options ---- */

/* Returns the index of the text in a list of words; their number if it is none of them. */
static unsigned heap_find_word(const char *text, const char *const *words, unsigned count)
{
	unsigned index = 0;

	while (index < count && strcmp(text, words[index]) != 0)
		index++;
	return index;
}

/* Reads a number of bytes, with or without K or M: from 1 to 2^32 - 1. 0: it is no such
 * number. */
static uint64_t heap_read_bytes(const char *text)
{
	uint64_t number = 0;

	while (*text >= '0' && *text <= '9' && number <= UINT32_MAX)
		number = number * 10 + (uint64_t)(*text++ - '0');
	if (*text == 'K' || *text == 'M')
		number <<= *text++ == 'K' ? 10 : 20;
	return *text || number > UINT32_MAX ? 0 : number;
}

const char *fxt_heap_mode_read(const char *text, enum fxt_heap_mode *mode, uint64_t *sample_bytes)
{
	static const char sampled[] = "sampled:";
	static const char *const words[] = {[FXT_HEAP_OFF] = "off",
	        [FXT_HEAP_OBJECTS] = "objects",
	        [FXT_HEAP_SAMPLED] = sampled,
	        [FXT_HEAP_COUNTERS] = "counters",
	        [FXT_HEAP_AUTO] = "auto"};
	const unsigned count = sizeof(words) / sizeof(*words);
	unsigned index = heap_find_word(text, words, count);
	uint64_t bytes;

	if (strncmp(text, sampled, sizeof(sampled) - 1) == 0) {
		bytes = heap_read_bytes(text + sizeof(sampled) - 1);
		if (!bytes)
			return "BYTES must be a number from 1 to 4G, or one with K or M, such as 512K";
		*sample_bytes = bytes;
		index = FXT_HEAP_SAMPLED;
	}
	if (index == count)
		return "must be auto, objects, sampled:BYTES, counters or off";
	*mode = (enum fxt_heap_mode)index;
	return NULL;
}

const char *fxt_heap_stacks_read(const char *text, enum fxt_heap_stacks *stacks)
{
	static const char *const words[] = {[FXT_HEAP_STACKS_AUTO] = "auto",
	        [FXT_HEAP_STACKS_SHADOW] = "shadow",
	        [FXT_HEAP_STACKS_UNWIND] = "unwind",
	        [FXT_HEAP_STACKS_NONE] = "none"};
	const unsigned count = sizeof(words) / sizeof(*words);
	unsigned index = heap_find_word(text, words, count);

	if (index == count)
		return "must be auto, shadow, unwind or none";
	*stacks = (enum fxt_heap_stacks)index;
	return NULL;
}
