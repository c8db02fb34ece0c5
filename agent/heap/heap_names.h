/*
 * The names that records of the heap go by, and the headers that are made of them, in agent_heap; and the
 * instant that tells how this heap is recorded.
 */
#ifndef FXT_AGENT_HEAP_NAMES_H
#define FXT_AGENT_HEAP_NAMES_H

#include <stdbool.h>

/* Sees to it that they are there, before the first record of the heap in a generation of the engine. With the
 * engine's lock held. False: the durable buffer has no room for them. */
bool agent_heap_announce(void);

#endif
