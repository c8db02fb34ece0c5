/*
 * Maps koids and flow ids of the inputs to those of the merged trace (koids.h). Runs on the
 * main thread.
 */
#include "koids.h"

#include <stdlib.h>

#define REUSED        (UINT64_C(1) << 22) /* more than any number of the kernel */
#define KERNELS       (REUSED - 1)        /* the kernel's number in a koid */
#define NOBODYS_FLOWS (UINT64_C(1) << 63) /* for flow ids without an upper half; no koid */

static struct fxt_merge_koid *koids_find(const struct fxt_merge_koids *koids, uint64_t koid)
{
	for (struct fxt_probe probe = fxt_probe(&koids->index, fxt_hash_word(koid));
	        fxt_probe_next(&koids->index, &probe);)
		if (koids->items[probe.id].koid == koid)
			return &koids->items[probe.id];
	return NULL;
}

static struct fxt_merge_koid *koids_put(struct fxt_merge_koids *koids, uint64_t koid)
{
	struct fxt_merge_koid *found = koids_find(koids, koid);

	if (found)
		return found;
	fxt_index_add(&koids->index, fxt_hash_word(koid), (uint32_t)koids->count);
	fxt_make_room(koids->items, koids->count, koids->room);
	found = &koids->items[koids->count++];
	*found = (struct fxt_merge_koid){.koid = koid, .becomes = koid};
	return found;
}

void fxt_merge_koids_add(struct fxt_merge_koids *koids, uint64_t koid, bool is_own)
{
	if (koid != 0)
		koids_put(koids, koid)->is_own |= is_own;
}

/* Returns the koid in the upper half of a flow's id, or NOBODYS_FLOWS if that half is 0. */
static uint64_t koids_of_flow(uint64_t flow)
{
	return flow >> 32 ? flow >> 32 : NOBODYS_FLOWS;
}

void fxt_merge_koids_add_flow(struct fxt_merge_koids *koids, uint64_t flow)
{
	if ((flow >> 32 & KERNELS) == 0)
		koids_put(koids, koids_of_flow(flow))->is_own = true;
}

/* Returns a koid that no trace uses, for the same number of the kernel. There may be any
 * number of such koids, so each search continues where the last one for that number
 * ended. */
static uint64_t koids_unused(const struct fxt_merge_koids *koids, struct fxt_merge_used *used, uint64_t koid)
{
	struct fxt_merge_koid *next = koids_put(&used->next, (koid & KERNELS) + REUSED);

	while (koids_find(koids, next->becomes) || koids_find(&used->koids, next->becomes))
		next->becomes += REUSED;
	return next->becomes;
}

void fxt_merge_koids_settle(struct fxt_merge_koids *koids, struct fxt_merge_used *used, bool is_same_space)
{
	for (size_t i = 0; i < koids->count; i++) {
		struct fxt_merge_koid *item = &koids->items[i];

		if (!koids_find(&used->koids, item->koid) || (!item->is_own && is_same_space))
			continue;
		item->becomes = koids_unused(koids, used, item->koid);
		fxt_merge_koids_add(&used->koids, item->becomes, true);
		koids->has_changes = true;
	}
	for (size_t i = 0; i < koids->count; i++)
		if (koids->items[i].is_own || !is_same_space)
			fxt_merge_koids_add(&used->koids, koids->items[i].becomes, true);
}

void fxt_merge_koids_join(struct fxt_merge_koids *earlier, const struct fxt_merge_koids *later)
{
	for (size_t i = 0; i < later->count; i++)
		fxt_merge_koids_add(earlier, later->items[i].koid, later->items[i].is_own);
}

void fxt_merge_koids_follow(struct fxt_merge_koids *later, const struct fxt_merge_koids *earlier)
{
	later->has_changes = earlier->has_changes;
	for (size_t i = 0; i < later->count; i++)
		later->items[i].becomes = fxt_merge_koid(earlier, later->items[i].koid);
}

uint64_t fxt_merge_koid(const struct fxt_merge_koids *koids, uint64_t koid)
{
	const struct fxt_merge_koid *found = koids->has_changes ? koids_find(koids, koid) : NULL;

	return found ? found->becomes : koid;
}

uint64_t fxt_merge_flow(const struct fxt_merge_koids *koids, uint64_t flow)
{
	uint64_t koid = koids_of_flow(flow), becomes = fxt_merge_koid(koids, koid);

	return becomes == koid ? flow : becomes << 32 | (flow & UINT32_MAX);
}

void fxt_merge_koids_free(struct fxt_merge_koids *koids)
{
	free(koids->items);
	fxt_index_free(&koids->index);
	*koids = (struct fxt_merge_koids){0};
}

void fxt_merge_used_free(struct fxt_merge_used *used)
{
	fxt_merge_koids_free(&used->koids);
	fxt_merge_koids_free(&used->next);
}
