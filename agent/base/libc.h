/* The few functions of libc that the agent brings along for itself (libc.c). */
#ifndef FXT_AGENT_LIBC_H
#define FXT_AGENT_LIBC_H

/* Libc's own clock_gettime(), which needs no system call; NULL: none. In the constructor, before anything
 * reads a clock. */
void agent_libc_prepare(void *function);

/*
 * The environment: the program's own, and before libc has it the one that the kernel put on the stack. NULL:
 * it cannot be found yet. Libc sets `environ` in its constructor, which runs after ours. getenv() of the
 * agent looks here.
 */
char **agent_libc_environment(void);

/* The loader tells the one on the stack; and from here on libc has its own, or none if the program clears it.
 */
void agent_libc_tell_environment(char **initial);
void agent_libc_forget_environment(void);

#endif
