#include "koids.h"

#include <stdlib.h>

#define REUSE_SHIFT 22 /* numbers of the kernel have at most so many bits */

static struct fxt_merge_koid *koids_find(const struct fxt_merge_koids *koids, uint64_t koid)
{
	for (struct fxt_probe probe = fxt_probe(&koids->index, fxt_hash_word(koid));
	        fxt_probe_next(&koids->index, &probe);)
		if (koids->items[probe.id].koid == koid)
			return &koids->items[probe.id];
	return NULL;
}

void fxt_merge_koids_add(struct fxt_merge_koids *koids, uint64_t koid, bool is_own)
{
	struct fxt_merge_koid *found = koid ? koids_find(koids, koid) : NULL;

	if (koid == 0)
		return;
	if (!found) {
		fxt_index_add(&koids->index, fxt_hash_word(koid), (uint32_t)koids->count);
		fxt_make_room(koids->items, koids->count, koids->room);
		found = &koids->items[koids->count++];
		*found = (struct fxt_merge_koid){.koid = koid, .becomes = koid};
	}
	found->is_own |= is_own;
}

static uint64_t koids_unused(
        const struct fxt_merge_koids *koids, const struct fxt_merge_koids *used, uint64_t koid)
{
	uint64_t number = koid & ((UINT64_C(1) << REUSE_SHIFT) - 1);

	do
		number += UINT64_C(1) << REUSE_SHIFT;
	while (koids_find(koids, number) || koids_find(used, number));
	return number;
}

void fxt_merge_koids_settle(struct fxt_merge_koids *koids, struct fxt_merge_koids *used, bool is_same_space)
{
	for (size_t i = 0; i < koids->count; i++) {
		struct fxt_merge_koid *item = &koids->items[i];

		if (!koids_find(used, item->koid) || (!item->is_own && is_same_space))
			continue;
		item->becomes = koids_unused(koids, used, item->koid);
		fxt_merge_koids_add(used, item->becomes, true);
		koids->has_changes = true;
	}
	for (size_t i = 0; i < koids->count; i++)
		if (koids->items[i].is_own || !is_same_space)
			fxt_merge_koids_add(used, koids->items[i].becomes, true);
}

uint64_t fxt_merge_koid(const struct fxt_merge_koids *koids, uint64_t koid)
{
	const struct fxt_merge_koid *found = koids->has_changes ? koids_find(koids, koid) : NULL;

	return found ? found->becomes : koid;
}

uint64_t fxt_merge_flow(const struct fxt_merge_koids *koids, uint64_t flow)
{
	return fxt_merge_koid(koids, flow >> 32) << 32 | (flow & UINT32_MAX);
}

void fxt_merge_koids_free(struct fxt_merge_koids *koids)
{
	free(koids->items);
	fxt_index_free(&koids->index);
	*koids = (struct fxt_merge_koids){0};
}
