/*
 * The clock of a session. Its ticks are those of a processor counter (arch_counter()) if
 * the kernel itself trusts it, else nanoseconds of CLOCK_MONOTONIC. One rate holds for all
 * providers of a session.
 */
#ifndef FXT_WRITER_CLOCK_H
#define FXT_WRITER_CLOCK_H

#include <stdint.h>
#include <time.h>
#include "arch.h"
#include "control.h"

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t fxt_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t fxt_clock_ticks(enum fxt_clock_kind kind)
{
	return kind == FXT_CLOCK_COUNTER ? arch_counter() : fxt_monotonic_ns();
}

/* The later of two times. */
static inline uint64_t fxt_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the counter if the kernel keeps its own time by it (its current clock source is
 * tsc or arch_sys_counter), else CLOCK_MONOTONIC. */
enum fxt_clock_kind fxt_clock_choose(void);

/* The same instant on both clocks, as near as a few tries get it. */
struct fxt_clock_pair {
	uint64_t ticks;
	uint64_t ns;
};
struct fxt_clock_pair fxt_clock_read_pair(enum fxt_clock_kind kind);

/* Returns the ticks per second between two pairs, rounded; `first` must be earlier. 10^9
 * for CLOCK_MONOTONIC. */
uint64_t fxt_clock_rate(enum fxt_clock_kind kind, struct fxt_clock_pair first, struct fxt_clock_pair last);

/* Returns the least number of ticks that is not shorter than `ns`, which is at most
 * 10^18. */
static inline uint64_t fxt_ns_to_ticks(uint64_t ns, uint64_t rate)
{
	return (uint64_t)(((unsigned __int128)ns * rate + 999999999) / 1000000000);
}

#endif
