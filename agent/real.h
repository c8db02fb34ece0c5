/*
 * The functions behind those we interpose: the next of that name in the program's search order, looked up
 * once.
 */
#ifndef FXT_AGENT_REAL_H
#define FXT_AGENT_REAL_H

#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Called by programs that are compiled with _FORTIFY_SOURCE, and declared nowhere. */
void __longjmp_chk(struct __jmp_buf_tag environment[1], int value) __attribute__((noreturn));

/* Part of the C++ ABI, and declared nowhere. */
void __cxa_finalize(void *module);

#define REAL_FUNCTIONS(X)     \
	X(pthread_create)     \
	X(pthread_setname_np) \
	X(prctl)              \
	X(__cxa_finalize)     \
	X(longjmp)            \
	X(_longjmp)           \
	X(siglongjmp)         \
	X(__longjmp_chk)      \
	X(setcontext)         \
	X(swapcontext)        \
	X(execve)             \
	X(execvpe)            \
	X(execveat)           \
	X(posix_spawn)        \
	X(posix_spawnp)       \
	X(fork)               \
	X(wait4)

struct real_functions {
#define X(name) __typeof__(&name) name;
	REAL_FUNCTIONS(X)
#undef X
};

/* Looks all of them up at its first call, from the constructor or an interposed function called before it. */
const struct real_functions *real_functions(void);

#define REAL(name) (real_functions()->name)

#endif
