/*
 * Random numbers that are the same in every run; set random_state first.
 */
#ifndef FXT_TESTS_UNIT_RANDOM_H
#define FXT_TESTS_UNIT_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252;

/* The next number of a sequence that never is 0. */
static inline uint64_t xorshift(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static inline uint64_t random_number(void)
{
	return xorshift(&random_state);
}

static inline uint64_t random_below(uint64_t limit)
{
	return random_number() % limit;
}

#endif
