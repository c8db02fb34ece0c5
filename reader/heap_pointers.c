#include "heap_pointers.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include "text.h"

/* In a tree where blocks that overlap are equal: so the block around a pointer is equal to its one byte. */
struct block {
	uint64_t start, end;
	uint32_t node;
};

static int compare_blocks(const void *left, const void *right)
{
	const struct block *a = left, *b = right;

	return a->end <= b->start ? -1 : a->start >= b->end;
}

void fxt_heap_remember(struct fxt_heap_process *p, uint64_t pointer, uint64_t size, uint32_t node)
{
	struct block *block = fxt_allocate(sizeof(*block)), **found;

	*block = (struct block){pointer, pointer + (size ? size : 1), node};
	found = tsearch(block, &p->blocks, compare_blocks);
	/* What is already there was freed where we did not see it. */
	if (found && *found != block) {
		free(*found);
		*found = block;
	}
}

void fxt_heap_forget(struct fxt_heap_process *p, uint64_t pointer, uint64_t size)
{
	struct block block = {pointer, pointer + (size ? size : 1), 0}, **found, *gone;

	found = tfind(&block, &p->blocks, compare_blocks);
	if (!found || (*found)->start != pointer)
		return;
	gone = *found;
	tdelete(&block, &p->blocks, compare_blocks); /* the same way down, whatever else overlaps */
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

	found = tfind(&byte, &p->blocks, compare_blocks);
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

/* ---- the table ---- */

static int compare_mentions(const void *left, const void *right)
{
	const struct fxt_heap_mention *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

void fxt_heap_print_mentions(const struct fxt_heap *h, uint32_t process, uint64_t limit)
{
	struct fxt_heap_mention *sorted = fxt_resize(NULL, h->mention_count + 1, sizeof(*sorted));
	const uint32_t *path;

	if (h->mention_count)
		memcpy(sorted, h->mentions, h->mention_count * sizeof(*sorted));
	qsort(sorted, h->mention_count, sizeof(*sorted), compare_mentions);
	printf("\n%16s    pointers in events: event, argument, and the call path that allocated the block\n",
	        "");
	for (size_t i = 0; i < h->mention_count && limit > 0; i++) {
		if (sorted[i].process != process)
			continue;
		limit--;
		printf("%16" PRIu64 "    ", sorted[i].count);
		fxt_print_text(h->tables.strings[sorted[i].event]);
		printf(", ");
		fxt_print_text(h->tables.strings[sorted[i].argument]);
		for (size_t n = fxt_heap_path(h, sorted[i].node, &path); n-- > 0;) {
			printf("\n%24s", "");
			fxt_print_text(h->tables.strings[h->nodes[path[n]].name]);
		}
		putchar('\n');
	}
	free(sorted);
}
