/*
 * Hostile traces take time in proportion to their size.
 */
#include "trace.h"

#include "reader/trace/index.h"

/* The words of a text come in pairs. A pair has two forms that a hash of multiplications by
 * a known number cannot tell apart: the highest bit of the first word moves on to two bits
 * of the product, which the second takes back. */
static void colliding_names(void **state)
{
	enum { PAIRS = 12, NAMES = 1 << PAIRS };
	static uint32_t hashes[NAMES];
	size_t equal = 0;

	(void)state;
	for (unsigned name = 0; name < NAMES; name++) {
		uint64_t text[2 * PAIRS];

		for (unsigned i = 0; i < PAIRS; i++) {
			bool other = name >> i & 1;

			text[2 * i] = UINT64_C(0x6161616161616161) ^ (uint64_t)other << 63;
			text[2 * i + 1] =
			        UINT64_C(0x6161616161616161) ^ (uint64_t)other << 63 ^ (uint64_t)other << 31;
		}
		hashes[name] = fxt_hash_bytes(text, sizeof(text));
	}
	for (unsigned i = 1; i < NAMES; i++)
		equal += hashes[i] == hashes[0];
	assert_true(equal < 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(colliding_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
