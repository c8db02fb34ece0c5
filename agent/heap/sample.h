/*
 * Sampling by bytes. One in `sample_bytes` of all allocated bytes is chosen at random, at
 * exponentially distributed distances (a Poisson process), and the block that contains it
 * is recorded. A block of s bytes is recorded with probability 1 - exp(-s / sample_bytes);
 * a reader weighs it by the inverse. The recorded blocks are remembered until they are
 * freed.
 */
#ifndef FXT_AGENT_SAMPLE_H
#define FXT_AGENT_SAMPLE_H

#include "callpath.h"

/* Once, in the constructor. The remembered blocks are wiped in a forked child. False: no
 * memory. */
bool agent_sample_prepare(void);

/* True if a block just allocated is to be recorded; then it is remembered. */
bool agent_sample_choose(struct agent_heap_thread *thread, const void *block, size_t size);

/* True if a block to be freed was remembered; it is forgotten. */
bool agent_sample_forget(const void *block);

#endif
