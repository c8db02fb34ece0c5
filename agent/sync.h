/*
 * Waits for locks and other threads, as slices of category "sync", with arrows from whoever ended them. What
 * does not wait costs no record.
 */
#ifndef FXT_AGENT_SYNC_H
#define FXT_AGENT_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/* An arrow's identity, for its two ends; never 0. Flows are told apart within a process. */
uint64_t agent_new_flow(void);

/* A slice with nothing in it but one end of a flow, which has to lie in a slice; flow 0: without it. False:
 * the flow's end was not recorded, so the other one must not be. */
bool agent_mark_flow(const char *category, const char *name, uint64_t flow, bool is_end);

/* Whoever waits for the object may go on because of what the calling thread does next. */
void agent_released(const void *object, const char *name);

#endif
