/*
 * Tests whether two samples differ by more than chance, by the order of their values alone:
 * the rank test of Mann, Whitney and Wilcoxon. The values need only be comparable. This
 * suits the times of a program, because these have no well-known distribution, and one of
 * ten runs is far off.
 */
#ifndef FXT_READER_RANK_H
#define FXT_READER_RANK_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts values, which have no NaN, in ascending order. */
void fxt_sort_doubles(double *values, size_t count);

/* The median of values, which are put in order; NAN if there are none. */
double fxt_median(double *values, size_t count);

/* Up to this many values in both samples together are tested exactly, more by the normal
 * distribution. */
enum { FXT_RANK_EXACT = 40 };

struct fxt_rank {
	double p;      /* two-sided: the probability of a difference of this size or more,
	                  up or down, by chance */
	bool is_above; /* the values of `after` are mostly the greater ones */
};

/* Tests two samples, which have no NaN. Equal values share their ranks. An empty sample has
 * a p of 1. */
struct fxt_rank fxt_rank_test(
        const double *before, size_t before_count, const double *after, size_t after_count);

/* The least possible p of samples of these sizes: each value of one is above all values of
 * the other. */
double fxt_rank_least(size_t before_count, size_t after_count);

/*
 * Adjusts the p of many tests in place, to bound the false discovery rate by the procedure
 * of Benjamini and Hochberg. If every adjusted p of at most 0.05 counts as a difference, no
 * more than 1 in 20 of these is chance on average. If nothing differs at all, no more than
 * 1 in 20 comparisons reports any difference.
 */
void fxt_rank_adjust(double *p, size_t count);

#endif
