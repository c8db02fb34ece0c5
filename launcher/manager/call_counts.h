/*
 * Counts calls by function on their way to the archive, for fxtrun --auto (muting.h). The
 * thread of a provider counts all records of that provider by string index. After each
 * buffer it adds them to the session's counts. There, functions with the same name are one
 * function, as they are to readers.
 *
 *   records --> struct fxt_call_counter --by name--> struct fxt_call_counts --> muting
 *
 * Functions that got no lasting string index are neither counted nor muted.
 */
#ifndef FXT_LAUNCHER_MANAGER_CALL_COUNTS_H
#define FXT_LAUNCHER_MANAGER_CALL_COUNTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "resolver.h"
#include "reader/trace/index.h"

struct fxt_counted_function {
	uint32_t id;
	uint64_t calls, brief; /* in the window; brief ones are as short as call_sample.h
	                        * says */
	uint64_t recorded;     /* in all */
	uint64_t muted_ticks;  /* time since which it is muted; 0 = it is recorded. Belongs
	                        * to the main thread */
	size_t name_bytes;
	char name[]; /* ended by a zero byte */
};

/* The counts of a session. The window is the time since fxt_call_counts_begin_window(). */
struct fxt_call_counts {
	pthread_mutex_t lock;                    /* for all fields */
	struct fxt_counted_function **functions; /* by id; their addresses are stable */
	size_t count, room;
	struct fxt_index by_name;
	uint64_t cpu_ns; /* CPU time of processes in the window, as far as their calls are
	                  * counted */
};

void fxt_call_counts_open(struct fxt_call_counts *counts);

/* Call it after all counting threads have ended. */
void fxt_call_counts_close(struct fxt_call_counts *counts);

/* With the lock held. */
void fxt_call_counts_begin_window(struct fxt_call_counts *counts);

/* A string by its index. */
struct fxt_counted_string {
	uint32_t calls, brief; /* not yet added to a function */
	bool is_function;
	struct fxt_counted_function *function; /* NULL: the name was not requested, or is not
	                                        * known yet */
	uint64_t address, module;
};

/* The counter of a provider, used by its thread. All zeros: counts nothing. */
struct fxt_call_counter {
	struct fxt_call_counts *counts;     /* the session's; NULL: nothing is counted */
	struct fxt_counted_string *strings; /* by index */
	uint32_t string_count;              /* calls were counted of indices below this only */
	uint64_t *recorded;                 /* by function id; calls not reported yet */
	size_t recorded_count;
	uint64_t brief_ticks;
	pid_t pid;
	uint64_t cpu_ns; /* CPU time of the process when calls were last added */
};

/* Begins counting for a process. If memory is short, nothing is counted. */
void fxt_call_counter_begin(struct fxt_call_counter *counter, struct fxt_call_counts *counts, pid_t pid,
        uint64_t ticks_per_second);

/* Gives a function that string index from now on. */
void fxt_call_counter_name(struct fxt_call_counter *counter, uint32_t index, const struct fxt_markup *pc);

/* Counts the calls among records, which are whole. */
void fxt_call_counter_take(struct fxt_call_counter *counter, const void *records, uint64_t bytes);

/* Adds the counted calls to the session's counts. A function whose name is not known within
 * `ns` nanoseconds is added next time. */
void fxt_call_counter_add_up(struct fxt_call_counter *counter, struct fxt_resolver *resolver,
        struct fxt_names *names, uint64_t ns);

/* Returns the calls of the function that were counted since the last call for it. */
uint64_t fxt_call_counter_report(
        struct fxt_call_counter *counter, const struct fxt_counted_function *function);

void fxt_call_counter_end(struct fxt_call_counter *counter);

#endif
