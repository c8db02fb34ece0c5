#include "before.h"

#include <stdlib.h>

struct fxt_before_switch {
	uint64_t koid, time, offset;
	bool is_wakeup;
};

void fxt_before_on_block(struct fxt_before *b, const struct fxt_block_event *event)
{
	uint32_t hash = fxt_hash_word(event->pointer ^ event->provider << 48);

	for (struct fxt_probe probe = fxt_probe(&b->block_index, hash);
	        fxt_probe_next(&b->block_index, &probe);) {
		struct fxt_block_event *of = &b->blocks[probe.id];

		if (of->pointer != event->pointer || of->provider != event->provider)
			continue;
		/* Threads are interleaved in the file, so its order is not that of time. */
		if (of->time <= event->time)
			*of = *event;
		return;
	}
	fxt_index_add(&b->block_index, hash, (uint32_t)b->block_count);
	fxt_make_room(b->blocks, b->block_count, b->block_room);
	b->blocks[b->block_count++] = *event;
}

void fxt_before_on_switch(struct fxt_before *b, uint64_t koid, bool is_wakeup, uint64_t time, uint64_t offset)
{
	const struct fxt_before_switch seen = {koid, time, offset, is_wakeup};
	uint32_t hash = fxt_hash_word(koid);

	for (struct fxt_probe probe = fxt_probe(&b->switch_index, hash);
	        fxt_probe_next(&b->switch_index, &probe);) {
		struct fxt_before_switch *of = &b->switches[probe.id];

		if (of->koid != koid || of->is_wakeup != is_wakeup)
			continue;
		if (of->time <= time)
			*of = seen;
		return;
	}
	fxt_index_add(&b->switch_index, hash, (uint32_t)b->switch_count);
	fxt_make_room(b->switches, b->switch_count, b->switch_room);
	b->switches[b->switch_count++] = seen;
}

void fxt_before_keep(struct fxt_before *b, struct fxt_keep *k)
{
	for (size_t i = 0; i < b->block_count; i++) {
		if (b->blocks[i].is_free)
			continue;
		fxt_keep_add(k, b->blocks[i].object);
		fxt_keep_add(k, b->blocks[i].event);
	}
	for (size_t i = 0; i < b->switch_count; i++)
		fxt_keep_add(k, b->switches[i].offset);
	free(b->blocks);
	free(b->switches);
	fxt_index_free(&b->block_index);
	fxt_index_free(&b->switch_index);
}
