/*
 * System calls by number (raw_calls.h). Most are futexes: locks, semaphores, latches and
 * barriers of C++20, std::atomic::wait(), std::future and static variables of functions in
 * libstdc++, and the locks of GLib and Rust, are made of them.
 *
 * A futex's address is the object waited for. Its memory is never read here: the kernel
 * refuses a bad address, and a read would end the program. The result of a wake says how
 * many threads it woke, so each of them has an arrow from its waker, and a wake that woke
 * none has no record.
 */
#include "raw_calls.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include "agent/hook/events.h"
#include "blocking.h"
#include "sync.h"

/* ---- calls with a name of their own ---- */

/* By number, 1 + the waiting function of the same kind (writer/engine/waits.h); 0 = the
 * call does not wait. The first argument of a wait for a descriptor is the descriptor. */
static const uint8_t raw_calls[] = {
#define RAW_CALL(call, name) [SYS_##call] = 1 + FXT_WAIT_##name
        RAW_CALL(read, read),
        RAW_CALL(readv, readv),
        RAW_CALL(pread64, pread),
        RAW_CALL(write, write),
        RAW_CALL(writev, writev),
        RAW_CALL(pwrite64, pwrite),
        RAW_CALL(recvfrom, recvfrom),
        RAW_CALL(recvmsg, recvmsg),
        RAW_CALL(recvmmsg, recvmmsg),
        RAW_CALL(sendto, sendto),
        RAW_CALL(sendmsg, sendmsg),
        RAW_CALL(sendmmsg, sendmmsg),
        RAW_CALL(accept, accept),
        RAW_CALL(accept4, accept4),
        RAW_CALL(connect, connect),
        RAW_CALL(sendfile, sendfile),
        RAW_CALL(splice, splice),
        RAW_CALL(fsync, fsync),
        RAW_CALL(fdatasync, fdatasync),
        RAW_CALL(flock, flock),
        RAW_CALL(mq_timedreceive, mq_timedreceive),
        RAW_CALL(mq_timedsend, mq_timedsend),
        RAW_CALL(epoll_pwait, epoll_pwait),
        RAW_CALL(ppoll, ppoll),
        RAW_CALL(pselect6, pselect),
        RAW_CALL(nanosleep, nanosleep),
        RAW_CALL(clock_nanosleep, clock_nanosleep),
        RAW_CALL(rt_sigtimedwait, sigtimedwait),
        RAW_CALL(rt_sigsuspend, sigsuspend),
        RAW_CALL(msgrcv, msgrcv),
        RAW_CALL(msgsnd, msgsnd),
        RAW_CALL(semtimedop, semtimedop),
        RAW_CALL(semop, semop),
        RAW_CALL(wait4, wait4),
        RAW_CALL(waitid, waitid),
        RAW_CALL(msync, msync),
        RAW_CALL(sync, sync),
        RAW_CALL(io_getevents, io_getevents),
#ifdef SYS_io_uring_enter
        RAW_CALL(io_uring_enter, io_uring_enter),
#endif
#ifdef SYS_epoll_pwait2
        RAW_CALL(epoll_pwait2, epoll_pwait2),
#endif
#ifdef SYS_futex_waitv
        RAW_CALL(futex_waitv, futex_waitv),
#endif
#ifdef SYS_epoll_wait /* not on newer machines */
        RAW_CALL(epoll_wait, epoll_wait),
        RAW_CALL(poll, poll),
        RAW_CALL(select, select),
        RAW_CALL(pause, pause),
#endif
#undef RAW_CALL
};
enum { RAW_CALLS = sizeof(raw_calls) };

static const bool raw_has_descriptor[FXT_WAIT_KINDS] = {
#define RAW_HAS_DESCRIPTOR(name, subject, is_purpose) FXT_WAIT_FOR_##subject == FXT_WAIT_FOR_DESCRIPTOR,
        FXT_WAITS(RAW_HAS_DESCRIPTOR)
#undef RAW_HAS_DESCRIPTOR
};

/* The calls of this kind wait for one of several descriptors. */
static bool raw_has_several(enum fxt_wait call)
{
	return call == FXT_WAIT_poll || call == FXT_WAIT_ppoll || call == FXT_WAIT_select ||
	       call == FXT_WAIT_pselect;
}

static long raw_call_by_name(
        agent_system_call *real, long number, long a, long b, long c, long d, long e, long f)
{
	enum fxt_wait call = (enum fxt_wait)(raw_calls[number] - 1);
	bool has_one = raw_has_descriptor[call] && !raw_has_several(call);
	uint64_t begin = agent_blocking_begin(call, has_one ? agent_blocking_descriptor((int)a) : 0);
	long result = real(number, a, b, c, d, e, f);

	agent_blocking_end(begin);
	return result;
}

/* ---- futexes ---- */

static long raw_futex_waits(agent_system_call *real, long a, long b, long c, long d, long e, long f)
{
	struct agent_wait wait = {
	        .call = FXT_WAIT_futex, .object = (const void *)(uintptr_t)a, .may_be_brief = true};

	if (load_relaxed(&agent_recording) == AGENT_QUIET)
		return real(SYS_futex, a, b, c, d, e, f);
	agent_sync_begin(&wait);
	long result = real(SYS_futex, a, b, c, d, e, f);
	int error = errno;

	agent_sync_end(&wait, result == 0 ? WAIT_WOKEN : WAIT_IN_VAIN);
	errno = error;
	return result;
}

/* A call that wakes `most` threads at most. If it also requeues others, its result counts
 * these too. The kernel wakes first. */
static long raw_futex_wakes(
        agent_system_call *real, uint32_t most, long a, long b, long c, long d, long e, long f)
{
	bool is_unlock = (b & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI;
	struct agent_offer offer;

	if (!agent_sync_offer(&offer, (const void *)(uintptr_t)a, most))
		return real(SYS_futex, a, b, c, d, e, f);
	long result = real(SYS_futex, a, b, c, d, e, f);
	long woken = is_unlock ? result == 0 : result;
	int error = errno;

	agent_sync_woke(&offer, woken > 0 ? (uint64_t)woken : 0, "futex: wakes a waiter");
	errno = error;
	return result;
}

enum raw_futex_kind { RAW_FUTEX_OTHER, RAW_FUTEX_WAITS, RAW_FUTEX_WAKES };

static enum raw_futex_kind raw_futex_kind(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
#ifdef FUTEX_LOCK_PI2
	case FUTEX_LOCK_PI2:
#endif
		return RAW_FUTEX_WAITS;
	case FUTEX_UNLOCK_PI:
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		return RAW_FUTEX_WAKES;
	default:
		return RAW_FUTEX_OTHER;
	}
}

static long raw_futex(agent_system_call *real, long a, long b, long c, long d, long e, long f)
{
	bool is_unlock = (b & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI;

	if (raw_futex_kind(b) == RAW_FUTEX_WAITS)
		return raw_futex_waits(real, a, b, c, d, e, f);
	return raw_futex_wakes(real, is_unlock ? 1 : c > 0 ? (uint32_t)c : 0, a, b, c, d, e, f);
}

/* ---- both ---- */

bool agent_raw_call_waits(long number, long b)
{
	return number == SYS_futex ? raw_futex_kind(b) != RAW_FUTEX_OTHER
	                           : number >= 0 && number < RAW_CALLS && raw_calls[number];
}

long agent_raw_call(agent_system_call *real, long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_futex ? raw_futex(real, a, b, c, d, e, f)
	                           : raw_call_by_name(real, number, a, b, c, d, e, f);
}
