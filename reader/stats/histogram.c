#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include "reader/trace/index.h"

uint64_t fxt_histogram_bound(uint32_t bucket)
{
	if (bucket < 2 * FXT_HISTOGRAM_OCTAVE)
		return bucket;
	unsigned shift = bucket / FXT_HISTOGRAM_OCTAVE - 1;

	return bucket < FXT_HISTOGRAM_BUCKETS
	               ? (uint64_t)(bucket % FXT_HISTOGRAM_OCTAVE + FXT_HISTOGRAM_OCTAVE) << shift
	               : UINT64_MAX;
}

/* Grows by whole octaves, so that similar times need no more room. */
void fxt_histogram_grow(struct fxt_histogram *h, uint32_t bucket)
{
	uint32_t octave = bucket / FXT_HISTOGRAM_OCTAVE * FXT_HISTOGRAM_OCTAVE;
	uint32_t first = h->room > 0 && h->first < octave ? h->first : octave;
	uint32_t end = octave + FXT_HISTOGRAM_OCTAVE;

	if (h->room > 0 && h->first + h->room > end)
		end = h->first + h->room;
	uint64_t *counts = fxt_allocate((end - first) * sizeof(*counts));

	for (uint32_t i = 0; i < h->room; i++)
		counts[h->first + i - first] = h->counts[i];
	free(h->counts);
	*h = (struct fxt_histogram){counts, first, end - first};
}

void fxt_histogram_merge(struct fxt_histogram *h, const struct fxt_histogram *other)
{
	for (uint32_t i = 0; i < other->room; i++) {
		if (other->counts[i] == 0)
			continue;
		if (other->first + i - h->first >= h->room)
			fxt_histogram_grow(h, other->first + i);
		h->counts[other->first + i - h->first] += other->counts[i];
	}
}

double fxt_histogram_percentile(const struct fxt_histogram *h, double share)
{
	uint64_t all = 0, before = 0, rank;

	for (uint32_t i = 0; i < h->room; i++)
		all += h->counts[i];
	rank = (uint64_t)ceil(share * (double)all);
	rank = rank < 1 ? 1 : rank > all ? all : rank;
	for (uint32_t i = 0; i < h->room; i++) {
		before += h->counts[i];
		if (before >= rank && all > 0) {
			uint64_t low = fxt_histogram_bound(h->first + i);
			uint64_t high = fxt_histogram_bound(h->first + i + 1) - 1;

			return ((double)low + (double)high) / 2;
		}
	}
	return 0;
}

uint32_t fxt_histogram_step(const struct fxt_histogram *h, uint32_t most)
{
	uint32_t low = 0, high = h->room, step = 1;

	while (low < high && h->counts[low] == 0)
		low++;
	while (low < high && h->counts[high - 1] == 0)
		high--;
	while (step < FXT_HISTOGRAM_OCTAVE && (high - low) / step > most)
		step *= 2;
	return step;
}

uint64_t fxt_histogram_sum(const struct fxt_histogram *h, uint32_t first, uint32_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = first > h->first ? first : h->first; i < end && i < h->first + h->room; i++)
		sum += h->counts[i - h->first];
	return sum;
}

void fxt_histogram_free(struct fxt_histogram *h)
{
	free(h->counts);
	*h = (struct fxt_histogram){0};
}
