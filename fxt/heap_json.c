#include "heap_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "json.h"

static void json_sums(struct fxt_heap_sums sums)
{
	printf("{\"blocks\": %.0f, \"bytes\": %.0f}", sums.blocks, sums.bytes);
}

static void json_path(void *first, struct fxt_span folded, struct fxt_heap_sums sums)
{
	printf("%s\n      {\"path\": ", *(bool *)first ? "" : ",");
	fxt_json_string(stdout, folded);
	printf(", \"blocks\": %.0f, \"bytes\": %.0f}", sums.blocks, sums.bytes);
	*(bool *)first = false;
}

static void json_process(struct fxt_heap *heap, uint32_t process)
{
	const struct fxt_heap_process *p = &heap->processes[process];

	if (p->joined)
		printf("{\n    \"processes\": %" PRIu32 ", \"name\": ", p->joined);
	else
		printf("{\n    \"process\": %" PRIu64 ", \"name\": ", p->koid);
	fxt_json_string(stdout, heap->tables.strings[fxt_heap_process_name(heap, p)]);
	printf(", \"sample_bytes\": %" PRIu64 ", \"frees\": %.0f, \"unknown_frees\": %" PRIu64,
	        p->sample_bytes, p->frees, p->unknown_frees);
	if (p->joined) {
		printf(", \"highest_process\": %" PRIu64 ", \"highest\": ", p->highest_of);
		json_sums(p->highest);
	} else {
		printf(", \"image\": %" PRIu32 ", \"is_replaced\": %s, \"peak_ns\": %" PRIu64, p->image,
		        p->is_replaced ? "true" : "false", p->peak > heap->start ? p->peak - heap->start : 0);
	}
	for (enum fxt_heap_cost cost = 0; cost < FXT_HEAP_COSTS; cost++) {
		bool first = true;

		printf(",\n    \"%s\": ", fxt_heap_cost_name(cost));
		json_sums(fxt_heap_total(p, cost));
		printf(",\n    \"%s_paths\": [", fxt_heap_cost_name(cost));
		fxt_heap_each_path(heap, process, cost, false, json_path, &first);
		printf("]");
	}
	printf("\n  }");
}

void fxt_heap_print_json(struct fxt_heap *heap, const char *name, bool by_program)
{
	uint32_t *list;
	size_t count;

	if (by_program)
		fxt_heap_join_programs(heap);
	list = fxt_heap_list(heap, &count);
	printf("{\"schema\": \"fxt.heap.paths/1\", \"trace\": ");
	fxt_json_string(stdout, fxt_span(name));
	printf(", \"records_lost\": %" PRIu64, heap->records_lost);
	if (heap->until != UINT64_MAX)
		printf(", \"at_ns\": %" PRIu64, heap->until - heap->start);
	printf(", \"%s\": [", by_program ? "programs" : "processes");
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			printf(", ");
		json_process(heap, list[i]);
	}
	free(list);
	printf("]}\n");
}
