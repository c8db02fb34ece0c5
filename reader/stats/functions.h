/*
 * Sums up the slices of a trace by thread and function. A function is the name of its
 * slices: equal names are one function, in whatever process they are.
 *
 * Every duration is a call, be it one record or a begin and an end, except in the
 * categories "fxt", "process" and "sync". The tracer uses these to report its own waits and
 * losses, and what the program asked the system for: a child or a lock. They are kept
 * apart, also from functions of the same name. Like other slices they count as time inside
 * the call around them, so that call has less self time.
 *
 * Elided calls, which the trace has in sums (elided.h), are included. They are left out if
 * only a part of the time is chosen, or if the trace has only the end of what happened,
 * because the trace does not say when they were. They are also left out of sums by caller
 * or callee. In sums by other keys than functions their total is unknown; it is taken to be
 * no less than their self time.
 *
 * Times include the cost of recording the calls. fxtrun --calibrate measures that cost, and
 * leaves it in the trace as an instant event of category "fxt" with arguments within_ps,
 * around_ps and error_ps.
 */
#ifndef FXT_READER_FUNCTIONS_H
#define FXT_READER_FUNCTIONS_H

#include "histogram.h"
#include "reader/slices/arguments.h"
#include "reader/time/thread_times.h"

struct fxt_function {
	uint32_t name;  /* or another key (fxt_grouping) */
	bool of_tracer; /* not a function, but the tracer's other reports */
	uint32_t depth; /* while a trace is read: its open calls */
	uint64_t calls;
	uint64_t open;  /* of these, calls without an end; they last until their process was
	                   killed, or the trace ends */
	uint64_t total; /* calls inside a call of the same function are not counted again */
	uint64_t self;  /* total without the slices inside */
	uint64_t sum;   /* over all calls, recursive ones too: sum / calls is the average */
	uint64_t outermost_calls, outermost_inside; /* for `total`: the calls it counts, and
	                                               all calls inside these */
	uint64_t self_inside;                       /* calls directly inside */
	uint64_t folded;                            /* calls whose own time is part of self */
	uint64_t min;
	uint64_t max;
	uint64_t total_running;            /* part of total, including the tracer's waits,
	                                      as far as known */
	uint64_t self_cpu[FXT_CPU_STATES]; /* parts of self, as far as known */
	/* self_cpu is incomplete: elided calls, of it or inside it, count in only one of
	 * the two, because the trace does not say when they were */
	bool lacks_states;
	uint64_t elided, elided_sum, elided_longest; /* part of calls and of sum: calls that
	                                                are not in the trace, without more
	                                                details of their times */
	struct fxt_histogram times;                  /* of the calls in the trace; empty if
	                                                there is only one */
};

struct fxt_functions {
	struct fxt_function *items;
	size_t count, room;
	struct fxt_index index; /* by name */
	uint32_t *lately;       /* while a trace is read: a cache of items by the low bits of
	                           their names, in front of the index; NULL as long as few were
	                           looked up */
	uint32_t looked_for;
};

/* Calls are summed up by this key. Slices that are no calls always have their own
 * name. */
struct fxt_grouping {
	enum {
		FXT_BY_FUNCTION,
		FXT_BY_NAME,         /* by key_of[function's name] */
		FXT_BY_NAME_OF_SPAN, /* the same, of durations that are no calls of functions */
		FXT_BY_CATEGORY,
		FXT_BY_THREAD, /* by key_of[thread] */
		FXT_BY_VALUE,  /* by the value of an argument */
		FXT_CALLERS,   /* calls of the functions `of`, by their callers;
		                  FXT_NOTHING: no caller */
		FXT_CALLEES,   /* calls made by the functions `of`, by function */
	} by;
	const uint32_t *key_of;
	const bool *of;
	const struct fxt_values *values;
};

/*
 * Sums up the slices of a scanned trace, with `workers` threads. Returns an array of
 * functions by thread, one for each thread of scan->tables, with times in units of the
 * scan; some functions may have no calls. *complete is set to whether all of the file could
 * be read again. A NULL grouping sums up by function. If `times` is not NULL, times of
 * calls exclude waits that the tracer caused.
 */
struct fxt_functions *fxt_functions_read(const struct fxt_scan *scan, const struct fxt_grouping *grouping,
        const struct fxt_thread_times *times, unsigned workers, bool *complete);
void fxt_functions_free(struct fxt_functions *functions);

/* The same for all threads together, with times in nanoseconds. Returns whether all of the
 * file could be read again. */
bool fxt_functions_read_all(struct fxt_functions *all, const struct fxt_scan *scan,
        const struct fxt_grouping *grouping, const struct fxt_thread_times *times);

/* True if the states of the thread during the function's self time are known; the other
 * function asks the same of its total. */
bool fxt_function_has_self_cpu(const struct fxt_function *function);
bool fxt_function_has_total_cpu(const struct fxt_function *function);

/* True if the sums of a grouping, which may be NULL, include the elided calls that were
 * chosen. */
bool fxt_functions_have_elided(const struct fxt_scan *scan, const struct fxt_grouping *grouping);

/* Adds something that lasted to the sums of a key, as a call that is in no other one. */
void fxt_functions_add_call(struct fxt_functions *functions, uint32_t key, uint64_t time, bool is_open);

/* Adds the functions of a thread, or of another worker, to others. */
void fxt_functions_add(struct fxt_functions *sum, const struct fxt_functions *functions);

/* Converts times from units of the scan to nanoseconds, except those in histograms. */
void fxt_functions_to_ns(struct fxt_functions *functions, const struct fxt_scan *scan);

/* Over all functions: the number of calls, and the number of functions that were called.
 * The tracer's other reports do not count. */
uint64_t fxt_functions_calls(const struct fxt_functions *functions);
uint64_t fxt_functions_called(const struct fxt_functions *functions);

/* A time without the cost of recording, at least 0, and its possible error. In ns. */
struct fxt_corrected {
	double ns, error;
};
struct fxt_corrected fxt_corrected_total(
        const struct fxt_function *function, const struct fxt_call_cost *cost);
struct fxt_corrected fxt_corrected_self(
        const struct fxt_function *function, const struct fxt_call_cost *cost);

#endif
