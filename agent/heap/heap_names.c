#include "heap_names.h"
#include <string.h>
#include "heap_record.h"
#include "writer/format/encode.h"

static uint16_t heap_names_register(const char *text)
{
	return fxt_string_register(&agent_engine, text, strlen(text));
}

static uint64_t heap_names_instant(uint16_t category, uint16_t name, uint64_t words, unsigned arguments)
{
	return fxt_record_header(FXT_RECORD_EVENT, words) | FXT_EVENT_INSTANT << 16 | arguments << 20 |
	       (uint64_t)category << 32 | (uint64_t)name << 48;
}

static void heap_names_make_headers(struct agent_heap *heap)
{
	heap->object_header = fxt_record_header(FXT_RECORD_USERSPACE_OBJECT, AGENT_OBJECT_WORDS) |
	                      UINT64_C(2) << 40; /* arguments */
	heap->allocate_header = heap_names_instant(heap->category, heap->allocate_name, AGENT_FREE_WORDS, 1);
	heap->free_header = heap_names_instant(heap->category, heap->free_name, AGENT_FREE_WORDS, 1);
	heap->size_argument = agent_argument_header(FXT_ARGUMENT_UINT32, 1, heap->size_name);
}

static bool heap_names_announce(struct agent_heap *heap)
{
	struct fxt_engine *e = &agent_engine;
	static const char *const modes[] = {[FXT_HEAP_OBJECTS] = "objects",
	        [FXT_HEAP_SAMPLED] = "sampled",
	        [FXT_HEAP_COUNTERS] = "counters"};
	uint16_t path = heap_names_register("path"), pointer = heap_names_register("pointer"),
	         parent = heap_names_register("parent");
	uint64_t record[16];
	struct fxt_argument arguments[2];

	heap->category = heap_names_register("heap");
	heap->allocate_name = heap_names_register("allocate");
	heap->free_name = heap_names_register("free");
	heap->size_name = heap_names_register("size");
	heap->elided_name = heap_names_register(FXT_HEAP_LEFT_OUT);
	if (!path || !pointer || !parent || !heap->category || !heap->allocate_name || !heap->free_name ||
	        !heap->size_name || !heap->elided_name)
		return false;
	heap->path_argument = agent_argument_header(FXT_ARGUMENT_POINTER, 2, path);
	heap->pointer_argument = agent_argument_header(FXT_ARGUMENT_POINTER, 2, pointer);
	heap->parent_argument = agent_argument_header(FXT_ARGUMENT_POINTER, 2, parent);
	heap_names_make_headers(heap);
	arguments[0] = fxt_argument_string(fxt_string_inline("mode", 4),
	        fxt_string_inline(modes[heap->wanted_mode], strlen(modes[heap->wanted_mode])));
	arguments[1] = fxt_argument_uint64(fxt_string_inline("sample_bytes", 12), heap->sample_bytes);
	size_t words = fxt_put_event(record, sizeof(record) / 8, FXT_EVENT_INSTANT,
	        fxt_thread_inline(e->process_koid, (uint64_t)e->pid), fxt_string_index(heap->category),
	        fxt_string_inline("recorded", 8), fxt_clock_ticks(e->clock), arguments,
	        heap->wanted_mode == FXT_HEAP_SAMPLED ? 2 : 1, 0);

	return fxt_durable_write(e, record, words, false);
}

bool agent_heap_announce(void)
{
	static uint32_t announced; /* the generation of the engine that has the names */

	if (announced != agent_engine.generation && heap_names_announce(&agent_heap))
		announced = agent_engine.generation;
	return announced == agent_engine.generation;
}
