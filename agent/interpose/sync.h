/* Waits for locks and other threads, as slices of category "sync", with arrows from the
 * thread that ended the wait. A call that does not wait costs no record. */
#ifndef FXT_AGENT_SYNC_H
#define FXT_AGENT_SYNC_H

#include <stdint.h>

/* Once, at the beginning: looks up the functions that ours interpose. */
void agent_sync_prepare(void);

/* In a forked child, which has none of the threads that waited. */
void agent_sync_forget(void);

/* The next action of the calling thread may wake a waiter of this object. Returns the id of
 * the arrow that begins here; 0 = there is no waiter. */
uint64_t agent_sync_released(const void *object, const char *name);

#endif
