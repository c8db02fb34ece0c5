/* Threads. A new thread gets a slot at once, so that it has a name in the trace even if it
 * makes no recorded call. At its end its open calls are recorded as abandoned, because
 * pthread_exit and cancellation run no exit hooks. */
#ifndef FXT_AGENT_PTHREADS_H
#define FXT_AGENT_PTHREADS_H

/* Once, in the constructor: has the end of every thread noticed, also of the calling
 * one. */
void agent_pthreads_prepare(void);

/* The calling thread has this name in the trace from now on; its first 15 bytes count. */
void agent_rename_self(const char *name);

#endif
