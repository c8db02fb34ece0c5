/*
 * Calls by function, counted on their way into the archive, for fxtrun --auto (muting.h). Each provider's
 * thread counts all records of its provider by string index, and adds them to the counts of the session when
 * a buffer was taken: there all functions of one name are one, as they are to readers.
 *
 *   records --> struct fxt_call_counter --by name--> struct fxt_call_counts --> muting
 *
 * Functions beyond the string indices that last are counted by nobody; nor are they muted.
 */
#ifndef FXT_LAUNCHER_SESSION_CALL_COUNTS_H
#define FXT_LAUNCHER_SESSION_CALL_COUNTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "resolver.h"
#include "reader/trace/index.h"

struct fxt_counted_function {
	uint32_t id;
	uint64_t calls, brief; /* in the window; the latter are as short as call_sample.h says */
	uint64_t recorded;     /* in all */
	uint64_t muted_ticks;  /* recorded no more since then; 0 = it is recorded. The main thread's */
	size_t name_bytes;
	char name[]; /* ended by a zero byte */
};

/* Of a session. The window is the time since fxt_call_counts_begin_window(). */
struct fxt_call_counts {
	pthread_mutex_t lock;                    /* of all of it */
	struct fxt_counted_function **functions; /* by id; they stay where they are */
	size_t count, room;
	struct fxt_index by_name;
	uint64_t cpu_ns; /* that processes ran in the window, as far as their calls are counted */
};

void fxt_call_counts_open(struct fxt_call_counts *counts);

/* All threads that count have ended. */
void fxt_call_counts_close(struct fxt_call_counts *counts);

/* With the lock held. */
void fxt_call_counts_begin_window(struct fxt_call_counts *counts);

/* A name by its index. */
struct fxt_counted_string {
	uint32_t calls, brief; /* that are in no function's yet */
	bool is_function;
	struct fxt_counted_function *function; /* NULL: its name was not asked for, or is not known yet */
	uint64_t address, module;
};

/* Of a provider; its thread's. All zeros counts nothing. */
struct fxt_call_counter {
	struct fxt_call_counts *counts;     /* of the session; NULL: nothing is counted */
	struct fxt_counted_string *strings; /* by index */
	uint32_t string_count;              /* indices are less that calls were counted of */
	uint64_t *recorded;                 /* by id of a function, as far as was not told */
	size_t recorded_count;
	uint64_t brief_ticks;
	pid_t pid;
	uint64_t cpu_ns; /* that the process had run when calls were last added */
};

/* Begins to count for a process. Without memory nothing is counted. */
void fxt_call_counter_begin(struct fxt_call_counter *counter, struct fxt_call_counts *counts, pid_t pid,
        uint64_t ticks_per_second);

/* A function has that index from now on. */
void fxt_call_counter_name(struct fxt_call_counter *counter, uint32_t index, const struct fxt_markup *pc);

/* Counts the calls among records, which are whole. */
void fxt_call_counter_take(struct fxt_call_counter *counter, const void *records, uint64_t bytes);

/* Adds what was counted to the session's counts; of functions whose names are not known within `ns`
 * nanoseconds the next time. */
void fxt_call_counter_add_up(struct fxt_call_counter *counter, struct fxt_resolver *resolver,
        struct fxt_names *names, uint64_t ns);

/* How many calls of the function were counted that this did not tell of before. */
uint64_t fxt_call_counter_tell(struct fxt_call_counter *counter, const struct fxt_counted_function *function);

void fxt_call_counter_end(struct fxt_call_counter *counter);

#endif
