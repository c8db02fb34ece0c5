/*
 * The places of the other threads while a launcher has stopped them
 * (agent/process/attach.h). Code must not change while a thread is in the middle of it: the
 * thread would go on inside another instruction. A signal handler leaves such an address on
 * the stack, too.
 */
#ifndef FXT_AGENT_STOPPED_H
#define FXT_AGENT_STOPPED_H

#include <stdbool.h>
#include <stdint.h>

/* Looks where the threads are, from the kernel and on their stacks. Running threads are
 * left out. The memory of this process is open (code.h). Under the engine's lock. */
void agent_stopped_look(void);

/* Threads run again, or no look was needed: agent_stopped_in() is false from now on. */
void agent_stopped_forget(void);

/* Whether a thread may go on between these addresses, the first one excluded. */
bool agent_stopped_in(uint64_t start, uint64_t end);

#endif
