/*
 * Converts ticks to nanoseconds without a division each time: a trace has two times for
 * every call.
 */
#ifndef FXT_READER_RATE_H
#define FXT_READER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define FXT_NS_PER_SECOND UINT64_C(1000000000)

struct fxt_rate {
	uint64_t ticks_per_second;
	uint64_t ns_per_tick; /* rounded down */
	uint64_t fraction;    /* the rest of a tick in 2^-64 ns, rounded down */
	uint64_t last_tick;   /* the last tick with a time that fits 64 bits */
};

/* ticks_per_second is not 0. */
static inline struct fxt_rate fxt_rate(uint64_t ticks_per_second)
{
	unsigned __int128 last = (((unsigned __int128)ticks_per_second << 64) - 1) / FXT_NS_PER_SECOND;

	return (struct fxt_rate){
	        .ticks_per_second = ticks_per_second,
	        .ns_per_tick = FXT_NS_PER_SECOND / ticks_per_second,
	        .fraction = (uint64_t)(((unsigned __int128)(FXT_NS_PER_SECOND % ticks_per_second) << 64) /
	                               ticks_per_second),
	        .last_tick = last > UINT64_MAX ? UINT64_MAX : (uint64_t)last,
	};
}

/* A time in nanoseconds, rounded down; UINT64_MAX if it does not fit 64 bits. */
static inline uint64_t fxt_rate_ns(const struct fxt_rate *rate, uint64_t ticks)
{
	unsigned __int128 by_second = (unsigned __int128)ticks * FXT_NS_PER_SECOND;
	uint64_t ns = ticks * rate->ns_per_tick + (uint64_t)((unsigned __int128)ticks * rate->fraction >> 64);

	if (ticks > rate->last_tick)
		return UINT64_MAX;
	/* The error of the rounded-down fraction is less than one. */
	bool one_short = by_second - (unsigned __int128)ns * rate->ticks_per_second >= rate->ticks_per_second;

	return ns + one_short;
}

/* The time that the Perfetto viewer gives to the same tick. It has 32 bits for the fraction
 * of a nanosecond in 2^32 ticks [after eight hours its times are up to 14 us early]. */
static inline uint64_t fxt_rate_viewer_ns(uint64_t ticks, uint64_t ticks_per_second)
{
	uint64_t ns_of_high = (FXT_NS_PER_SECOND << 32) / ticks_per_second;

	return (ticks >> 32) * ns_of_high + (ticks & UINT32_MAX) * FXT_NS_PER_SECOND / ticks_per_second;
}

#endif
