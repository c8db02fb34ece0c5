/* Waits for locks and other threads, as slices of category "sync", with arrows from the
 * thread that ended the wait. A call that does not wait costs no record. */
#ifndef FXT_AGENT_SYNC_H
#define FXT_AGENT_SYNC_H

#include <stdbool.h>
#include <stdint.h>
#include "writer/engine/waits.h"

/* Once, at the beginning: looks up the functions that ours interpose. */
void agent_sync_prepare(void);

/* In a forked child, which has none of the threads that waited. */
void agent_sync_forget(void);

/* The next action of the calling thread may wake a waiter of this object. Returns the id of
 * the arrow that begins here; 0 = there is no waiter. */
uint64_t agent_sync_released(const void *object, const char *name);

struct agent_wait {
	enum fxt_wait call;
	const void *object;
	uint64_t own_flow; /* begun by the same call */
	bool may_be_brief; /* a short wait that no thread ended leaves no record */
	/* inside */
	uint64_t begin;   /* 0 = it is not recorded */
	uint32_t earlier; /* the latest flow that began before it */
};

/* The end of a wait: it was woken; it timed out or a signal handler ran; its thread was
 * cancelled. */
enum agent_wait_end { WAIT_WOKEN, WAIT_IN_VAIN, WAIT_ABANDONED };

/* Both keep nothing of the program: save errno around agent_sync_end(). */
void agent_sync_begin(struct agent_wait *wait);
void agent_sync_end(const struct agent_wait *wait, enum agent_wait_end end);

/*
 * Arrows of a call that returns how many waiters it woke. Waiters must find the
 * arrows when they wake, and the caller knows the number only later. So the arrows are
 * offered before the call, and written or withdrawn after it.
 */
struct agent_offer {
	const void *object;
	uint64_t ticks[3];
	uint32_t first, count; /* numbers of flows */
};

/* Before the call, which wakes `most` waiters of the object at most. False: no arrow is to
 * be had. */
bool agent_sync_offer(struct agent_offer *offer, const void *object, uint32_t most);

/* After the call. The name stays readable. */
void agent_sync_woke(const struct agent_offer *offer, uint64_t woken, const char *name);

#endif
