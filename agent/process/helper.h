/*
 * The helper thread does the work that is not allowed in a hook: it carries out the
 * manager's session commands or, without a manager, saves full buffers. A fresh page costs
 * more than the whole call that touches it first, so it also touches pages ahead of the
 * writers. The manager has allocated these pages by then (launcher/manager/memory.h);
 * without a manager the helper's touch allocates them.
 *
 * It is a raw clone, not a pthread. It can be started inside a hook (pthread_create
 * allocates). libc does not count it, so a program with a main thread that ends by
 * pthread_exit still ends. It uses no memory of the program: its thread pointer leads to a
 * page of zeros.
 */
#ifndef FXT_AGENT_HELPER_H
#define FXT_AGENT_HELPER_H

#include "agent/base/self.h"

/* The helper's work besides populating pages. The caller that knows the work provides it
 * (life.c). */
struct agent_helper_job {
	const uint32_t *wakeup; /* a futex: the helper waits until it changes */
	bool (*work)(void);     /* does all pending work; true: call again at once */
	void (*end)(void);      /* the helper's last act; NULL: there is none */
	bool (*is_over)(void);  /* true: no more work will come, and the helper ends */
	uint64_t idle_ns;       /* the longest wait if there is no page to populate */
};

/* From the job's work: sets the longest wait from now on. */
void agent_helper_set_idle(uint64_t nanoseconds);

/* Before the first start, and again in a forked child. */
void agent_helper_prepare(struct agent_helper_job job);

/* Starts the helper thread unless it runs. If wanted, the helper populates pages ahead of
 * the writers. From any context, also a hook's slow path. */
void agent_helper_start(void);

/* In a forked child, which has no helper thread. */
void agent_helper_forget(void);

/* Ends the helper and waits until it has left. */
void agent_helper_stop(void);

/* The same, but waits half a second at most: a launcher may have stopped the helper. False:
 * it goes on as before. */
bool agent_helper_dismiss(void);

/* True if this process has a helper thread. */
bool agent_helper_is_running(void);

/*
 * make_way() ends the helper and waits until it has left; come_back() starts a new one.
 * Between the two calls no other thread can start or end a helper. Both calls hold a lock
 * with all signals blocked, so a caller of the one must soon call the other. Only while the
 * helper is running. make_way() returns the argument of come_back(). come_back() keeps
 * errno.
 */
uint64_t agent_helper_make_way(void);
void agent_helper_come_back(uint64_t mask);

/* True if it is time to populate pages: enough was recorded to make it worth while. */
static inline bool agent_helper_wanted(void)
{
	return agent_is_standalone || agent_engine.rolling_used > FXT_PAGES_FIRST_BYTES ||
	       agent_engine.wrapped > 0;
}

#endif
