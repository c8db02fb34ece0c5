/*
 * All contact of the engine and the agent with the kernel. These are raw system calls: they
 * keep errno, are no cancellation points, and work if libc's wrappers are interposed or not
 * usable yet. All return the kernel's result: a value, or -errno.
 */
#ifndef FXT_WRITER_SYS_H
#define FXT_WRITER_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <time.h>
#include "arch.h"
#include "atomics.h"

/*
 * Stored when the program is about to confine itself (seccomp). A filter may answer a
 * system call of ours with death, so from then on everything here fails with -EPERM at
 * once, and locks are taken without blocking signals. A handler that interrupts a thread on
 * the slow path must not need a lock then. SYS_UNLOCKED: a jump has left the holder of a
 * lock, and no thread waits for that lock any more.
 */
enum sys_confinement { SYS_FREE = 0, SYS_CONFINED = 1, SYS_UNLOCKED = 2 };
extern uint32_t sys_confinement;

static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
	if (unlikely(load_relaxed(&sys_confinement) != SYS_FREE))
		return -1 /* EPERM */;
	return arch_system_call(number, a, b, c, d, e, f);
}

#define sys_call(number, a, b, c, d) sys_call6((number), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* Whether the result of a system call that returns an address is an error. */
static inline bool sys_is_error(long result)
{
	return result < 0 && result > -4096;
}

static inline int sys_getpid(void)
{
	return (int)sys_call(SYS_getpid, 0, 0, 0, 0);
}

/* The user as the kernel and the other ends of sockets see it. A preloaded library such as
 * fakeroot's may make libc's geteuid() return another. */
static inline unsigned sys_geteuid(void)
{
	return (unsigned)sys_call(SYS_geteuid, 0, 0, 0, 0);
}

static inline int sys_gettid(void)
{
	return (int)sys_call(SYS_gettid, 0, 0, 0, 0);
}

static inline bool sys_thread_is_alive(int pid, int tid)
{
	return sys_call(SYS_tgkill, pid, tid, 0, 0) != -3 /* ESRCH */;
}

/* Maps memory; returns NULL on failure. fd -1 = anonymous. */
static inline void *sys_map(size_t bytes, int protection, int flags, int fd)
{
	long result = sys_call6(SYS_mmap, 0, (long)bytes, protection, flags, fd, 0);

	return sys_is_error(result) ? NULL : (void *)result;
}

static inline long sys_unmap(void *address, size_t bytes)
{
	return sys_call(SYS_munmap, address, bytes, 0, 0);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static inline long sys_advise(void *address, size_t bytes, int advice)
{
	return sys_call(SYS_madvise, address, bytes, advice, 0);
}

static inline long sys_close(int fd)
{
	return sys_call(SYS_close, fd, 0, 0, 0);
}

/*
 * Waits until *word is no longer `expected`, it is woken, or `nanoseconds` have passed. The
 * futexes are shared: the other side may be another process.
 */
static inline long sys_futex_wait(const uint32_t *word, uint32_t expected, uint64_t nanoseconds)
{
	struct timespec timeout = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};

	return sys_call(SYS_futex, word, FUTEX_WAIT, expected, &timeout);
}

static inline long sys_futex_wake(const uint32_t *word, int waiters)
{
	return sys_call(SYS_futex, word, FUTEX_WAKE, waiters, 0);
}

/* When it returns, every running thread of this process has passed a full barrier.
 * Registered once per process. */
static inline long sys_membarrier_register(void)
{
	return sys_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0);
}

static inline long sys_membarrier(void)
{
	return sys_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0);
}

static inline void sys_pause_ns(uint64_t nanoseconds)
{
	struct timespec pause = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};

	sys_call(SYS_nanosleep, &pause, 0, 0, 0);
}

/* Means "no mask was saved". No saved mask has SIGKILL in it. */
#define SYS_NO_MASK (UINT64_C(1) << 8)

/* Blocks every signal of this thread, libc's internal ones too, so that no handler and no
 * cancellation can run. */
static inline uint64_t sys_block_signals(void)
{
	uint64_t all = ~UINT64_C(0), saved = 0;
	long error = sys_call(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &saved, sizeof(all));

	return error ? SYS_NO_MASK : saved;
}

static inline void sys_restore_signals(uint64_t saved)
{
	/* Done even if the process is confined by now: blocked signals must not stay
	 * blocked. */
	if (saved != SYS_NO_MASK)
		arch_system_call(
		        SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&saved, 0, sizeof(saved), 0, 0);
}

/*
 * A lock for the slow paths. Its holder runs with all signals blocked, so that a handler
 * can never find the lock held by the code it interrupted. Acquire and release order
 * everything that was written under it.
 */
struct fxt_lock {
	uint32_t word; /* 0 free, 1 held, 2 held and waited for */
};

/* Returns the signal mask to hand to fxt_unlock(). */
static inline uint64_t fxt_lock(struct fxt_lock *lock)
{
	uint64_t saved = sys_block_signals();
	uint32_t expected = 0;

	if (!compare_exchange_acquire(&lock->word, &expected, 1))
		while (exchange_acquire(&lock->word, 2) != 0 &&
		        load_relaxed(&sys_confinement) != SYS_UNLOCKED)
			sys_futex_wait(&lock->word, 2, 1000000000u);
	return saved;
}

/* The same for a thread that must not wait. False: another one holds the lock. */
static inline bool fxt_try_lock(struct fxt_lock *lock, uint64_t *saved)
{
	uint32_t expected = 0;

	*saved = sys_block_signals();
	if (compare_exchange_acquire(&lock->word, &expected, 1))
		return true;
	sys_restore_signals(*saved);
	return false;
}

static inline void fxt_unlock(struct fxt_lock *lock, uint64_t saved)
{
	if (exchange_release(&lock->word, 0) == 2)
		sys_futex_wake(&lock->word, 1);
	sys_restore_signals(saved);
}

#endif
