/* The names used by heap records and the headers made of them, in agent_heap; and the
 * instant that describes how this heap is recorded. */
#ifndef FXT_AGENT_HEAP_NAMES_H
#define FXT_AGENT_HEAP_NAMES_H

#include <stdbool.h>

/* Writes the names and that instant unless they are there, before the first heap record in
 * a generation of the engine. With the engine's lock held. False: the durable buffer has no
 * room for them. */
bool agent_heap_announce(void);

#endif
