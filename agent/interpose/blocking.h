/* A call that may wait, as a frame on the shadow stack. It gets a record if it took long
 * (blocking.c). Both functions keep errno, and may run in a handler. */
#ifndef FXT_AGENT_BLOCKING_H
#define FXT_AGENT_BLOCKING_H

#include <stdbool.h>
#include <stdint.h>
#include "writer/engine/thread_writer.h"
#include "writer/engine/waits.h"

/* Begins a wait for an object as in fxt_wait_ref(). Returns what agent_blocking_end()
 * needs. */
uint64_t agent_blocking_begin(enum fxt_wait call, uint64_t object);

void agent_blocking_end(uint64_t begin);

/* A descriptor as it stands in the frame's reference (writer/engine/waits.h). */
static inline uint64_t agent_blocking_descriptor(int fd)
{
	return (uint32_t)fd + 1u;
}

/* For waits that sync.c begins and ends. */
bool agent_blocking_is_recorded(void);

/* Whether a wait that ends at the writer's latest time was too short for a record; drops
 * the frame of such a wait. */
bool agent_blocking_is_brief(const struct fxt_thread_writer *writer, uint64_t begin);
void agent_blocking_drop(const struct fxt_thread_writer *writer, const struct fxt_frame *frame);

#endif
