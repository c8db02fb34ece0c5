#include "heap.h"
#include "atomics.h"
#include "clock.h"
#include "encode.h"

/* The counter's id: one for a process, whose counters a viewer tells apart by their names. */
#define COUNTER_ID 0

static struct fxt_string text(const char *name)
{
	return fxt_string_inline(name, strlen(name));
}

uint64_t fxt_heap_counters_put(struct fxt_heap_counters *last, const struct fxt_control *control,
        uint64_t process_koid, uint64_t ticks, uint64_t record[FXT_HEAP_COUNTERS_WORDS])
{
	uint32_t used = load_acquire(&control->slots_used);
	int64_t bytes = 0, objects = 0;

	if (control->heap_mode == FXT_HEAP_OFF)
		return 0;
	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++) {
		const struct fxt_heap_sum *sum = fxt_heap_sum(control, i);

		bytes += load_relaxed(&sum->bytes) + load_relaxed(&sum->nested_bytes);
		objects += load_relaxed(&sum->objects) + load_relaxed(&sum->nested_objects);
	}
	if (bytes == last->bytes && objects == last->objects)
		return 0;
	last->bytes = bytes;
	last->objects = objects;
	struct fxt_argument arguments[] = {fxt_argument_int64(text("live bytes"), bytes),
	        fxt_argument_int64(text("live objects"), objects)};

	uint64_t words = last->begun ? 0 : fxt_put_initialization(record, 2, control->ticks_per_second);

	last->begun = true;
	return words + fxt_put_event(record + words, FXT_HEAP_COUNTERS_WORDS - words, FXT_EVENT_COUNTER,
	                       fxt_thread_inline(process_koid, process_koid), text("heap"), text("heap"),
	                       ticks, arguments, 2, COUNTER_ID);
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

	/* Who was interrupted here for long has sums of no certain time, and takes them again. */
	if (fxt_monotonic_ns() - now > FXT_HEAP_COUNTERS_NS / 10)
		return 0;
	*last = next;
	last->next_ns = now + FXT_HEAP_COUNTERS_NS;
	return words;
}
