/*
 * The calls of an archive, summed up by thread and function. A function is what slices call it: equal names
 * are one function, whatever process they are in.
 *
 * Every duration is a call, complete or begun and ended by two records, but for those of categories "fxt",
 * "process" and "sync": with these the tracer tells of itself, that it waited or lost records, and of what
 * the program asked the system for, a child or a lock. They are kept apart; like other slices they count as
 * time inside the call around them, which therefore has less time of its own.
 *
 * Times are nanoseconds, and hold what recording the calls has cost. fxtrun --calibrate has measured that,
 * and left it in the trace as an instant event of category "fxt" with arguments within_ps, around_ps and
 * error_ps.
 */
#ifndef FXT_READER_CALLS_H
#define FXT_READER_CALLS_H

#include "nesting.h"
#include "writer/call_cost.h"

struct fxt_function {
	uint32_t name;
	bool of_tracer;   /* not a function: what the tracer tells besides */
	bool keeps_all;   /* its outermost calls, see calls.c */
	bool last_stands; /* of those it keeps, for later ones too */
	uint64_t calls;
	uint64_t open;  /* of these, calls never ended; they are taken to end with the trace */
	uint64_t total; /* calls inside a call of the same function add nothing */
	uint64_t self;  /* without slices inside */
	uint64_t sum;   /* of all calls, recursive ones too: sum / calls is the average */
	uint64_t outermost_calls, outermost_inside; /* of total: its calls, and all calls inside these */
	uint64_t self_inside;                       /* calls directly inside */
	uint64_t min;
	uint64_t max;
	uint64_t latest;                 /* of one thread: start of the call that ended last */
	struct fxt_outermost *outermost; /* of one thread: what total consists of */
	size_t outermost_count, outermost_room;
};

struct fxt_functions {
	struct fxt_function *items;
	size_t count, room;
	struct fxt_index index; /* by name */
};

struct fxt_calls {
	struct fxt_tables tables;
	struct fxt_functions *threads; /* by thread id; threads without slices have no functions */
	size_t thread_count;
	uint64_t records_lost;        /* the sums the tracer's slices and events tell: what found no room, */
	uint64_t records_overwritten; /* and what made room for newer records */
	uint64_t start, end;          /* of the trace, the first and the last moment of any event */
	uint64_t malformed;           /* records left out because they cannot be read */
	struct fxt_call_cost cost;    /* 0: the trace does not tell */
	struct fxt_fault fault;
	struct fxt_nesting nesting;
	bool again; /* a function was found that has to keep all: this run does not count */
	uint32_t tracer_category, process_category, sync_category, lost_name, overwritten_name,
	        cost_name; /* ids of strings */
};

/* Reads a whole archive, which must stay open as long as the calls are in use. */
void fxt_calls_read(struct fxt_calls *c, const struct fxt_archive *archive);
void fxt_calls_free(struct fxt_calls *c);

/* Finds a function or makes it. */
struct fxt_function *fxt_function(struct fxt_functions *functions, uint32_t name);

/* Adds what one thread spent in a function to a sum over threads. */
void fxt_function_add(struct fxt_function *sum, const struct fxt_function *function);

/* A time without the cost of recording, at least 0, and how far it may be off for that. */
struct fxt_corrected {
	double ns, error;
};
struct fxt_corrected fxt_corrected_total(
        const struct fxt_function *function, const struct fxt_call_cost *cost);
struct fxt_corrected fxt_corrected_self(
        const struct fxt_function *function, const struct fxt_call_cost *cost);

void fxt_functions_free(struct fxt_functions *functions);

#endif
