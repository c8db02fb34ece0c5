/*
 * What the functions of several traces took before and after something, by name, and what of that is more
 * than chance. Each trace gives one value of each figure; what a side has is their median.
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

#include "functions.h"

enum fxt_side { FXT_BEFORE, FXT_AFTER, FXT_SIDES };

/* The figures of a function that are compared: all before this one. A trace without calls of it has none of
 * those behind FXT_SELF. */
#define FXT_COMPARED_FIGURES FXT_MIN

enum fxt_difference {
	FXT_UNTESTED, /* it has too small a part of the traces, or a side does not have the figure */
	FXT_SAME,     /* all traces have the same value */
	FXT_NOISE,    /* chance makes such a difference often */
	FXT_UNSURE,   /* the same, but there are too few traces for so many functions to tell more */
	FXT_LESS,     /* afterwards, and that is no chance */
	FXT_MORE,
};

struct fxt_compared {
	struct fxt_span name;
	double *values;                                  /* of the traces; NaN: it has none */
	double medians[FXT_SIDES][FXT_COMPARED_FIGURES]; /* NaN: no trace has the figure */
	bool is_on[FXT_SIDES];                           /* some trace of the side has calls of it */
	enum fxt_difference difference;
	double p, adjusted; /* of the rank test, and after the correction for all (rank.h); NaN: untested */
};

struct fxt_comparison {
	struct fxt_compared *items;
	size_t count, room;
	struct fxt_index index; /* by name */
	enum fxt_side *sides;   /* of the traces */
	size_t trace_count, trace_room;
	/* Once it is judged: */
	size_t of_side[FXT_SIDES]; /* traces */
	size_t tested;             /* functions */
	size_t needed; /* traces on each side for one function among the tested ones to be told from chance,
	                  if there are fewer; else 0 */
};

/* For so many traces at most. */
void fxt_comparison_init(struct fxt_comparison *c, size_t traces);

/* Adds a trace by its functions, those of all threads together, in ns (fxt_functions_to_ns()). */
void fxt_comparison_add(struct fxt_comparison *c, enum fxt_side side, const struct fxt_scan *scan,
        const struct fxt_functions *functions);

/*
 * Finds the medians, and tests one figure of each function that has at least a hundredth of it: of calls, of
 * their own time, or within calls for the times of one call. That counts both sides alike, so it does not
 * favour any result, and leaves out of the correction what is too small to matter. A difference is called one
 * where its adjusted p is at most 0.05.
 */
void fxt_comparison_judge(struct fxt_comparison *c, enum fxt_figure figure);

void fxt_comparison_free(struct fxt_comparison *c);

#endif
