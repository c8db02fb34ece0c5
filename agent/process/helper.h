/*
 * The helper thread does what may not be done in a hook: it carries out the manager's session commands, or
 * without a manager saves full buffers. A fresh page costs more than the whole call that touches it first, so
 * it also touches pages ahead of the writers. The manager has allocated them by then
 * (launcher/session/memory.h); without one the helper's touch does.
 *
 * It is a raw clone, not a pthread: it can be started inside a hook (pthread_create allocates), libc does not
 * count it (a program whose main thread ends by pthread_exit still ends), and it runs on nothing of the
 * program's: its thread pointer shows a page of zeros.
 */
#ifndef FXT_AGENT_HELPER_H
#define FXT_AGENT_HELPER_H

#include "agent/base/self.h"

/* What the helper does besides populating pages; whoever knows the work says so (life.c). */
struct agent_helper_job {
	const uint32_t *wakeup; /* a futex: the helper waits until it moves */
	bool (*work)(void);     /* all that there is to do; true: again at once */
	void (*end)(void);      /* the helper's last act, if there is one */
	bool (*is_over)(void);  /* there will be no more: the helper ends */
	uint64_t idle_ns;       /* the longest wait, with no page to populate */
};

/* From the job's work: the longest wait from now on. */
void agent_helper_set_idle(uint64_t nanoseconds);

/* Before the first start, and in a forked child again. */
void agent_helper_prepare(struct agent_helper_job job);

/*
 * Starts the helper thread unless it runs, and sees to it that it populates pages ahead of the writers if it
 * is wanted. From any context, a hook's slow path too.
 */
void agent_helper_start(void);

/* In a forked child, which has no helper thread. */
void agent_helper_forget(void);

/* Ends the helper and waits until it has left. */
void agent_helper_stop(void);

/* Whether this process has a helper thread. */
bool agent_helper_is_running(void);

/*
 * Ends the helper, waits until it has left, and starts a new one. Between the two calls no other thread can
 * start or end one: both hold a lock with all signals blocked, so whoever calls one calls the other soon.
 * Only while it is running. make_way() returns what come_back() takes; errno is kept by come_back().
 */
uint64_t agent_helper_make_way(void);
void agent_helper_come_back(uint64_t mask);

/* Whether it is time to populate pages: enough was recorded to make it worth while. */
static inline bool agent_helper_wanted(void)
{
	return agent_is_standalone || agent_engine.rolling_used > FXT_PAGES_FIRST_BYTES ||
	       agent_engine.wrapped > 0;
}

#endif
