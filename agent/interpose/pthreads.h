/*
 * Threads: born with a slot, so that each has a name in the trace even if it calls nothing we record; at
 * their end what they left open is recorded as abandoned (pthread_exit and cancellation run no exit hooks).
 */
#ifndef FXT_AGENT_PTHREADS_H
#define FXT_AGENT_PTHREADS_H

/* Once, in the constructor: learns of the end of threads, the calling one's too. */
void agent_pthreads_prepare(void);

#endif
