/* The few functions of libc that the agent brings along for itself (libc.c). */
#ifndef FXT_AGENT_LIBC_H
#define FXT_AGENT_LIBC_H

/* Sets libc's own clock_gettime(), which needs no system call; NULL: none. Called by the
 * constructor, before anything reads a clock. */
void agent_libc_prepare(void *function);

/*
 * Returns the environment: the program's own or, before libc has set it, the one that the
 * kernel put on the stack. NULL: it cannot be found yet. Libc sets `environ` in its
 * constructor, which runs after the agent's.
 */
char **agent_libc_environment(void);

/* getenv() in that environment. */
char *agent_getenv(const char *name);

/* The first sets the environment on the stack, which the loader passes. The second is
 * called once libc has its own, or none if the program clears it. */
void agent_libc_set_environment(char **initial);
void agent_libc_forget_environment(void);

#endif
