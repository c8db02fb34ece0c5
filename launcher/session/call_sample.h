/*
 * A sample of a provider's calls on their way into the archive: enough to tell at the end whether a few
 * functions, with calls too short to tell much, make most of the trace (fxt suggest names them).
 */
#ifndef FXT_LAUNCHER_SESSION_CALL_SAMPLE_H
#define FXT_LAUNCHER_SESSION_CALL_SAMPLE_H

#include <stdint.h>

/* Calls shorter than a second by this, a microsecond, tell little by themselves. */
#define FXT_BRIEF_PER_SECOND 1000000

struct fxt_sampled_function {
	uint32_t calls, brief;
};

/* All zeros is an empty one. */
struct fxt_call_sample {
	struct fxt_sampled_function *functions; /* by string index; NULL: no call was seen yet */
	uint64_t events;
};

/* Looks at the first of the records, which are whole and in the order of the archive. ticks_per_second is the
 * session's. Without memory nothing is sampled. */
void fxt_call_sample_take(
        struct fxt_call_sample *sample, const void *records, uint64_t bytes, uint64_t ticks_per_second);

/* The share of the events, 0 to 1, that are of the ten most called functions with calls as brief as fxt
 * suggest wants them. The sample is empty afterwards. */
double fxt_call_sample_end(struct fxt_call_sample *sample);

#endif
