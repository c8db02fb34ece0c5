/* The few functions of libc that the agent brings along for itself (libc.c). */
#ifndef FXT_AGENT_LIBC_H
#define FXT_AGENT_LIBC_H

/* Libc's own clock_gettime(), which needs no system call; NULL: none. In the constructor, before anything
 * reads a clock. */
void agent_libc_prepare(void *function);

#endif
