/*
 * Compares the functions of several traces before and after a change, by name, and by
 * module or source file where functions share a name. Finds which differences are more than
 * chance. Each trace gives one value of each figure. A side's value is their median.
 *
 *   fxt_comparison_init(&c, before + after);
 *   for each trace
 *           fxt_comparison_add(&c, FXT_BEFORE, &scan, functions);
 *   fxt_comparison_judge(&c, FXT_SELF);
 *   ... c.items ...
 *   fxt_comparison_free(&c);
 *
 * Takes memory for each function and trace.
 */
#ifndef FXT_READER_COMPARISON_H
#define FXT_READER_COMPARISON_H

#include "figures.h"

enum fxt_side { FXT_BEFORE, FXT_AFTER, FXT_SIDES };

enum fxt_difference {
	FXT_UNTESTED, /* its share of the traces is too small, or a side lacks the figure */
	FXT_SAME,     /* all traces have the same value */
	FXT_SMALL,    /* there are too few traces for a test, and the difference is less
	                 than a tenth of the value before */
	FXT_NOISE,    /* such a difference often occurs by chance */
	FXT_UNSURE,   /* there are too few traces, or too few for so many functions, to find
	                 out more */
	FXT_LESS,     /* less afterwards, and not by chance */
	FXT_MORE,
};

struct fxt_compared {
	struct fxt_span name;
	struct fxt_span module, file; /* without their folders; no bytes: not known */
	double *values;               /* by trace; NaN: the trace lacks it */
	/* of the figures that are compared (figures.h); NaN: no trace has the figure */
	double medians[FXT_SIDES][FXT_FIGURES];
	bool is_on[FXT_SIDES]; /* some trace of the side has calls of it */
	enum fxt_difference difference;
	double p, adjusted; /* of the rank test, and corrected for all tests (rank.h); NaN:
	                       untested */
};

struct fxt_comparison {
	struct fxt_compared *items;
	size_t count, room;
	struct fxt_index index; /* by name */
	enum fxt_side *sides;   /* by trace */
	size_t trace_count, trace_room;
	/* Valid once judged: */
	size_t of_side[FXT_SIDES]; /* traces */
	size_t tested;             /* functions */
	size_t needed;             /* traces on each side that are needed to distinguish one tested
	                              function from chance, if there are fewer; else 0 */
};

/* `traces` is the most that can be added. */
void fxt_comparison_init(struct fxt_comparison *c, size_t traces);

/* Adds a trace by its functions: the sums of all threads, in ns (fxt_functions_to_ns()). */
void fxt_comparison_add(struct fxt_comparison *c, enum fxt_side side, const struct fxt_scan *scan,
        const struct fxt_functions *functions);

/*
 * Finds the medians, and tests one figure of each function that has at least a hundredth of
 * it: of calls, of self time, or, for the times of one call, of time within calls. The
 * share counts both sides alike, so it favours no result; and functions too small to matter
 * do not burden the correction. A difference counts if its adjusted p is at most 0.05. With
 * too few traces for any test, as one on each side, it is called same, small or unsure.
 */
void fxt_comparison_judge(struct fxt_comparison *c, enum fxt_figure figure);

void fxt_comparison_free(struct fxt_comparison *c);

#endif
