/*
 * The supervisor: the process that the shell started. It passes signals on, stops and
 * continues with the program, and ends as the manager does. It must outlive the manager, so
 * it blocks all signals and reads them.
 */
#include "supervisor.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/message.h"

/* Signals that stop a process which does not catch them. */
static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

/* From the manager: a signal of `stops` is pending and must be taken. If the program was
 * continued in the meantime, SIGCONT has cleared the pending signal, so there is no
 * race. */
#define TAKE_STOP SIGRTMIN

static void supervisor_add_stops(sigset_t *set)
{
	for (unsigned i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		sigaddset(set, stops[i]);
}

static void supervisor_mask_stops(int how)
{
	sigset_t set;

	sigemptyset(&set);
	supervisor_add_stops(&set);
	sigprocmask(how, &set, NULL);
}

static void supervisor_take_stop(void)
{
	supervisor_mask_stops(SIG_UNBLOCK);
	supervisor_mask_stops(SIG_BLOCK);
}

/* True if the manager died of an error of its own, or because memory was short. */
static bool supervisor_is_failure(int signal)
{
	return signal == SIGABRT || signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGSYS;
}

/* Ends as the manager did. If the manager had an error of its own and may have left a
 * core file, exits with a failure instead, which leaves that file alone. */
static void supervisor_end(int status) __attribute__((noreturn));

static void supervisor_end(int status)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t set;

	if (WIFSIGNALED(status) && supervisor_is_failure(WTERMSIG(status)))
		_exit(FXT_EXIT_FAILED);
	if (WIFSIGNALED(status)) {
		sigaction(WTERMSIG(status), &standard, NULL);
		sigemptyset(&set);
		sigaddset(&set, WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void fxt_manager_give_up(void)
{
	const struct rlimit none = {0};

	setrlimit(RLIMIT_CORE, &none);
	abort();
}

void fxt_supervisor_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* True if the user interrupted the rest of the work on the trace: the manager dies of
 * these signals only after it allows them (fxt_signals_allow_interrupts). */
static bool supervisor_was_interrupted(int status)
{
	return WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT;
}

/*
 * Blocks all signals, and returns the earlier mask. A signal to the process group is meant
 * for the program, which may handle any signal; the supervisor must survive it, and reads
 * and drops it. This needs the kernel's own call, since libc leaves out two signals.
 */
static uint64_t supervisor_block_all(void)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	return before;
}

static void supervisor_restore_mask(uint64_t mask)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

static void supervisor_unblock_faults(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t set;

	sigemptyset(&set);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigaddset(&set, faults[i]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* All signals except those that stop the supervisor, which it takes at the manager's
 * request. */
static sigset_t supervisor_signals_to_read(void)
{
	sigset_t set;

	memset(&set, 0xff, sizeof(set));
	for (unsigned i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		sigdelset(&set, stops[i]);
	return set;
}

static void supervisor_take_signal(
        pid_t manager, int signals, const sigset_t *passed_on, struct fxt_recovery *recovery)
{
	struct signalfd_siginfo info;
	int status, number;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	number = (int)info.ssi_signo;
	if (number == SIGCHLD) {
		if (waitpid(manager, &status, WNOHANG) != manager)
			return;
		if (WIFSIGNALED(status) && !supervisor_was_interrupted(status)) {
			/* The manager can no longer say when to stop, so each stop is
			 * taken as it comes. */
			supervisor_mask_stops(SIG_UNBLOCK);
			fxt_recovery_run(recovery, signals, WTERMSIG(status));
		}
		supervisor_end(status);
	} else if ((pid_t)info.ssi_pid == manager) {
		if (number == TAKE_STOP)
			supervisor_take_stop();
	} else if (sigismember(passed_on, number)) {
		sigqueue(manager, number, (union sigval){.sival_int = info.ssi_code == SI_KERNEL});
	}
}

static void supervisor_live(pid_t manager, int signals, const sigset_t *passed_on,
        struct fxt_recovery *recovery) __attribute__((noreturn));

static void supervisor_live(
        pid_t manager, int signals, const sigset_t *passed_on, struct fxt_recovery *recovery)
{
	for (;;) {
		struct pollfd ready[] = {{signals, POLLIN, 0}, {recovery->ledger->from_manager, POLLIN, 0}};

		if (poll(ready, 2, -1) <= 0)
			continue;
		if (ready[1].revents)
			fxt_recovery_receive(recovery);
		if (ready[0].revents)
			supervisor_take_signal(manager, signals, passed_on, recovery);
	}
}

int fxt_supervisor_begin(
        struct fxt_supervisor *supervisor, const sigset_t *handled, struct fxt_recovery *recovery)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t passed_on = *handled, signals = supervisor_signals_to_read();
	uint64_t before;
	int signal_fd;
	pid_t manager;

	*supervisor = (struct fxt_supervisor){getpid(), getpgrp()};
	sigaddset(&passed_on, SIGCONT);
	before = supervisor_block_all();
	signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	manager = signal_fd < 0 ? -1 : fork();
	if (manager < 0) {
		int error = errno;

		close(signal_fd);
		supervisor_restore_mask(before);
		return error;
	}
	if (manager == 0) {
		/* Otherwise descriptors handed over to a killed supervisor would stay
		 * alive. */
		close(recovery->ledger->from_manager);
		close(signal_fd);
		setpgid(0, 0);
		supervisor_unblock_faults();
		/* Signals sent by name (pkill fxtrun) must reach only the supervisor, which
		 * passes them on once. */
		prctl(PR_SET_NAME, "fxt-recorder");
		return 0;
	}
	for (unsigned i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		sigaction(stops[i], &standard, NULL);
	close(recovery->ledger->to_supervisor);
	fxt_supervisor_raise_descriptors();
	supervisor_live(manager, signal_fd, &passed_on, recovery);
}

void fxt_supervisor_stop(const struct fxt_supervisor *supervisor, int signal)
{
	if (getppid() != supervisor->pid) /* the supervisor was killed */
		return;
	kill(supervisor->pid, signal);
	sigqueue(supervisor->pid, TAKE_STOP, (union sigval){0});
}

void fxt_supervisor_continue(const struct fxt_supervisor *supervisor)
{
	if (getppid() == supervisor->pid)
		kill(supervisor->pid, SIGCONT);
}

bool fxt_supervisor_is_from_terminal(int code, int value)
{
	return code == SI_QUEUE && value;
}
