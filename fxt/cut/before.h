/*
 * Facts from before the kept range that its reader needs: the blocks that lived when it
 * began, and which threads were on a CPU then.
 */
#ifndef FXT_FXT_CUT_BEFORE_H
#define FXT_FXT_CUT_BEFORE_H

#include "keep.h"

struct fxt_block_event {
	uint64_t provider, pointer, time;
	uint64_t event, object; /* offsets of an allocation's records in the archive */
	bool is_free;
};

/* All zeros: nothing is known. */
struct fxt_before {
	struct fxt_block_event *blocks; /* the latest event of each address */
	struct fxt_before_switch *switches;
	size_t block_count, block_room, switch_count, switch_room;
	struct fxt_index block_index, switch_index;
};

/* Takes an allocation or a free before the range. */
void fxt_before_on_block(struct fxt_before *b, const struct fxt_block_event *event);

/* Takes a context switch of a thread, or its wakeup, before the range. */
void fxt_before_on_switch(
        struct fxt_before *b, uint64_t koid, bool is_wakeup, uint64_t time, uint64_t offset);

/* Keeps the allocations of the blocks that live, and the last switch and wakeup of each
 * thread. Then frees everything. */
void fxt_before_keep(struct fxt_before *b, struct fxt_keep *k);

#endif
