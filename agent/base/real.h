/*
 * The functions behind those that the agent interposes: the next definition of each name in
 * the program's search order, looked up once.
 */
#ifndef FXT_AGENT_REAL_H
#define FXT_AGENT_REAL_H

#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <syslog.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "writer/engine/waits.h"

/* Called by programs that are compiled with _FORTIFY_SOURCE, and declared in no header. */
void __longjmp_chk(struct __jmp_buf_tag environment[1], int value) __attribute__((noreturn));
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t bytes, size_t room, int flags,
        __SOCKADDR_ARG address, socklen_t *restrict address_bytes);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(
        struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t at, size_t room);
char *__fgets_chk(char *buffer, size_t room, int bytes, FILE *stream);
size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *stream);
void __syslog_chk(int priority, int flag, const char *format, ...);
void __vsyslog_chk(int priority, int flag, const char *format, va_list list);

/* Declared by some versions of libc only. */
pid_t _Fork(void);
sighandler_t bsd_signal(int signal, sighandler_t handler);

/* Part of the C++ ABI, and declared in no header. */
void __cxa_finalize(void *module);

/* The functions that the agent interposes and calls; those that wait have a table of their
 * own (writer/engine/waits.h). */
#define REAL_FUNCTIONS(X)         \
	FXT_WAIT_FUNCTIONS(X)     \
	X(pthread_create)         \
	X(pthread_key_create)     \
	X(pthread_setname_np)     \
	X(prctl)                  \
	X(syscall)                \
	X(__cxa_finalize)         \
	X(longjmp)                \
	X(_longjmp)               \
	X(siglongjmp)             \
	X(__longjmp_chk)          \
	X(setcontext)             \
	X(swapcontext)            \
	X(sigaltstack)            \
	X(getenv)                 \
	X(execve)                 \
	X(execvpe)                \
	X(execveat)               \
	X(fexecve)                \
	X(posix_spawn)            \
	X(posix_spawnp)           \
	X(fork)                   \
	X(_Fork)                  \
	X(clone)                  \
	X(setns)                  \
	X(unshare)                \
	X(setuid)                 \
	X(seteuid)                \
	X(setreuid)               \
	X(setresuid)              \
	X(setgid)                 \
	X(setegid)                \
	X(setregid)               \
	X(setresgid)              \
	X(setgroups)              \
	X(initgroups)             \
	X(kill)                   \
	X(raise)                  \
	X(sigaction)              \
	X(signal)                 \
	X(ssignal)                \
	X(bsd_signal)             \
	X(sysv_signal)            \
	X(__sysv_signal)          \
	X(thrd_create)            \
	X(tss_create)             \
	X(pthread_mutex_init)     \
	X(pthread_mutex_destroy)  \
	X(pthread_rwlock_init)    \
	X(pthread_rwlock_destroy) \
	X(sem_init)               \
	X(sem_destroy)            \
	X(mtx_init)               \
	X(mtx_destroy)            \
	X(pthread_mutex_unlock)   \
	X(pthread_rwlock_unlock)  \
	X(pthread_cond_signal)    \
	X(pthread_cond_broadcast) \
	X(sem_post)               \
	X(mtx_unlock)             \
	X(cnd_signal)             \
	X(cnd_broadcast)          \
	X(__poll_chk)             \
	X(__ppoll_chk)            \
	X(__read_chk)             \
	X(__recv_chk)             \
	X(__recvfrom_chk)         \
	X(lockf64)                \
	X(fcntl64)                \
	X(pread64)                \
	X(__pread_chk)            \
	X(__pread64_chk)          \
	X(pwrite64)               \
	X(sendfile64)             \
	X(__fgets_chk)            \
	X(__getdelim)             \
	X(__fread_chk)            \
	X(vsyslog)                \
	X(__vsyslog_chk)

struct real_functions {
#define X(name, ...) __typeof__(&name) name;
	REAL_FUNCTIONS(X)
#undef X
};

/* Looks all of them up at its first call, which is made by the constructor or by an
 * interposed function called earlier. */
const struct real_functions *real_functions(void);

#define REAL(name) (real_functions()->name)

#endif
