/*
 * Samples the calls of a provider on their way to the archive. The sample shows at the end
 * whether a few functions with very short calls make up most of the trace (fxt suggest
 * names them).
 */
#ifndef FXT_LAUNCHER_MANAGER_CALL_SAMPLE_H
#define FXT_LAUNCHER_MANAGER_CALL_SAMPLE_H

#include <stdint.h>

/* Calls shorter than a second divided by this, a microsecond, are of little use by
 * themselves. */
#define FXT_BRIEF_PER_SECOND 1000000

struct fxt_sampled_function {
	uint32_t calls, brief;
};

/* All zeros is an empty sample. */
struct fxt_call_sample {
	struct fxt_sampled_function *functions; /* by string index; NULL: no call was seen yet */
	uint64_t events;
};

/* Samples the first of the records, which must be whole and in the order of the archive.
 * ticks_per_second is the session's. If memory is short, nothing is sampled. */
void fxt_call_sample_take(
        struct fxt_call_sample *sample, const void *records, uint64_t bytes, uint64_t ticks_per_second);

/* Returns the share of the events, 0 to 1, in the ten most called functions with calls as
 * brief as fxt suggest requires. Empties the sample. */
double fxt_call_sample_end(struct fxt_call_sample *sample);

#endif
