/*
 * The functions behind those we interpose: the next of that name in the program's search order, looked up
 * once.
 */
#ifndef FXT_AGENT_REAL_H
#define FXT_AGENT_REAL_H

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

/* Called by programs that are compiled with _FORTIFY_SOURCE, and declared nowhere. */
void __longjmp_chk(struct __jmp_buf_tag environment[1], int value) __attribute__((noreturn));

/* Part of the C++ ABI, and declared nowhere. */
void __cxa_finalize(void *module);

#define REAL_FUNCTIONS(X)           \
	X(pthread_create)           \
	X(pthread_setname_np)       \
	X(prctl)                    \
	X(__cxa_finalize)           \
	X(longjmp)                  \
	X(_longjmp)                 \
	X(siglongjmp)               \
	X(__longjmp_chk)            \
	X(setcontext)               \
	X(swapcontext)              \
	X(execve)                   \
	X(execvpe)                  \
	X(execveat)                 \
	X(posix_spawn)              \
	X(posix_spawnp)             \
	X(fork)                     \
	X(wait4)                    \
	X(thrd_create)              \
	X(pthread_mutex_lock)       \
	X(pthread_mutex_trylock)    \
	X(pthread_mutex_timedlock)  \
	X(pthread_mutex_unlock)     \
	X(pthread_rwlock_rdlock)    \
	X(pthread_rwlock_tryrdlock) \
	X(pthread_rwlock_wrlock)    \
	X(pthread_rwlock_trywrlock) \
	X(pthread_rwlock_unlock)    \
	X(pthread_cond_wait)        \
	X(pthread_cond_timedwait)   \
	X(pthread_cond_signal)      \
	X(pthread_cond_broadcast)   \
	X(sem_wait)                 \
	X(sem_trywait)              \
	X(sem_timedwait)            \
	X(sem_post)                 \
	X(pthread_barrier_wait)     \
	X(pthread_join)             \
	X(pthread_tryjoin_np)

struct real_functions {
#define X(name) __typeof__(&name) name;
	REAL_FUNCTIONS(X)
#undef X
};

/* Looks all of them up at its first call, from the constructor or an interposed function called before it. */
const struct real_functions *real_functions(void);

#define REAL(name) (real_functions()->name)

#endif
