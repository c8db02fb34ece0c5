/*
 * Interposed functions that set a seccomp filter or take the time stamp counter away
 * (sandbox.h), and syscall(), which can do both. They run on the thread that makes the
 * call, before and after it. After the filter is set, nothing here may make a system call
 * of our own.
 */
#include "sandbox.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include "agent/base/attributes.h"
#include "agent/hook/events.h"
#include "fatal_signals.h"
#include "agent/process/helper.h"
#include "agent/base/notice.h"
#include "agent/base/real.h"
#include "raw_calls.h"
#include "agent/hook/shadow.h"
#include "agent/hook/slow_path.h"
#include "agent/hook/stacks.h"
#include "agent/process/standalone.h"

#define PATIENCE_NS UINT64_C(100000000)

bool agent_prctl_confines(unsigned long operation, unsigned long a, unsigned long b)
{
	return operation == PR_SET_SECCOMP && (a != SECCOMP_MODE_FILTER || b);
}

/* Waits until no other thread is inside a hook, where it may be about to make a system
 * call; PATIENCE_NS at most. */
static void sandbox_await_hooks(void)
{
	uint64_t deadline = fxt_monotonic_ns() + PATIENCE_NS;
	uint32_t used = load_acquire(&agent_engine.control->slots_used);

	for (uint32_t i = agent_engine.first_slot; i < used; i++) {
		const struct fxt_thread_writer *writer = &agent_engine.writers[i];

		while (writer != agent_self.writer && writer != agent_self.nested &&
		        load_acquire(&writer->busy) != FXT_IDLE && fxt_monotonic_ns() < deadline)
			sched_yield();
	}
}

/* Ends the open calls of this thread. From now on nothing of it is recorded. */
static void sandbox_withhold(enum agent_withheld why)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	if (writer) {
		if (writer->busy != FXT_IDLE) /* a handler that interrupted a hook */
			agent_leave_hook();
		store_relaxed(&writer->busy, FXT_SLOW_PATH);
		agent_abandon_all(writer);
		store_release(&writer->busy, FXT_IDLE);
	}
	agent_withhold(why);
}

/* True if this is the only thread of the process, apart from the helper. The system call
 * fails if there are others, and does nothing if there are none. */
static bool sandbox_is_alone(void)
{
	bool is_alone;

	if (!agent_helper_is_running())
		return sys_call(SYS_unshare, CLONE_THREAD, 0, 0, 0) == 0;
	uint64_t mask = agent_helper_make_way();

	is_alone = sys_call(SYS_unshare, CLONE_THREAD, 0, 0, 0) == 0;
	agent_helper_come_back(mask);
	return is_alone;
}

/* Strict mode begins for one thread; others continue to be recorded. Does nothing if the
 * thread has a filter already, because then the program's call fails. */
static void sandbox_begins_strict(void)
{
	if (sys_call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0) != 0)
		return;
	agent_instant("process", "seccomp", NULL, 0);
	sandbox_withhold(AGENT_NO_SYSTEM_CALL);
}

static void sandbox_end_standalone(void)
{
	if (agent_is_standalone && load_relaxed(&agent_recording) != AGENT_QUIET)
		agent_notice("the program confines itself (seccomp), so nothing more can be written; its "
		             "trace ends here",
		        NULL);
	agent_standalone_end();
}

void agent_sandbox_begins(bool is_strict)
{
	int error = errno;

	agent_fatal_signals_withdraw();
	if (is_strict && agent_is_own_process() && !sandbox_is_alone()) {
		sandbox_begins_strict();
		errno = error;
		return;
	}
	if (fxt_engine_was_forked(&agent_engine)) {
		store_relaxed(&sys_confinement, SYS_CONFINED);
	} else if (agent_is_own_process()) { /* not a vfork child: the memory is its parent's */
		agent_instant("process", "seccomp", NULL, 0);
		sandbox_end_standalone();
		store_relaxed(&agent_engine.control->commands_ignored, 1);
		agent_helper_stop();
		fxt_control_reach_all(agent_engine.map);
		/* Reading this clock may need the kernel. */
		if (agent_engine.clock == FXT_CLOCK_MONOTONIC)
			agent_begin_counting();
		if (is_strict)
			sandbox_withhold(AGENT_NO_SYSTEM_CALL);
		store_relaxed(&sys_confinement, SYS_CONFINED);
		/* This barrier orders both stores: a thread that made itself busy without
		 * having seen the confinement is seen to be busy below. */
		arch_system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
		sandbox_await_hooks();
	}
	errno = error;
}

void agent_sandbox_withdrawn(void)
{
	int error = errno;

	store_relaxed(&sys_confinement, SYS_FREE);
	if (agent_self.withheld == AGENT_NO_SYSTEM_CALL)
		agent_withhold_no_more();
	if (agent_is_own_process()) {
		store_relaxed(&agent_engine.control->commands_ignored, 0);
		agent_end_counting();
		agent_helper_start();
	}
	errno = error;
}

/* ---- the clock ---- */

void agent_clock_changes(unsigned long mode)
{
	int error = errno;

	if (mode == PR_TSC_SIGSEGV && !agent_self.withheld && load_relaxed(&agent_recording) != AGENT_QUIET &&
	        agent_is_own_process()) {
		agent_notice("a thread may not read the clock any more (PR_SET_TSC); ",
		        agent_is_standalone ? "the trace ends here" : "its calls are lost from here on",
		        NULL);
		agent_instant("process", "PR_SET_TSC", NULL, 0);
		agent_standalone_end(); /* needs the clock, whichever thread ends it */
		sandbox_withhold(AGENT_NO_CLOCK);
	}
	errno = error;
}

void agent_clock_has_changed(unsigned long mode, bool failed)
{
	if (agent_self.withheld == AGENT_NO_CLOCK && (mode == PR_TSC_SIGSEGV) == failed &&
	        agent_engine.state != FXT_ENGINE_NONE)
		agent_withhold_no_more();
}

/* ---- system calls by number ---- */

/* Our syscall(). The header declares it with variadic arguments, so it has another name
 * here. */
EXPORT agent_system_call agent_syscall __asm__("syscall");

static long sandbox_call(agent_system_call *real, long number, long a, long b, long c, long d, long e, long f)
{
	agent_sandbox_begins(number == SYS_seccomp ? a == SECCOMP_SET_MODE_STRICT : b == SECCOMP_MODE_STRICT);
	long result = real(number, a, b, c, d, e, f);
	bool failed =
	        number == SYS_seccomp && (b & SECCOMP_FILTER_FLAG_NEW_LISTENER) ? result < 0 : result != 0;

	if (failed)
		agent_sandbox_withdrawn();
	return result;
}

static bool sandbox_is_entered(long number, long a, long b, long c)
{
	if (number == SYS_seccomp)
		return a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c);
	return number == SYS_prctl &&
	       agent_prctl_confines((unsigned long)a, (unsigned long)b, (unsigned long)c);
}

/* A call that the kernel allows only to a single-threaded process, like unshare() and
 * setns() (credentials.c). */
static long sandbox_call_alone(agent_system_call *real, long number, long a, long b)
{
	uint64_t mask = agent_helper_make_way();
	long result = real(number, a, b, 0, 0, 0, 0);

	agent_helper_come_back(mask);
	return result;
}

static long sandbox_call_sigaction(
        agent_system_call *real, long signal, long action, long before, long mask_bytes)
{
	long result = real(SYS_rt_sigaction, signal, action, before, mask_bytes, 0, 0);

	if (result == 0)
		agent_fatal_signals_answer(signal, (void *)before);
	return result;
}

static long sandbox_call_sigaltstack(agent_system_call *real, long stack, long before)
{
	long result = real(SYS_sigaltstack, stack, before, 0, 0, 0, 0);

	if (result == 0)
		agent_set_signal_stack((const stack_t *)stack);
	return result;
}

static long sandbox_call_clock(agent_system_call *real, unsigned long mode)
{
	agent_clock_changes(mode);
	long result = real(SYS_prctl, PR_SET_TSC, (long)mode, 0, 0, 0, 0);

	agent_clock_has_changed(mode, result != 0);
	return result;
}

/* True if the call makes a child that continues where the parent does. */
static bool sandbox_forks(long number, unsigned long flags, long stack)
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	return number == SYS_clone && !(flags & (CLONE_VM | CLONE_SETTLS)) && !stack;
}

static long sandbox_call_fork(agent_system_call *real, long number, long a, long b, long c, long d, long e)
{
	agent_self_before_fork(true);
	long child = real(number, a, b, c, d, e, 0);

	if (child == 0)
		agent_self_in_child();
	else
		agent_self_in_parent();
	return child;
}

/* The compiler turns the last call into a jump. Therefore the child of a clone() on a new
 * stack returns to the program, and not into a frame of ours, which is not on that
 * stack. */
long agent_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	agent_system_call *real = (agent_system_call *)REAL(syscall);

	if (agent_raw_call_waits(number, b))
		return agent_raw_call(real, number, a, b, c, d, e, f);
	if (unlikely(number == SYS_clone))
		agent_clones((unsigned long)a);
	if (unlikely(sandbox_forks(number, (unsigned long)a, b)))
		return sandbox_call_fork(real, number, a, b, c, d, e);
	if (unlikely(number == SYS_unshare || number == SYS_setns) && agent_helper_is_running())
		return sandbox_call_alone(real, number, a, b);
	if (unlikely(sandbox_is_entered(number, a, b, c)))
		return sandbox_call(real, number, a, b, c, d, e, f);
	if (unlikely(number == SYS_prctl && a == PR_SET_TSC))
		return sandbox_call_clock(real, (unsigned long)b);
	if (unlikely(number == SYS_rt_sigaction && c))
		return sandbox_call_sigaction(real, a, b, c, d);
	if (unlikely(number == SYS_sigaltstack && a))
		return sandbox_call_sigaltstack(real, a, b);
	return real(number, a, b, c, d, e, f);
}
