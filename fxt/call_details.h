/*
 * Shared by the commands that answer from a trace's single calls, waits and context
 * switches. A listener collects these during the scan.
 *
 *   fxt_call_details_init(&details);
 *   wanted.listener = &details.listener; (options.h)
 *   for each trace:   fxt_call_details_finish() or fxt_call_details_find()
 *   fxt_call_details_free(&details);
 */
#ifndef FXT_FXT_CALL_DETAILS_H
#define FXT_FXT_CALL_DETAILS_H

#include "reader/time/causes.h"
#include "reader/time/death.h"
#include "reader/time/hops.h"
#include "reader/slices/pattern.h"
#include "reader/stats/slowest.h"

/* The time and the kind of a process's violent end. */
struct fxt_call_details_death {
	uint64_t ns;
	struct fxt_death how;
};

/* Belongs to one trace, until the next one is scanned. */
struct fxt_call_details {
	struct fxt_scan_listener listener;
	const struct fxt_scan *scan;
	struct fxt_call_details_death *deaths;
	size_t death_count, death_room;
	struct fxt_timeline timeline;
	struct fxt_faults faults;
	struct fxt_waits waits;
	bool follows_flows;          /* set before the scan: `hops` is wanted */
	struct fxt_hops hops;        /* keeps each event of a flow */
	const struct fxt_values *by; /* set before the search: the slowest call of each value; or
	                                NULL */
	bool has_conditions;         /* set before the search: --where chose the calls */
	struct fxt_slowest slowest;  /* set after the search */
	/* The call that the others are compared with, set after the search. With conditions
	 * it stands for the `others`, the calls that do not satisfy them: what all chosen
	 * calls have in common would else seem usual. */
	struct fxt_slow_call usual;
	uint64_t others;          /* 0: it is the median of the calls themselves */
	struct fxt_causes causes; /* set after the explanation */
};

void fxt_call_details_init(struct fxt_call_details *m);
void fxt_call_details_free(struct fxt_call_details *m);

/* Adds the functions that a command is to look for. Unless `number` is NULL, removes the
 * suffix that selects one of the calls (":3") from the text and returns it in *number: 1
 * if the text has none. `text` is NULL if none was given. Returns FXT_DONE, or
 * FXT_FAILED after reporting the error. */
int fxt_call_details_take(struct fxt_patterns *functions, const char *command, char *text, uint64_t *number);

/* Joins everything that the listener collected. */
void fxt_call_details_finish(struct fxt_call_details *m, const struct fxt_scan *scan);

/* As above, and finds the slowest calls of `functions`, at most `most`. Returns false,
 * after reporting it, if there are fewer than `least`. */
bool fxt_call_details_find(struct fxt_call_details *m, const char *name, const struct fxt_scan *scan,
        const struct fxt_patterns *functions, size_t least, size_t most);

/* Whether there is another call to compare with. */
static inline bool fxt_call_details_compares(const struct fxt_call_details *m)
{
	return m->slowest.all_calls > 1 || m->others > 0;
}

/* Explains `count` of the slowest calls, from `first` on, against the usual call if there is another.
 * Returns an exit status; errors are reported. */
int fxt_call_details_explain(
        struct fxt_call_details *m, const char *name, size_t first, size_t count, unsigned depth);

/* Prints a line with the number of calls and the median duration, and says so if the
 * trace has no context switches. */
void fxt_call_details_print_calls(const struct fxt_call_details *m, const struct fxt_patterns *functions);

#endif
