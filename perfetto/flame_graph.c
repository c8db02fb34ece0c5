#include "flame_graph.h"

#include <stdlib.h>
#include "reader/heap/heap_paths.h"

static uint32_t flame_find_function(struct fxt_flame_graph *s, struct fxt_span name)
{
	uint32_t hash = fxt_hash_bytes(name.data, name.bytes), number = (uint32_t)s->function_count;

	for (struct fxt_probe probe = fxt_probe(&s->function_index, hash);
	        fxt_probe_next(&s->function_index, &probe);)
		if (fxt_spans_equal(s->functions[probe.id], name))
			return probe.id;
	char *copy = fxt_resize(NULL, name.bytes + 1, 1);

	memcpy(copy, name.data, name.bytes);
	fxt_make_room(s->functions, s->function_count, s->function_room);
	s->functions[s->function_count++] = (struct fxt_span){copy, name.bytes};
	fxt_index_add(&s->function_index, hash, number);
	return number;
}

static uint32_t flame_find_stack(struct fxt_flame_graph *s, uint32_t parent, uint32_t function)
{
	uint32_t hash = fxt_hash_word((uint64_t)parent << 32 | function), number = (uint32_t)s->stack_count;

	for (struct fxt_probe probe = fxt_probe(&s->stack_index, hash);
	        fxt_probe_next(&s->stack_index, &probe);)
		if (s->stacks[probe.id].parent == parent && s->stacks[probe.id].function == function)
			return probe.id;
	fxt_make_room(s->stacks, s->stack_count, s->stack_room);
	s->stacks[s->stack_count++] = (struct fxt_flame_stack){.parent = parent, .function = function};
	fxt_index_add(&s->stack_index, hash, number);
	return number;
}

static void flame_add(struct fxt_heap_sums *to, struct fxt_heap_sums sums)
{
	to->blocks += sums.blocks;
	to->bytes += sums.bytes;
}

static void flame_add_node(struct fxt_flame_graph *s, const struct fxt_heap *heap, uint32_t node,
        uint32_t *function_of, fxt_heap_name *name, void *context)
{
	const struct fxt_heap_node *n = &heap->nodes[node];
	uint32_t provider = heap->processes[n->process].provider->id;
	const uint32_t *names;
	size_t depth = fxt_heap_path(heap, node, FXT_FLAME_DEPTH, &names);
	uint32_t stack = 0;

	for (size_t i = 0; i < depth; i++) {
		uint32_t string = names[i];

		if (function_of[string] == 0)
			function_of[string] = flame_find_function(s,
			                              name(context, provider, heap->tables.strings[string])) +
			                      1;
		stack = flame_find_stack(s, stack, function_of[string] - 1);
	}
	flame_add(&s->stacks[stack].allocated, n->allocated);
	flame_add(&s->stacks[stack].allocated_at_peak, n->allocated_at_peak);
	flame_add(&s->stacks[stack].at_peak, n->at_peak);
	flame_add(&s->stacks[stack].left, n->leaked);
	flame_add(&s->stacks[stack].left, n->kept);
}

void fxt_flame_graph_read(struct fxt_flame_graph *s, const struct fxt_heap *heap, uint32_t process,
        fxt_heap_name *name, void *context)
{
	/* By string id: the function of that name, plus 1. */
	uint32_t *function_of = fxt_allocate((heap->tables.string_count + 1) * sizeof(*function_of));

	*s = (struct fxt_flame_graph){0};
	fxt_make_room(s->stacks, s->stack_count, s->stack_room);
	s->stacks[s->stack_count++] = (struct fxt_flame_stack){0};
	for (uint32_t i = 0; i < heap->node_count; i++)
		if (heap->nodes[i].process == process && heap->nodes[i].allocated.blocks > 0)
			flame_add_node(s, heap, i, function_of, name, context);
	free(function_of);
}

void fxt_flame_graph_free(struct fxt_flame_graph *s)
{
	for (size_t i = 0; i < s->function_count; i++)
		free((char *)s->functions[i].data);
	free(s->functions);
	free(s->stacks);
	fxt_index_free(&s->function_index);
	fxt_index_free(&s->stack_index);
}
