#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "agent/base/attributes.h"
#include "agent/hook/events.h"
#include "process_exit.h"
#include "agent/base/real.h"
#include "blocking.h"
#include "logs.h"
#include "agent/process/standalone.h"

#define CATEGORY "process"

/* ---- of children ---- */

static void process_exit_record_child(pid_t child, bool by_signal, int number)
{
	struct fxt_argument arguments[] = {
	        fxt_argument_koid(agent_text("child"), (uint64_t)child),
	        fxt_argument_int32(agent_text(by_signal ? "signal" : "status"), number),
	};

	agent_instant(CATEGORY, by_signal ? "child killed" : "child exited", arguments, 2);
}

static void process_exit_record_status(pid_t child, int status)
{
	if (WIFSIGNALED(status))
		process_exit_record_child(child, true, WTERMSIG(status));
	else if (WIFEXITED(status))
		process_exit_record_child(child, false, WEXITSTATUS(status));
}

static void process_exit_record_siginfo(const siginfo_t *info)
{
	bool by_signal = info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED;

	/* With WNOHANG, si_pid is 0 if no child has ended. */
	if (info->si_pid != 0 && (by_signal || info->si_code == CLD_EXITED))
		process_exit_record_child(info->si_pid, by_signal, info->si_status);
}

/* Waits as the function `call`. A call that only asks has no wait. */
static pid_t process_exit_wait(
        enum fxt_wait call, pid_t which, int *status, int options, struct rusage *usage)
{
	uint64_t begin = options & WNOHANG ? 0 : agent_blocking_begin(call, 0);
	int own;
	pid_t child = REAL(wait4)(which, status ? status : &own, options, usage);
	int error = errno;

	agent_blocking_end(begin);
	if (child > 0)
		process_exit_record_status(child, status ? *status : own);
	errno = error;
	return child;
}

EXPORT pid_t wait4(pid_t which, int *status, int options, struct rusage *usage)
{
	return process_exit_wait(FXT_WAIT_wait4, which, status, options, usage);
}

EXPORT int waitid(idtype_t type, id_t which, siginfo_t *info, int options)
{
	uint64_t begin = options & WNOHANG ? 0 : agent_blocking_begin(FXT_WAIT_waitid, 0);
	siginfo_t own;
	int result = REAL(waitid)(type, which, info ? info : &own, options);
	int error = errno;

	agent_blocking_end(begin);
	if (result == 0 && !(options & WNOWAIT))
		process_exit_record_siginfo(info ? info : &own);
	errno = error;
	return result;
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	return process_exit_wait(FXT_WAIT_wait3, -1, status, options, usage);
}

EXPORT pid_t waitpid(pid_t which, int *status, int options)
{
	return process_exit_wait(FXT_WAIT_waitpid, which, status, options, NULL);
}

EXPORT pid_t wait(int *status)
{
	return process_exit_wait(FXT_WAIT_wait, -1, status, 0, NULL);
}

/* ---- of the process itself ---- */

static void process_exit_mark(const struct fxt_thread_writer *writer, bool ends)
{
	uint64_t now = writer && ends ? fxt_later(fxt_clock_ticks(agent_engine.clock), writer->last) : 0;

	if (writer)
		store_relaxed(&fxt_slot(&agent_engine, writer->number)->ended, now);
}

void agent_process_ends(bool ends)
{
	if (!agent_is_own_process())
		return;
	if (ends)
		agent_log_flush(false);
	if (!agent_is_borrower()) {
		process_exit_mark(agent_self.writer, ends);
		process_exit_mark(agent_self.nested, ends);
	}
	store_release(&agent_engine.control->exiting, ends);
}

static void process_exit_record(int status)
{
	struct fxt_argument argument = fxt_argument_int32(agent_text("status"), status);

	if (agent_is_own_process())
		store_relaxed(&agent_engine.control->exit_status, (uint32_t)status & 0xff);
	/* A thread without recorded calls does not get a track only to end on it. */
	if (agent_self.writer)
		agent_instant(CATEGORY, "exit", &argument, 1);
	agent_process_ends(true);
}

EXPORT __attribute__((noreturn)) void _exit(int status)
{
	process_exit_record(status);
	for (;;)
		arch_system_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}

/* Registered first, so it runs after all other handlers and destructors. */
static void process_exit_handler(int status, void *unused)
{
	(void)unused;
	process_exit_record(status);
	if (agent_is_own_process())
		agent_standalone_end();
}

void agent_process_exit_prepare(void)
{
	on_exit(process_exit_handler, NULL);
}
