/*
 * Sums up heap costs by call path, and joins processes of the same program. Runs on the
 * caller's thread, on a heap that was read completely. Paths come from the trace, so a
 * circle of parents must not make it loop.
 */
#include "heap_paths.h"

#include <stdlib.h>

static const char *const cost_names[FXT_HEAP_COSTS] = {
        [FXT_HEAP_PEAK] = "peak",
        [FXT_HEAP_LEAKED] = "leaked",
        [FXT_HEAP_KEPT] = "kept",
        [FXT_HEAP_ALLOCATED] = "allocated",
        [FXT_HEAP_TEMPORARY] = "temporary",
};

enum fxt_heap_cost fxt_heap_cost_named(const char *name)
{
	enum fxt_heap_cost cost = 0;

	while (cost < FXT_HEAP_COSTS && strcmp(cost_names[cost], name) != 0)
		cost++;
	return cost;
}

const char *fxt_heap_cost_name(enum fxt_heap_cost cost)
{
	return cost_names[cost];
}

struct fxt_heap_sums fxt_heap_cost(const struct fxt_heap_node *node, enum fxt_heap_cost cost)
{
	return cost == FXT_HEAP_PEAK        ? node->at_peak
	       : cost == FXT_HEAP_LEAKED    ? node->leaked
	       : cost == FXT_HEAP_KEPT      ? node->kept
	       : cost == FXT_HEAP_ALLOCATED ? node->allocated
	                                    : node->temporary;
}

struct fxt_heap_sums fxt_heap_total(const struct fxt_heap_process *process, enum fxt_heap_cost cost)
{
	return cost == FXT_HEAP_PEAK        ? process->at_peak
	       : cost == FXT_HEAP_LEAKED    ? process->leaked
	       : cost == FXT_HEAP_KEPT      ? process->kept
	       : cost == FXT_HEAP_ALLOCATED ? process->allocated
	                                    : process->temporary;
}

/* ---- programs ---- */

static void heap_add_sums(struct fxt_heap_sums *to, struct fxt_heap_sums sums)
{
	to->blocks += sums.blocks;
	to->bytes += sums.bytes;
}

static void heap_join_process(struct fxt_heap_process *to, struct fxt_heap_process *from)
{
	heap_add_sums(&to->allocated, from->allocated);
	heap_add_sums(&to->temporary, from->temporary);
	heap_add_sums(&to->leaked, from->leaked);
	heap_add_sums(&to->kept, from->kept);
	if (from->at_peak.bytes > to->highest.bytes) {
		to->highest = from->at_peak;
		to->highest_of = from->koid;
	}
	heap_add_sums(&to->at_peak, from->at_peak);
	to->frees += from->frees;
	to->unknown_frees += from->unknown_frees;
	for (unsigned i = 0; i < FXT_HEAP_BANDS; i++)
		heap_add_sums(&to->by_size[i], from->by_size[i]);
	to->joined++;
	from->first = UINT64_MAX;
}

void fxt_heap_join_programs(struct fxt_heap *heap)
{
	/* By process: the process it becomes a part of. By name: 1 + the process that
	 * stands for it. */
	uint32_t *part_of = fxt_allocate((heap->process_count + 1) * sizeof(*part_of));
	uint32_t *first = fxt_allocate(heap->tables.string_count * sizeof(*first));

	for (uint32_t i = 0; i < heap->process_count; i++) {
		struct fxt_heap_process *process = &heap->processes[i];
		uint32_t *of_name = &first[fxt_heap_process_name(heap, process)];

		part_of[i] = i;
		if (!fxt_heap_has_events(process))
			continue;
		if (*of_name) {
			part_of[i] = *of_name - 1;
			heap_join_process(&heap->processes[part_of[i]], process);
			continue;
		}
		*of_name = i + 1;
		process->joined = 1;
		process->highest = process->at_peak;
		process->highest_of = process->koid;
	}
	for (size_t i = 0; i < heap->node_count; i++)
		heap->nodes[i].process = part_of[heap->nodes[i].process];
	for (size_t i = 0; i < heap->mention_count; i++)
		heap->mentions[i].process = part_of[heap->mentions[i].process];
	free(first);
	free(part_of);
}

static int heap_compare_programs(const void *left, const void *right, void *processes)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct fxt_heap_process *of = processes;

	if (of[a].joined && of[a].at_peak.bytes != of[b].at_peak.bytes)
		return of[a].at_peak.bytes > of[b].at_peak.bytes ? -1 : 1;
	return a < b ? -1 : 1;
}

uint32_t *fxt_heap_list(const struct fxt_heap *heap, size_t *count)
{
	uint32_t *list = fxt_allocate((heap->process_count + 1) * sizeof(*list));

	*count = 0;
	for (uint32_t i = 0; i < heap->process_count; i++)
		if (fxt_heap_has_events(&heap->processes[i]))
			list[(*count)++] = i;
	qsort_r(list, *count, sizeof(*list), heap_compare_programs, heap->processes);
	return list;
}

/* Puts the names from a node outwards in front of names[first], as many as fit. Returns the
 * next node; id 0 means that there are no more. */
static uint32_t heap_put_names(const struct fxt_heap *heap, uint32_t node, uint32_t *names, size_t *first)
{
	do {
		names[--*first] = heap->nodes[node].name;
		node = heap->nodes[node].parent;
	} while (*first > 0 && heap->nodes[node].id != 0);
	return node;
}

size_t fxt_heap_path(const struct fxt_heap *heap, uint32_t node, size_t depth, const uint32_t **names)
{
	static uint32_t all[FXT_HEAP_DEPTH];
	size_t first = depth;

	if (heap->nodes[heap_put_names(heap, node, all, &first)].id != 0) {
		first = FXT_HEAP_OUTERMOST + 1;
		all[--first] = heap->elided;
		heap_put_names(heap, heap->nodes[node].outer, all, &first);
	}
	*names = all + first;
	return depth - first;
}

/* ---- paths of equal functions as one ---- */

struct line {
	uint32_t text; /* id of a string */
	struct fxt_heap_sums sums;
};

struct lines {
	struct line *items;
	size_t count, room;
	struct fxt_index index; /* by text */
};

static int heap_compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->sums.bytes != b->sums.bytes)
		return a->sums.bytes > b->sums.bytes ? -1 : 1;
	if (a->sums.blocks != b->sums.blocks)
		return a->sums.blocks > b->sums.blocks ? -1 : 1;
	return a->text < b->text ? -1 : a->text > b->text;
}

/* Texts are interned in the heap's own tables and never removed, so their memory must live
 * as long as the heap. */
static char *heap_copy_text(const char *text, size_t bytes)
{
	return memcpy(fxt_resize(NULL, bytes + 1, 1), text, bytes);
}

static struct fxt_span heap_fold_path(const struct fxt_heap *heap, uint32_t node, bool by_function)
{
	static char *text;
	static size_t room;
	const uint32_t *names;
	size_t count = fxt_heap_path(heap, node, FXT_HEAP_DEPTH, &names), bytes = 0;

	for (size_t i = by_function ? count - 1 : 0; i < count; i++) {
		struct fxt_span name = heap->tables.strings[names[i]];

		if (bytes + name.bytes + 1 > room) {
			room = 2 * (bytes + name.bytes + 1);
			text = fxt_resize(text, room, 1);
		}
		if (bytes > 0)
			text[bytes++] = ';';
		memcpy(text + bytes, name.data, name.bytes);
		bytes += name.bytes;
	}
	return (struct fxt_span){text, bytes};
}

struct fxt_span fxt_heap_folded(const struct fxt_heap *heap, uint32_t node)
{
	return heap_fold_path(heap, node, false);
}

void fxt_heap_each_path(struct fxt_heap *heap, uint32_t process, enum fxt_heap_cost cost, bool by_function,
        void (*print)(void *context, struct fxt_span folded, struct fxt_heap_sums sums), void *context)
{
	struct lines lines = {0};
	char **texts = NULL;
	size_t text_room = 0;

	for (uint32_t i = 0; i < heap->node_count; i++) {
		struct fxt_heap_sums sums = fxt_heap_cost(&heap->nodes[i], cost);

		if (heap->nodes[i].process != process || sums.blocks == 0)
			continue;
		struct fxt_span folded = heap_fold_path(heap, i, by_function);
		uint32_t hash = fxt_hash_bytes(folded.data, folded.bytes);
		struct line *line = NULL;

		for (struct fxt_probe probe = fxt_probe(&lines.index, hash);
		        fxt_probe_next(&lines.index, &probe);)
			if (lines.items[probe.id].sums.blocks > 0 && fxt_span_is(folded, texts[probe.id]))
				line = &lines.items[probe.id];
		if (!line) {
			fxt_make_room(lines.items, lines.count, lines.room);
			fxt_make_room(texts, lines.count, text_room);
			texts[lines.count] = heap_copy_text(folded.data, folded.bytes);
			texts[lines.count][folded.bytes] = '\0';
			fxt_index_add(&lines.index, hash, (uint32_t)lines.count);
			line = &lines.items[lines.count];
			*line = (struct line){.text = (uint32_t)lines.count};
			lines.count++;
		}
		line->sums.blocks += sums.blocks;
		line->sums.bytes += sums.bytes;
	}
	if (lines.count)
		qsort(lines.items, lines.count, sizeof(*lines.items), heap_compare_lines);
	for (size_t i = 0; i < lines.count; i++)
		print(context, fxt_span(texts[lines.items[i].text]), lines.items[i].sums);
	for (size_t i = 0; i < lines.count; i++)
		free(texts[i]);
	free(texts);
	free(lines.items);
	fxt_index_free(&lines.index);
}
