/*
 * What commands share that answer from single calls of a trace, its waits and its context switches: these are
 * collected while it is scanned, by a listener that goes into the options (options.h).
 */
#ifndef FXT_FXT_MOMENTS_H
#define FXT_FXT_MOMENTS_H

#include "reader/time/causes.h"
#include "reader/time/death.h"
#include "reader/slices/pattern.h"
#include "reader/stats/slowest.h"

/* When a process was killed, and how. */
struct fxt_call_details_death {
	uint64_t ns;
	struct fxt_death how;
};

/* Of one trace; there is one at a time. */
struct fxt_call_details {
	const struct fxt_scan *scan;
	struct fxt_call_details_death *deaths;
	size_t death_count, death_room;
	struct fxt_timeline timeline;
	struct fxt_faults faults;
	struct fxt_waits waits;
	struct fxt_slowest slowest; /* once they were found */
	struct fxt_causes causes;   /* once they were explained */
};

const struct fxt_scan_listener *fxt_call_details_listener(void);

/* Adds the functions that a command is to look for, and, unless `number` is NULL, takes off their text which
 * of the calls is meant, the ":3" at its end: 1 if it has none. `text` is NULL where none was given. Returns
 * FXT_DONE, or FXT_FAILED after telling what is wrong. */
int fxt_call_details_take(struct fxt_patterns *functions, const char *command, char *text, uint64_t *number);

/* What the listener collected, joined. */
struct fxt_call_details *fxt_call_details_of(const struct fxt_scan *scan);

/* The same, with the slowest calls of some functions, up to `most`; NULL if there are fewer than `least`,
 * which is said. */
struct fxt_call_details *fxt_call_details_find(const char *name, const struct fxt_scan *scan,
        const struct fxt_patterns *functions, size_t least, size_t most);

/* Explains some of the slowest calls, beside the median. Returns a status; what is wrong is said. */
int fxt_call_details_explain(
        struct fxt_call_details *m, const char *name, size_t first, size_t count, unsigned depth);

/* A line of how many calls there are, how long the median takes, and whether the trace has no switches. */
void fxt_call_details_print_calls(const struct fxt_call_details *m, const struct fxt_patterns *functions);

void fxt_call_details_forget(struct fxt_call_details *m);

#endif
