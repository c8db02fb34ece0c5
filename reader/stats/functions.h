/*
 * The slices of a trace, summed up by thread and function. A function is what slices call it: equal names are
 * one function, whatever process they are in.
 *
 * Every duration is a call, complete or begun and ended by two records, but for those of categories "fxt",
 * "process" and "sync": with these the tracer tells of itself, that it waited or lost records, and of what
 * the program asked the system for, a child or a lock. They are kept apart, also from functions of their
 * name; like other slices they count as time inside the call around them, which therefore has less time of
 * its own.
 *
 * Calls that the tracer left out, and told in sums, are in these too (elided.h), unless only a part of the
 * time is chosen, or the trace has only the end of what happened: it does not say when they were. Summed up
 * by another thing than functions, and not by who called what, their total is not known: it is taken to be no
 * less than the time of their own.
 *
 * Times hold what recording the calls has cost. fxtrun --calibrate has measured that, and left it in the
 * trace as an instant event of category "fxt" with arguments within_ps, around_ps and error_ps.
 */
#ifndef FXT_READER_FUNCTIONS_H
#define FXT_READER_FUNCTIONS_H

#include "histogram.h"
#include "reader/time/thread_times.h"

struct fxt_function {
	uint32_t name;  /* or what else the sums are by (fxt_grouping) */
	bool of_tracer; /* not a function: what the tracer tells besides */
	uint32_t depth; /* while a trace is read: how many calls of it are open */
	uint64_t calls;
	uint64_t open;  /* of these, calls never ended; they last until their process was killed, or the trace
	                   ends */
	uint64_t total; /* calls inside a call of the same function add nothing */
	uint64_t self;  /* without slices inside */
	uint64_t sum;   /* of all calls, recursive ones too: sum / calls is the average */
	uint64_t outermost_calls, outermost_inside; /* of total: its calls, and all calls inside these */
	uint64_t self_inside;                       /* calls directly inside */
	uint64_t min;
	uint64_t max;
	uint64_t total_running;            /* of total with what the tracer waited, as far as known */
	uint64_t self_cpu[FXT_CPU_STATES]; /* of self, as far as known */
	bool lacks_states; /* of self: calls that were left out, of it or inside of it, are in one and not in
	                      the other, as the trace does not say when they were */
	uint64_t elided, elided_sum, elided_longest; /* of calls and sum: those that are not in the
	                                                      trace, which says no more of their times */
	struct fxt_histogram times;                  /* of all calls in the trace; none if there is one */
};

struct fxt_functions {
	struct fxt_function *items;
	size_t count, room;
	struct fxt_index index; /* by name */
	uint32_t *lately; /* while a trace is read: items by the end of their names, to be found without the
	                     index; NULL as long as few were looked for */
	uint32_t looked_for;
};

/* What calls are summed up by. What is no call has its own name always. */
struct fxt_grouping {
	enum {
		FXT_BY_FUNCTION,
		FXT_BY_NAME, /* by what key_of has for the function's name */
		FXT_BY_CATEGORY,
		FXT_BY_THREAD, /* by what key_of has for the thread */
		FXT_CALLERS,   /* calls of the names `of` by who made them; FXT_NOTHING: nobody */
		FXT_CALLEES,   /* calls that those made, by function */
	} by;
	const uint32_t *key_of;
	const bool *of;
};

/*
 * Sums up the slices of a scanned trace, with so many threads. Returns an array of functions by thread, one
 * for each of scan->tables, with times in units of the scan; functions without calls may be among them.
 * `complete` tells whether all of the file could be read again. Without a grouping, NULL, they are summed up
 * by function.
 *
 * Times of calls are without what they were made to wait by the tracer, if `times` is not NULL.
 */
struct fxt_functions *fxt_functions_read(const struct fxt_scan *scan, const struct fxt_grouping *grouping,
        const struct fxt_thread_times *times, unsigned workers, bool *complete);
void fxt_functions_free(struct fxt_functions *functions);

/* The same for all threads together, with times in nanoseconds. Returns whether all could be read again. */
bool fxt_functions_read_all(struct fxt_functions *all, const struct fxt_scan *scan,
        const struct fxt_grouping *grouping, const struct fxt_thread_times *times);

/* Whether it is known how long the thread was in which state in the function's own time; and in its total. */
bool fxt_function_has_self_cpu(const struct fxt_function *function);
bool fxt_function_has_total_cpu(const struct fxt_function *function);

/* Whether sums by that grouping, which may be NULL, have what the tracer left out, so far as it was chosen.
 */
bool fxt_functions_have_elided(const struct fxt_scan *scan, const struct fxt_grouping *grouping);

/* Adds functions, of a thread or of another worker, to others. */
void fxt_functions_add(struct fxt_functions *sum, const struct fxt_functions *functions);

/* Makes nanoseconds of times in units of the scan, but for the histograms. */
void fxt_functions_to_ns(struct fxt_functions *functions, const struct fxt_scan *scan);

/* Of all together: how often they were called, and how many were; what the tracer tells besides is none of
 * them. */
uint64_t fxt_functions_calls(const struct fxt_functions *functions);
uint64_t fxt_functions_called(const struct fxt_functions *functions);

/* What can be asked of a function by one word: "calls", "total", "self", "avg", "p50", "p90", "p99", "min",
 * "max". */
enum fxt_figure {
	FXT_CALLS,
	FXT_TOTAL,
	FXT_SELF,
	FXT_AVERAGE,
	FXT_P50,
	FXT_P90,
	FXT_P99,
	FXT_MIN,
	FXT_MAX,
	FXT_FIGURES
};
extern const char *const fxt_figure_names[FXT_FIGURES];

/* The figure of that name; false: there is none. */
bool fxt_figure_named(struct fxt_span name, enum fxt_figure *figure);

/* Of a function in ns (fxt_functions_to_ns()) that has calls. Percentiles are the time that a share of the
 * calls did not exceed, to 1/32 (fxt_histogram_percentile()); NAN if that is one of the calls left out. */
double fxt_function_figure(
        const struct fxt_function *function, const struct fxt_scan *scan, enum fxt_figure figure);

/* A time without the cost of recording, at least 0, and how far it may be off for that. In ns. */
struct fxt_corrected {
	double ns, error;
};
struct fxt_corrected fxt_corrected_total(
        const struct fxt_function *function, const struct fxt_call_cost *cost);
struct fxt_corrected fxt_corrected_self(
        const struct fxt_function *function, const struct fxt_call_cost *cost);

#endif
