#include "rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/index.h"

/* Ranks are stored doubled, so that the mean of two neighbours is a whole number. */
struct ranks {
	size_t *of; /* the values of the first sample, then those of the second */
	size_t count;
	double ties; /* the sum of t^3 - t over groups of t equal values */
};

static int rank_compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void fxt_sort_doubles(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), rank_compare);
}

double fxt_median(double *values, size_t count)
{
	if (count == 0)
		return NAN;
	fxt_sort_doubles(values, count);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static struct ranks rank_all(const double *first, size_t first_count, const double *second, size_t count)
{
	struct ranks ranks = {fxt_allocate((count + 1) * sizeof(*ranks.of)), count, 0};
	double *sorted = fxt_allocate((count + 1) * sizeof(*sorted));

	memcpy(sorted, first, first_count * sizeof(*sorted));
	memcpy(sorted + first_count, second, (count - first_count) * sizeof(*sorted));
	fxt_sort_doubles(sorted, count);
	for (size_t begin = 0, end; begin < count; begin = end) {
		double value = sorted[begin];

		for (end = begin + 1; end < count && sorted[end] == value;)
			end++;
		double equal = (double)(end - begin);

		ranks.ties += equal * equal * equal - equal;
		for (size_t i = 0; i < count; i++)
			if ((i < first_count ? first[i] : second[i - first_count]) == value)
				ranks.of[i] = begin + end + 1;
	}
	free(sorted);
	return ranks;
}

/*
 * Counts, of all ways to choose `chosen` of the values, the part with a sum of ranks at
 * least as far from the mean as this one. ways[chosen][sum] counts the ways among the
 * values considered so far.
 */
static double rank_exact(const struct ranks *ranks, size_t chosen, size_t sum)
{
	size_t most = ranks->count * (ranks->count + 1), mean = chosen * (ranks->count + 1);
	size_t distance = sum > mean ? sum - mean : mean - sum;
	double *ways = fxt_allocate((chosen + 1) * (most + 1) * sizeof(*ways)), all = 0, far = 0;

	ways[0] = 1;
	for (size_t i = 0; i < ranks->count; i++) {
		for (size_t k = chosen; k > 0; k--) {
			double *with = ways + k * (most + 1), *without = with - (most + 1);

			for (size_t s = ranks->of[i]; s <= most; s++)
				with[s] += without[s - ranks->of[i]];
		}
	}
	for (size_t s = 0; s <= most; s++) {
		double here = ways[chosen * (most + 1) + s];

		all += here;
		far += (s > mean ? s - mean : mean - s) >= distance ? here : 0;
	}
	free(ways);
	return far / all;
}

/* The same by the normal distribution, which the sum approaches. Half a rank is taken off
 * the distance from the mean, because sums are whole numbers. */
static double rank_normal(const struct ranks *ranks, size_t chosen, size_t sum)
{
	double all = (double)ranks->count, n = (double)chosen;
	double variance = n * (all - n) / 12 * (all + 1 - ranks->ties / (all * (all - 1)));
	double distance = fabs((double)sum / 2 - n * (all + 1) / 2) - 0.5;

	return variance > 0 && distance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}

struct fxt_rank fxt_rank_test(
        const double *before, size_t before_count, const double *after, size_t after_count)
{
	size_t count = before_count + after_count, sum = 0;

	if (before_count == 0 || after_count == 0)
		return (struct fxt_rank){.p = 1};
	struct ranks ranks = rank_all(before, before_count, after, count);

	for (size_t i = 0; i < before_count; i++)
		sum += ranks.of[i];
	double p = count <= FXT_RANK_EXACT ? rank_exact(&ranks, before_count, sum)
	                                   : rank_normal(&ranks, before_count, sum);

	free(ranks.of);
	return (struct fxt_rank){p, sum < before_count * (count + 1)};
}

double fxt_rank_least(size_t before_count, size_t after_count)
{
	double ways = 1;

	for (size_t i = 1; i <= before_count; i++)
		ways *= (double)(after_count + i) / (double)i;
	return ways > 2 ? 2 / ways : 1;
}

static int rank_compare_p(const void *left, const void *right)
{
	return rank_compare(*(double *const *)left, *(double *const *)right);
}

void fxt_rank_adjust(double *p, size_t count)
{
	double **sorted = fxt_allocate((count + 1) * sizeof(*sorted)), least = 1;

	for (size_t i = 0; i < count; i++)
		sorted[i] = &p[i];
	qsort(sorted, count, sizeof(double *), rank_compare_p);
	for (size_t i = count; i-- > 0;) {
		double adjusted = *sorted[i] * (double)count / (double)(i + 1);

		least = adjusted < least ? adjusted : least;
		*sorted[i] = least;
	}
	free(sorted);
}
