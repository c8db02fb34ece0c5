/*
 * Stops a thread and makes it call functions (tracee.h). Runs in the attaching process. It
 * must never leave a thread stopped, nor any of its registers changed.
 */
#include "tracee.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include "writer/shared/clock.h"

/* Signals that a thread gets for its own errors. Blocking one of them would end the process
 * at such an error, whatever its handler. */
#define FAULTS                                                                                \
	(1u << (SIGSEGV - 1) | 1u << (SIGBUS - 1) | 1u << (SIGFPE - 1) | 1u << (SIGILL - 1) | \
	        1u << (SIGTRAP - 1) | 1u << (SIGSYS - 1))

/* Time for the few instructions of mmap() and munmap(), on a machine that is very busy. */
#define PATIENCE_NS UINT64_C(10000000000)

/* ---- registers of a stopped thread ---- */

bool fxt_tracee_registers(const struct fxt_tracee *t, struct user_regs_struct *registers)
{
	struct iovec set = {registers, sizeof(*registers)};

	return ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &set) == 0;
}

static bool tracee_set_registers(const struct fxt_tracee *t, const struct user_regs_struct *registers)
{
	struct iovec set = {(void *)registers, sizeof(*registers)};

	return ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &set) == 0;
}

/* ---- stops ---- */

/* Waits for the thread's next stop. False: none in that time; it still runs. */
static bool tracee_await(struct fxt_tracee *t, uint64_t patience_ns, int *status)
{
	uint64_t deadline = fxt_monotonic_ns() + patience_ns;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid_t got = waitpid(t->tid, status, __WALL | WNOHANG);
		uint64_t now = fxt_monotonic_ns(), left = deadline > now ? deadline - now : 0;

		if (got < 0 || (got == t->tid && !WIFSTOPPED(*status))) {
			t->state = FXT_TRACEE_GONE;
			return true;
		}
		if (got == t->tid) {
			t->state = FXT_TRACEE_STOPPED;
			return true;
		}
		if (left == 0)
			return false;
		/* One SIGCHLD may stand for several threads, and each thread is looked at
		 * when its turn comes. */
		if (left > 10000000)
			left = 10000000;
		sigtimedwait(&child, NULL, &(struct timespec){0, (long)left});
	}
}

static bool tracee_continue(struct fxt_tracee *t, int signal)
{
	t->state = FXT_TRACEE_RUNNING;
	return ptrace(PTRACE_CONT, t->tid, 0, (long)signal) == 0;
}

/* True for a stop that ptrace itself asked for, and that has no signal to deliver. */
static bool tracee_is_event(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

int fxt_tracee_seize(struct fxt_tracee *t, pid_t pid, pid_t tid)
{
	*t = (struct fxt_tracee){.pid = pid, .tid = tid};
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0)
		return errno;
	t->state = FXT_TRACEE_RUNNING;
	return 0;
}

/* No system call of the program fails because of a stop. One that would begins again, with
 * its whole timeout. */
static void tracee_keep_system_call(const struct fxt_tracee *t)
{
	struct user_regs_struct registers;

	if (fxt_tracee_registers(t, &registers) && arch_restart(&registers))
		tracee_set_registers(t, &registers);
}

bool fxt_tracee_stop(struct fxt_tracee *t, uint64_t patience_ns)
{
	uint64_t deadline = fxt_monotonic_ns() + patience_ns, now;
	int status;

	while (t->state == FXT_TRACEE_RUNNING) {
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
		now = fxt_monotonic_ns();
		if (!tracee_await(t, deadline > now ? deadline - now : 0, &status))
			return false;
		if (t->state != FXT_TRACEE_STOPPED)
			return false;
		if (tracee_is_event(status))
			t->is_group_stopped = WSTOPSIG(status) != SIGTRAP;
		else /* a signal is on its way: it is delivered first */
			tracee_continue(t, WSTOPSIG(status));
	}
	if (t->state != FXT_TRACEE_STOPPED)
		return false;
	tracee_keep_system_call(t);
	return true;
}

/* True if a SIGTRAP of the breakpoint would reach us, and no handler of the program would
 * be lost: the kernel takes away the handler of a fault that is blocked. */
static bool tracee_may_trap(const struct fxt_tracee *t)
{
	uint64_t mask;

	return ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask) == 0 && !(mask & 1u << (SIGTRAP - 1));
}

bool fxt_tracee_run_to(struct fxt_tracee *t, uint64_t address, uint64_t patience_ns)
{
	uint64_t deadline = fxt_monotonic_ns() + patience_ns, now;
	struct user_regs_struct registers;
	bool is_there = false;
	int status;

	if (!tracee_may_trap(t) || !arch_set_breakpoint(t->tid, address))
		return true;
	tracee_continue(t, 0);
	while (!is_there && t->state == FXT_TRACEE_RUNNING) {
		now = fxt_monotonic_ns();
		if (!tracee_await(t, deadline > now ? deadline - now : 0, &status))
			break;
		if (t->state != FXT_TRACEE_STOPPED)
			return false;
		is_there = WSTOPSIG(status) == SIGTRAP && !tracee_is_event(status) &&
		           fxt_tracee_registers(t, &registers) && arch_pc(&registers) == address;
		if (!is_there)
			tracee_continue(t, tracee_is_event(status) ? 0 : WSTOPSIG(status));
	}
	/* The breakpoint must not outlive us, because the program would die of it. */
	while (!is_there && t->state == FXT_TRACEE_RUNNING)
		fxt_tracee_stop(t, PATIENCE_NS);
	return t->state == FXT_TRACEE_STOPPED && arch_set_breakpoint(t->tid, 0);
}

bool fxt_tracee_run(struct fxt_tracee *t, uint64_t ns, uint64_t patience_ns)
{
	tracee_continue(t, 0);
	nanosleep(&(struct timespec){0, (long)ns}, NULL);
	return fxt_tracee_stop(t, patience_ns);
}

void fxt_tracee_release(struct fxt_tracee *t)
{
	if (t->state == FXT_TRACEE_RUNNING)
		fxt_tracee_stop(t, PATIENCE_NS / 100);
	/* The thread gets no processor. It stays seized until the next release, or until we end.
	 * Its state must say so, because the kernel refuses to seize it once more. */
	if (t->state == FXT_TRACEE_RUNNING)
		return;
	if (t->state == FXT_TRACEE_STOPPED)
		ptrace(PTRACE_DETACH, t->tid, 0, 0);
	if (t->has_held_stop)
		kill(t->pid, SIGSTOP);
	t->has_held_stop = false;
	t->state = FXT_TRACEE_GONE;
}

/* ---- memory of a stopped thread ---- */

bool fxt_tracee_read(const struct fxt_tracee *t, uint64_t address, void *data, size_t bytes)
{
	struct iovec local = {data, bytes}, remote = {(void *)address, bytes}; // NOLINT

	return process_vm_readv(t->pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

bool fxt_tracee_write(const struct fxt_tracee *t, uint64_t address, const void *data, size_t bytes)
{
	struct iovec local = {(void *)data, bytes}, remote = {(void *)address, bytes}; // NOLINT

	return process_vm_writev(t->pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

bool fxt_tracee_is_in_sequence(const struct fxt_tracee *t)
{
	struct __ptrace_rseq_configuration rseq;
	uint64_t sequence = 0;

	/* The second field of the thread's area is the address of its sequence. */
	return ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, sizeof(rseq), &rseq) == (long)sizeof(rseq) &&
	       rseq.rseq_abi_pointer &&
	       fxt_tracee_read(t, rseq.rseq_abi_pointer + 8, &sequence, sizeof(sequence)) && sequence;
}

/* ---- calls ---- */

enum fxt_tracee_event fxt_tracee_wait(struct fxt_tracee *t, uint64_t patience_ns)
{
	uint64_t deadline = fxt_monotonic_ns() + patience_ns, now;
	int status, signal;

	for (;;) {
		now = fxt_monotonic_ns();
		if (!tracee_await(t, deadline > now ? deadline - now : 0, &status))
			return FXT_TRACEE_TIMED_OUT;
		if (t->state != FXT_TRACEE_STOPPED || !fxt_tracee_registers(t, &t->now))
			return FXT_TRACEE_ENDED;
		signal = tracee_is_event(status) ? 0 : WSTOPSIG(status);
		if (signal == SIGSEGV && arch_pc(&t->now) == FXT_TRACEE_RETURN)
			return FXT_TRACEE_RETURNED;
		if (signal == SIGSEGV && arch_pc(&t->now) == FXT_TRACEE_CALLBACK) {
			t->callback = t->now;
			t->sp = arch_sp(&t->now) - ARCH_RED_ZONE;
			return FXT_TRACEE_CALLED_BACK;
		}
		if (signal == SIGSTOP) { /* no mask holds it back */
			t->has_held_stop = true;
			signal = 0;
		}
		tracee_continue(t, signal);
	}
}

enum fxt_tracee_event fxt_tracee_call(
        struct fxt_tracee *t, uint64_t function, const uint64_t arguments[6], uint64_t patience_ns)
{
	static const uint64_t end = FXT_TRACEE_RETURN;
	struct user_regs_struct registers = t->registers;
	uint64_t sp = (t->sp & ~UINT64_C(15)) - sizeof(end);

	arch_set_call(&registers, function, sp, arguments);
	if (!fxt_tracee_write(t, sp, &end, sizeof(end)) || !tracee_set_registers(t, &registers) ||
	        !tracee_continue(t, 0))
		return FXT_TRACEE_ENDED;
	return fxt_tracee_wait(t, patience_ns);
}

bool fxt_tracee_is_waiting(struct fxt_tracee *t)
{
	if (!fxt_tracee_stop(t, PATIENCE_NS / 100) || !fxt_tracee_registers(t, &t->now))
		return false;
	if (arch_is_waiting(&t->now))
		return true;
	tracee_continue(t, 0);
	return false;
}

uint64_t fxt_tracee_result(const struct fxt_tracee *t)
{
	return arch_result(&t->now);
}

enum fxt_tracee_event fxt_tracee_end_callback(struct fxt_tracee *t, uint64_t result, uint64_t patience_ns)
{
	uint64_t caller = 0;

	if (!fxt_tracee_read(t, arch_sp(&t->callback), &caller, sizeof(caller)))
		return FXT_TRACEE_ENDED;
	arch_set_return(&t->callback, caller, result);
	if (!tracee_set_registers(t, &t->callback) || !tracee_continue(t, 0))
		return FXT_TRACEE_ENDED;
	return fxt_tracee_wait(t, patience_ns);
}

/* Puts back everything but the memory. */
static void tracee_restore(const struct fxt_tracee *t)
{
	struct iovec vectors = {(void *)t->vectors, t->vector_bytes};

	ptrace(PTRACE_SETREGSET, t->tid, ARCH_VECTOR_SET, &vectors);
	tracee_set_registers(t, &t->registers);
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(t->mask), &t->mask);
}

int fxt_tracee_borrow(struct fxt_tracee *t, uint64_t map)
{
	const uint64_t arguments[6] = {0, FXT_TRACEE_MEMORY_BYTES, 3 /* read and write */,
	        0x22 /* private, anonymous */, UINT64_MAX, 0};
	struct iovec vectors = {t->vectors, sizeof(t->vectors)};
	uint64_t mask, pc;

	if (!fxt_tracee_registers(t, &t->registers) ||
	        ptrace(PTRACE_GETREGSET, t->tid, ARCH_VECTOR_SET, &vectors) != 0 ||
	        ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(t->mask), &t->mask) != 0)
		return errno;
	t->vector_bytes = vectors.iov_len;
	mask = ~(uint64_t)FAULTS;
	if (ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask) != 0)
		return errno;
	t->sp = arch_sp(&t->registers) - ARCH_RED_ZONE - 64;
	if (fxt_tracee_call(t, map, arguments, PATIENCE_NS) != FXT_TRACEE_RETURNED) {
		tracee_restore(t);
		return ESRCH;
	}
	t->memory = fxt_tracee_result(t);
	/* The agent looks there where the thread goes on: it changes no code under it. */
	t->sp = t->memory + FXT_TRACEE_MEMORY_BYTES - 2 * sizeof(pc);
	pc = arch_pc(&t->registers);
	if (t->memory < UINT64_C(0xfffffffffffff000) && fxt_tracee_write(t, t->sp, &pc, sizeof(pc)))
		return 0;
	tracee_restore(t);
	return ENOMEM;
}

void fxt_tracee_give_back(struct fxt_tracee *t, uint64_t unmap)
{
	t->sp = arch_sp(&t->registers) - ARCH_RED_ZONE - 64;
	fxt_tracee_call(t, unmap, (uint64_t[6]){t->memory, FXT_TRACEE_MEMORY_BYTES}, PATIENCE_NS);
	if (t->state == FXT_TRACEE_STOPPED)
		tracee_restore(t);
}
