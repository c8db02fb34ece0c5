/*
 * Sampling by bytes: of all bytes allocated one in `sample_bytes` is chosen at random, at exponentially
 * distributed distances (a Poisson process), and the block it lies in is recorded. A block of s bytes is
 * recorded with probability 1 - exp(-s / sample_bytes), by the inverse of which a reader weighs it. The
 * blocks recorded are remembered until they are freed.
 */
#ifndef FXT_AGENT_SAMPLE_H
#define FXT_AGENT_SAMPLE_H

#include "callpath.h"

/* Once, in the constructor; what is remembered is wiped in a forked child. False: no memory. */
bool agent_sample_prepare(void);

/* Whether a block just allocated is to be recorded; then it is remembered. */
bool agent_sample_choose(struct agent_heap_thread *thread, const void *block, size_t size);

/* Whether a block to be freed was remembered; it is no longer. */
bool agent_sample_forget(const void *block);

#endif
