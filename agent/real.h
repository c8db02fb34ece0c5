/*
 * The functions behind those we interpose: the next of that name in the program's search order, looked up
 * once.
 */
#ifndef FXT_AGENT_REAL_H
#define FXT_AGENT_REAL_H

#include <grp.h>
#include <pthread.h>
#include <sched.h>
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

#define REAL_FUNCTIONS(X)             \
	X(pthread_create)             \
	X(pthread_setname_np)         \
	X(prctl)                      \
	X(syscall)                    \
	X(__cxa_finalize)             \
	X(longjmp)                    \
	X(_longjmp)                   \
	X(siglongjmp)                 \
	X(__longjmp_chk)              \
	X(setcontext)                 \
	X(swapcontext)                \
	X(execve)                     \
	X(execvpe)                    \
	X(execveat)                   \
	X(fexecve)                    \
	X(posix_spawn)                \
	X(posix_spawnp)               \
	X(fork)                       \
	X(clone)                      \
	X(setns)                      \
	X(unshare)                    \
	X(setuid)                     \
	X(seteuid)                    \
	X(setreuid)                   \
	X(setresuid)                  \
	X(setgid)                     \
	X(setegid)                    \
	X(setregid)                   \
	X(setresgid)                  \
	X(setgroups)                  \
	X(initgroups)                 \
	X(waitid)                     \
	X(wait4)                      \
	X(thrd_create)                \
	X(pthread_mutex_lock)         \
	X(pthread_mutex_trylock)      \
	X(pthread_mutex_timedlock)    \
	X(pthread_mutex_unlock)       \
	X(pthread_rwlock_rdlock)      \
	X(pthread_rwlock_tryrdlock)   \
	X(pthread_rwlock_wrlock)      \
	X(pthread_rwlock_trywrlock)   \
	X(pthread_rwlock_unlock)      \
	X(pthread_cond_wait)          \
	X(pthread_cond_timedwait)     \
	X(pthread_cond_signal)        \
	X(pthread_cond_broadcast)     \
	X(sem_wait)                   \
	X(sem_trywait)                \
	X(sem_timedwait)              \
	X(sem_post)                   \
	X(pthread_barrier_wait)       \
	X(pthread_join)               \
	X(pthread_tryjoin_np)         \
	X(pthread_timedjoin_np)       \
	X(pthread_clockjoin_np)       \
	X(pthread_mutex_clocklock)    \
	X(pthread_rwlock_timedrdlock) \
	X(pthread_rwlock_timedwrlock) \
	X(pthread_rwlock_clockrdlock) \
	X(pthread_rwlock_clockwrlock) \
	X(pthread_cond_clockwait)     \
	X(sem_clockwait)              \
	X(mtx_lock)                   \
	X(mtx_trylock)                \
	X(mtx_timedlock)              \
	X(mtx_unlock)                 \
	X(cnd_wait)                   \
	X(cnd_timedwait)              \
	X(cnd_signal)                 \
	X(cnd_broadcast)              \
	X(thrd_join)

struct real_functions {
#define X(name) __typeof__(&name) name;
	REAL_FUNCTIONS(X)
#undef X
};

/* Looks all of them up at its first call, from the constructor or an interposed function called before it. */
const struct real_functions *real_functions(void);

#define REAL(name) (real_functions()->name)

#endif
