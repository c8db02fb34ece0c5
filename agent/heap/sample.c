#include "sample.h"
#include <string.h>
#include <sys/mman.h>
#include "heap_state.h"

#define LINES        (UINT64_C(1) << 17)
#define LINE_ENTRIES 8

/* The remembered blocks, by the cache line that their address hashes to; 0 = a free
 * entry. A ninth block in a line is not recorded: with 100,000 blocks that is one in ten
 * million. */
static uint64_t (*lines)[LINE_ENTRIES];

bool agent_sample_prepare(void)
{
	size_t bytes = LINES * sizeof(*lines);

	if (lines) { /* before a detach (agent/process/attach.h) */
		sys_advise(lines, bytes, MADV_DONTNEED);
		return true;
	}
	lines = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (lines)
		sys_advise(lines, bytes, MADV_WIPEONFORK);
	return lines != NULL;
}

static uint64_t *sample_line(const void *block)
{
	return lines[(uint64_t)(uintptr_t)block * UINT64_C(0x9e3779b97f4a7c15) >> 47];
}

static bool sample_remember(const void *block)
{
	uint64_t *line = sample_line(block);

	for (int i = 0; i < LINE_ENTRIES; i++) {
		uint64_t free_entry = 0;

		if (compare_exchange_acquire(&line[i], &free_entry, (uint64_t)(uintptr_t)block))
			return true;
	}
	return false;
}

bool agent_sample_forget(const void *block)
{
	uint64_t *line = sample_line(block);

	for (int i = 0; i < LINE_ENTRIES; i++) {
		if (load_relaxed(&line[i]) == (uint64_t)(uintptr_t)block) {
			store_release(&line[i], 0);
			return true;
		}
	}
	return false;
}

/* The natural logarithm of a number in (0, 1), because libm is not available. The mantissa
 * m is brought near 1, where ln m = 2 artanh((m - 1) / (m + 1)), a series whose error is
 * below 10^-7 here. */
static double sample_logarithm(double number)
{
	uint64_t bits;
	int exponent;
	double m, t, square;

	memcpy(&bits, &number, sizeof(bits));
	exponent = (int)(bits >> 52) - 1023;
	bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	memcpy(&m, &bits, sizeof(m));
	if (m > 1.4142135623730951) {
		m /= 2;
		exponent++;
	}
	t = (m - 1) / (m + 1);
	square = t * t;
	return exponent * 0.6931471805599453 +
	       2 * t * (1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square / 9))));
}

/* Bytes to the next chosen one. */
static int64_t sample_next_distance(struct agent_heap_thread *thread)
{
	uint64_t x = thread->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	thread->random = x;
	return (int64_t)(-sample_logarithm((double)((x >> 12) + 1) * 0x1p-52 * (1 - 0x1p-52)) *
	                 (double)agent_heap.sample_bytes) +
	       1;
}

bool agent_sample_choose(struct agent_heap_thread *thread, const void *block, size_t size)
{
	bool is_chosen = false;

	if (!thread->random) {
		thread->random = (arch_counter() ^ (uint64_t)(uintptr_t)thread) | 1;
		for (int i = 0; i < 8; i++)
			thread->until_sample = sample_next_distance(thread);
	}
	thread->until_sample -= (int64_t)size;
	while (thread->until_sample < 0) {
		int64_t distance = sample_next_distance(thread);

		is_chosen = true;
		/* A block much larger than the distance is not walked through byte by
		 * byte. */
		thread->until_sample = (int64_t)size > 64 * (int64_t)agent_heap.sample_bytes
		                               ? distance
		                               : thread->until_sample + distance;
	}
	return is_chosen && sample_remember(block);
}
