/*
 * Whether two samples differ by more than chance, from the order of their values alone: the rank test of
 * Mann, Whitney and Wilcoxon. It asks of the values only that they can be compared, which suits times of a
 * program: these have no distribution worth a name, and one of ten runs is far off.
 */
#ifndef FXT_READER_RANK_H
#define FXT_READER_RANK_H

#include <stdbool.h>
#include <stddef.h>

/* So many values in both samples together are tested exactly, more by the normal distribution. */
enum { FXT_RANK_EXACT = 40 };

struct fxt_rank {
	double p;      /* how often chance makes a difference of this size or more, up or down: two-sided */
	bool is_above; /* the values of `after` are mostly the greater ones */
};

/* Tests two samples, which have no NaN. Equal values share their ranks. An empty sample has a p of 1. */
struct fxt_rank fxt_rank_test(
        const double *before, size_t before_count, const double *after, size_t after_count);

/* The least p that samples of these sizes can have: each value of one is above all of the other. */
double fxt_rank_least(size_t before_count, size_t after_count);

/*
 * Makes of the p of many tests, in place, what bounds the false discovery rate by the procedure of Benjamini
 * and Hochberg: if all are called a difference whose adjusted p is at most 0.05, no more than 1 in 20 of
 * these is chance on average; and where nothing differs at all, no more than 1 in 20 comparisons call
 * anything one.
 */
void fxt_rank_adjust(double *p, size_t count);

#endif
