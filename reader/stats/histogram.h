/*
 * A histogram of times. The bounds of its buckets grow with the times: each octave has 16
 * buckets, so the middle of a bucket is within 1/32 of every time in it. Times below 32
 * have buckets of their own.
 *
 *   value    0 1 2 ... 31 | 32-33 34-35 ... 62-63 | 64-67 ... 124-127 | ...
 *   bucket   0 1 2 ... 31 | 32    33        47    | 48        63      |
 *
 * Only the octaves between the least and the greatest time take memory.
 */
#ifndef FXT_READER_HISTOGRAM_H
#define FXT_READER_HISTOGRAM_H

#include <stdint.h>

enum { FXT_HISTOGRAM_OCTAVE = 16, FXT_HISTOGRAM_BUCKETS = 976 };

/* All zeros is an empty one. */
struct fxt_histogram {
	uint64_t *counts; /* of the buckets from `first` */
	uint32_t first, room;
};

static inline uint32_t fxt_histogram_bucket(uint64_t value)
{
	if (value < 2 * FXT_HISTOGRAM_OCTAVE)
		return (uint32_t)value;
	unsigned shift = 59 - (unsigned)__builtin_clzll(value); /* leaves five bits */

	return shift * FXT_HISTOGRAM_OCTAVE + (uint32_t)(value >> shift);
}

/* The least value of a bucket. The bucket behind the last is out of range and has
 * UINT64_MAX. */
uint64_t fxt_histogram_bound(uint32_t bucket);

void fxt_histogram_grow(struct fxt_histogram *h, uint32_t bucket);

static inline void fxt_histogram_add(struct fxt_histogram *h, uint64_t value)
{
	uint32_t bucket = fxt_histogram_bucket(value);

	if (__builtin_expect(bucket - h->first >= h->room, 0))
		fxt_histogram_grow(h, bucket);
	h->counts[bucket - h->first]++;
}

void fxt_histogram_merge(struct fxt_histogram *h, const struct fxt_histogram *other);

/*
 * The least value that a share of all times (above 0, at most 1) does not exceed, by
 * nearest rank. To 1/32; 0 for an empty histogram.
 */
double fxt_histogram_percentile(const struct fxt_histogram *h, double share);

/* The number of buckets to combine into a row, 1, 2, 4, 8 or 16, to get at most `most`
 * rows, if 16 is enough. */
uint32_t fxt_histogram_step(const struct fxt_histogram *h, uint32_t most);

/* The number of times in the buckets from `first` up to, not including, `end`. */
uint64_t fxt_histogram_sum(const struct fxt_histogram *h, uint32_t first, uint32_t end);

void fxt_histogram_free(struct fxt_histogram *h);

#endif
