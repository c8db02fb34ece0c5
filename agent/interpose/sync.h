/*
 * Waits for locks and other threads, as slices of category "sync", with arrows from whoever ended them. What
 * does not wait costs no record.
 */
#ifndef FXT_AGENT_SYNC_H
#define FXT_AGENT_SYNC_H

#include <stdint.h>

/* Once, at the beginning: whose functions ours stand before. */
void agent_sync_prepare(void);

/* In a forked child, where none of the threads is that waited. */
void agent_sync_forget(void);

/* Whoever waits for the object may go on because of what the calling thread does next. The arrow that begins
 * here; 0 = nobody waits. */
uint64_t agent_sync_released(const void *object, const char *name);

#endif
