#include "heap_pointers.h"

#include <search.h>
#include <stdlib.h>

/* Kept in a tree in which overlapping blocks compare equal: a pointer, as a block of one
 * byte, equals the block around it. */
struct block {
	uint64_t start, end;
	uint32_t node;
};

static int heap_compare_blocks(const void *left, const void *right)
{
	const struct block *a = left, *b = right;

	return a->end <= b->start ? -1 : a->start >= b->end;
}

void fxt_heap_remember(struct fxt_heap_process *p, uint64_t pointer, uint64_t size, uint32_t node)
{
	struct block *block = fxt_allocate(sizeof(*block)), **found;

	*block = (struct block){pointer, pointer + (size ? size : 1), node};
	found = tsearch(block, &p->blocks, heap_compare_blocks);
	/* The block at this address was freed by an event that is not in the trace. The new
	 * one replaces it. */
	if (found && *found != block) {
		free(*found);
		*found = block;
	}
}

void fxt_heap_forget(struct fxt_heap_process *p, uint64_t pointer, uint64_t size)
{
	struct block block = {pointer, pointer + (size ? size : 1), 0}, **found, *gone;

	found = tfind(&block, &p->blocks, heap_compare_blocks);
	if (!found || (*found)->start != pointer)
		return;
	gone = *found;
	tdelete(&block, &p->blocks, heap_compare_blocks); /* finds the node that tfind() found:
	                                                     both compare on the same way down
	                                                     the tree */
	free(gone);
}

void fxt_heap_forget_all(struct fxt_heap_process *p)
{
	tdestroy(p->blocks, free);
	p->blocks = NULL;
}

void fxt_heap_mention(struct fxt_heap *h, const struct fxt_heap_event *event)
{
	struct fxt_heap_process *p = &h->processes[event->process];
	struct block byte = {event->pointer, event->pointer + 1, 0}, **found;
	struct fxt_heap_mention mention = {event->process, event->node, (uint32_t)event->size, 0, 1};

	found = tfind(&byte, &p->blocks, heap_compare_blocks);
	if (!found)
		return;
	mention.node = (*found)->node;
	uint32_t hash = fxt_hash_word(
	        (uint64_t)mention.event << 40 ^ (uint64_t)mention.argument << 20 ^ mention.node);

	for (struct fxt_probe probe = fxt_probe(&h->mention_index, hash);
	        fxt_probe_next(&h->mention_index, &probe);) {
		struct fxt_heap_mention *other = &h->mentions[probe.id];

		if (other->process == mention.process && other->event == mention.event &&
		        other->argument == mention.argument && other->node == mention.node) {
			other->count++;
			return;
		}
	}
	fxt_make_room(h->mentions, h->mention_count, h->mention_room);
	fxt_index_add(&h->mention_index, hash, (uint32_t)h->mention_count);
	h->mentions[h->mention_count++] = mention;
}
