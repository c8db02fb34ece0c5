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
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

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

/* Declared by some versions of libc only. */
pid_t _Fork(void);
sighandler_t bsd_signal(int signal, sighandler_t handler);

/* Part of the C++ ABI, and declared in no header. */
void __cxa_finalize(void *module);

#define REAL_FUNCTIONS(X)             \
	X(pthread_create)             \
	X(pthread_key_create)         \
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
	X(sigaltstack)                \
	X(execve)                     \
	X(execvpe)                    \
	X(execveat)                   \
	X(fexecve)                    \
	X(posix_spawn)                \
	X(posix_spawnp)               \
	X(fork)                       \
	X(_Fork)                      \
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
	X(kill)                       \
	X(raise)                      \
	X(sigaction)                  \
	X(signal)                     \
	X(ssignal)                    \
	X(bsd_signal)                 \
	X(sysv_signal)                \
	X(__sysv_signal)              \
	X(thrd_create)                \
	X(tss_create)                 \
	X(pthread_mutex_lock)         \
	X(pthread_mutex_timedlock)    \
	X(pthread_mutex_unlock)       \
	X(pthread_rwlock_rdlock)      \
	X(pthread_rwlock_wrlock)      \
	X(pthread_rwlock_unlock)      \
	X(pthread_cond_wait)          \
	X(pthread_cond_timedwait)     \
	X(pthread_cond_signal)        \
	X(pthread_cond_broadcast)     \
	X(sem_wait)                   \
	X(sem_timedwait)              \
	X(sem_post)                   \
	X(pthread_barrier_wait)       \
	X(pthread_join)               \
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
	X(mtx_timedlock)              \
	X(mtx_unlock)                 \
	X(cnd_wait)                   \
	X(cnd_timedwait)              \
	X(cnd_signal)                 \
	X(cnd_broadcast)              \
	X(thrd_join)                  \
	X(nanosleep)                  \
	X(clock_nanosleep)            \
	X(usleep)                     \
	X(sleep)                      \
	X(thrd_sleep)                 \
	X(poll)                       \
	X(__poll_chk)                 \
	X(ppoll)                      \
	X(__ppoll_chk)                \
	X(select)                     \
	X(pselect)                    \
	X(epoll_wait)                 \
	X(epoll_pwait)                \
	X(read)                       \
	X(__read_chk)                 \
	X(readv)                      \
	X(recv)                       \
	X(__recv_chk)                 \
	X(recvfrom)                   \
	X(__recvfrom_chk)             \
	X(recvmsg)                    \
	X(recvmmsg)                   \
	X(write)                      \
	X(writev)                     \
	X(send)                       \
	X(sendto)                     \
	X(sendmsg)                    \
	X(sendmmsg)                   \
	X(accept)                     \
	X(accept4)                    \
	X(connect)                    \
	X(fsync)                      \
	X(fdatasync)                  \
	X(flock)                      \
	X(lockf)                      \
	X(lockf64)                    \
	X(fcntl)                      \
	X(fcntl64)                    \
	X(pread)                      \
	X(pread64)                    \
	X(__pread_chk)                \
	X(__pread64_chk)              \
	X(pwrite)                     \
	X(pwrite64)                   \
	X(sendfile)                   \
	X(sendfile64)                 \
	X(splice)                     \
	X(mq_receive)                 \
	X(mq_timedreceive)            \
	X(mq_send)                    \
	X(mq_timedsend)               \
	X(fgets)                      \
	X(__fgets_chk)                \
	X(getline)                    \
	X(getdelim)                   \
	X(__getdelim)                 \
	X(fread)                      \
	X(__fread_chk)                \
	X(fflush)                     \
	X(fclose)                     \
	X(pclose)                     \
	X(sigwait)                    \
	X(sigwaitinfo)                \
	X(sigtimedwait)               \
	X(sigsuspend)                 \
	X(pause)                      \
	X(msgrcv)                     \
	X(msgsnd)                     \
	X(semop)                      \
	X(semtimedop)                 \
	X(system)                     \
	X(getaddrinfo)                \
	X(getnameinfo)                \
	X(gethostbyname)              \
	X(msync)                      \
	X(sync)

struct real_functions {
#define X(name) __typeof__(&name) name;
	REAL_FUNCTIONS(X)
#undef X
};

/* Looks all of them up at its first call, which is made by the constructor or by an
 * interposed function called earlier. */
const struct real_functions *real_functions(void);

#define REAL(name) (real_functions()->name)

#endif
