/*
 * The rank test against the distribution itself: every way to deal the values out to the
 * two samples is tried, and U counted pair by pair. Beyond what can be tried, against the
 * recurrence of Mann and Whitney.
 */
#include "trace.h"

#include <math.h>
#include "reader/stats/rank.h"

/* Twice U: the number of pairs with the second sample (the values with set bits) above, and
 * half of the ties. */
static int pairs(const double *values, unsigned count, unsigned second)
{
	int u = 0;

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < count; j++)
			if (!(second >> i & 1) && (second >> j & 1))
				u += values[j] > values[i] ? 2 : values[j] == values[i];
	return u;
}

static double p_of_all_ways(const double *values, unsigned first, unsigned count)
{
	int mean = (int)(first * (count - first)), all = 0, far = 0;
	int distance = abs(pairs(values, count, (1U << count) - (1U << first)) - mean);

	for (unsigned way = 0; way < 1U << count; way++) {
		if (__builtin_popcount(way) != (int)(count - first))
			continue;
		all++;
		far += abs(pairs(values, count, way) - mean) >= distance;
	}
	return (double)far / all;
}

static void equals(double left, double right)
{
	if (fabs(left - right) > 1e-9)
		fail_msg("%.12f is not %.12f", left, right);
}

/* Few different values make many ties, many make few. */
static void all_ways(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (unsigned count = 2; count <= 11; count++) {
		for (unsigned first = 1; first < count; first++) {
			for (unsigned different = 1; different <= 64; different *= 4) {
				double values[11];

				for (unsigned i = 0; i < count; i++) {
					random = random * 1664525 + 1013904223;
					values[i] = (random >> 16) % different;
				}
				struct fxt_rank rank =
				        fxt_rank_test(values, first, values + first, count - first);
				int u = pairs(values, count, (1U << count) - (1U << first));

				equals(rank.p, p_of_all_ways(values, first, count));
				assert_int_equal(rank.is_above, u > (int)(first * (count - first)));
			}
		}
	}
}

/* Values that stand in printed tables: of 5 and 5, U = 0 in 2 of 252 ways, and U <= 2 in
 * 8. */
static void known_values(void **state)
{
	static const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10}, mixed[] = {4.5, 6, 7, 8, 4.7};

	(void)state;
	equals(fxt_rank_test(low, 5, high, 5).p, 2.0 / 252);
	equals(fxt_rank_test(low, 5, mixed, 5).p, 8.0 / 252);
	equals(fxt_rank_test(low, 0, high, 5).p, 1);
	equals(fxt_rank_least(5, 5), 2.0 / 252);
	equals(fxt_rank_least(4, 3), 2.0 / 35);
	equals(fxt_rank_least(1, 1), 1);
	equals(fxt_rank_least(0, 5), 1);
}

/* The number of ways to get this U from samples of m and n values. */
static double ways[25][25][577];

static void fill_ways(void)
{
	for (size_t m = 0; m < 25; m++)
		for (size_t n = 0; n < 25; n++)
			for (size_t u = 0; u <= m * n; u++)
				ways[m][n][u] = m == 0 || n == 0
				                        ? u == 0
				                        : (u >= n ? ways[m - 1][n][u - n] : 0) +
				                                  (u <= m * (n - 1) ? ways[m][n - 1][u] : 0);
}

/* 20 and 20 are the most that are tested exactly; 24 and 24 are not. */
static void many_values(void **state)
{
	(void)state;
	fill_ways();
	for (unsigned n = 20; n <= 24; n += 4) {
		for (unsigned shift = 0; shift <= 2 * n; shift++) {
			double before[24], after[24], all = 0, far = 0;
			int u = 0, mean = (int)(n * n);

			for (unsigned i = 0; i < n; i++) {
				before[i] = 2 * i;
				after[i] = 2 * i + 2 * (double)shift - (double)n + 0.5;
			}
			for (unsigned i = 0; i < n; i++)
				for (unsigned j = 0; j < n; j++)
					u += 2 * (after[j] > before[i]);
			for (unsigned v = 0; v <= n * n; v++) {
				all += ways[n][n][v];
				far += abs(2 * (int)v - mean) >= abs(u - mean) ? ways[n][n][v] : 0;
			}
			double p = fxt_rank_test(before, n, after, n).p;

			if (fabs(p - far / all) > (n == 20 ? 1e-9 : 0.004))
				fail_msg("%u values, U = %d: %.6f is not %.6f", n, u / 2, p, far / all);
		}
	}
}

static double choose(unsigned n, unsigned k)
{
	double ways = 1;

	for (unsigned i = 1; i <= k; i++)
		ways *= (double)(n - k + i) / i;
	return ways;
}

/* 60 values with groups of 40, 13 and 7 equal ones: the number of each in the first sample
 * determines its ranks. */
static void many_ties(void **state)
{
	static const unsigned counts[] = {40, 13, 7}, ranks[] = {41, 94, 114}; /* twice the mean of each */
	double before[30], after[30], all = 0, far = 0;
	unsigned in_before[] = {15, 10, 5}, filled = 0, left = 0;
	int mean = 30 * 61, sum = 15 * 41 + 10 * 94 + 5 * 114;

	(void)state;
	for (unsigned level = 0; level < 3; level++)
		for (unsigned i = 0; i < counts[level]; i++)
			*(i < in_before[level] ? &before[filled++] : &after[left++]) = level;
	for (unsigned a = 10; a <= 30; a++) {
		for (unsigned b = 0; b <= 13 && a + b <= 30; b++) {
			unsigned c = 30 - a - b;
			double here = c <= 7 ? choose(40, a) * choose(13, b) * choose(7, c) : 0;

			all += here;
			far += abs((int)(a * ranks[0] + b * ranks[1] + c * ranks[2]) - mean) >=
			                       abs(sum - mean)
			               ? here
			               : 0;
		}
	}
	double p = fxt_rank_test(before, 30, after, 30).p;

	if (fabs(p - far / all) > 0.004)
		fail_msg("%.6f is not %.6f", p, far / all);
}

/* By hand: 0.01 * 4 / 1, 0.02 * 4 / 2, 0.03 * 4 / 3 and 0.5; the least of what is behind
 * counts. */
static void adjusted(void **state)
{
	double p[] = {0.5, 0.01, 0.03, 0.02}, rising[] = {0.04, 0.001, 0.03}, none[] = {1, 1};

	(void)state;
	fxt_rank_adjust(p, COUNT(p));
	equals(p[0], 0.5);
	equals(p[1], 0.04);
	equals(p[2], 0.04);
	equals(p[3], 0.04);
	fxt_rank_adjust(rising, COUNT(rising));
	equals(rising[0], 0.04);
	equals(rising[1], 0.003);
	equals(rising[2], 0.04);
	fxt_rank_adjust(none, COUNT(none));
	equals(none[1], 1);
	fxt_rank_adjust(none, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_ways),
	        cmocka_unit_test(known_values),
	        cmocka_unit_test(many_values),
	        cmocka_unit_test(many_ties),
	        cmocka_unit_test(adjusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
