/*
 * Ticks into nanoseconds, against a division of 128 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"
#include "reader/trace/rate.h"

static uint64_t by_division(uint64_t ticks, uint64_t ticks_per_second)
{
	unsigned __int128 ns = (unsigned __int128)ticks * 1000000000 / ticks_per_second;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* A number of any size: small and large ones matter alike. */
static uint64_t random_bits(void)
{
	uint64_t random = random_number();

	return random >> (random >> 32) % 64;
}

static void agree(uint64_t ticks, uint64_t ticks_per_second)
{
	struct fxt_rate rate = fxt_rate(ticks_per_second);

	assert_int_equal(fxt_rate_ns(&rate, ticks), by_division(ticks, ticks_per_second));
}

static void random_times(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++)
		agree(random_bits(), random_bits() | 1);
}

static void edges(void **state)
{
	static const uint64_t rates[] = {1, 2, 3, 999999999, 1000000000, 1000000001, 2445428024,
	        UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		uint64_t last = fxt_rate(rates[i]).last_tick;

		agree(0, rates[i]);
		agree(1, rates[i]);
		agree(last, rates[i]);
		agree(last + 1, rates[i]);
		agree(UINT64_MAX, rates[i]);
		/* Whole seconds, and what falls just short of them. */
		for (uint64_t seconds = 1; seconds < 1000 && seconds <= UINT64_MAX / rates[i]; seconds++) {
			agree(seconds * rates[i], rates[i]);
			agree(seconds * rates[i] - 1, rates[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(random_times),
	        cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
