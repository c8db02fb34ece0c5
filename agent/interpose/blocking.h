/* A call that may wait, as a frame on the shadow stack. It gets a record if it took long
 * (blocking.c). Both functions keep errno, and may run in a handler. */
#ifndef FXT_AGENT_BLOCKING_H
#define FXT_AGENT_BLOCKING_H

#include <stdint.h>
#include "writer/engine/waits.h"

/* Begins a wait for an object as in fxt_wait_ref(). Returns what agent_blocking_end()
 * needs. */
uint64_t agent_blocking_begin(enum fxt_wait call, uint64_t object);

void agent_blocking_end(uint64_t begin);

#endif
