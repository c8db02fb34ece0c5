#include "job.h"
#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What stops a process that does not catch it. */
static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

/* From the recorder: a signal out of `stops` is pending, and to be taken. If the program has gone on since,
 * SIGCONT has cleared it: so nothing is left to be raced for. */
#define TAKE_STOP SIGRTMIN

static void job_add_stops(sigset_t *set)
{
	for (unsigned i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		sigaddset(set, stops[i]);
}

static void job_take_stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	job_add_stops(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Ends as the recorder did. */
static void job_end(int status) __attribute__((noreturn));

static void job_end(int status)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t set;

	if (WIFSIGNALED(status)) {
		sigaction(WTERMSIG(status), &standard, NULL);
		sigemptyset(&set);
		sigaddset(&set, WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void job_live(pid_t recorder, const sigset_t *signals) __attribute__((noreturn));

static void job_live(pid_t recorder, const sigset_t *signals)
{
	siginfo_t info;
	int status;

	for (;;) {
		int number = sigwaitinfo(signals, &info);

		if (number < 0)
			continue;
		if (number == SIGCHLD) {
			if (waitpid(recorder, &status, WNOHANG) == recorder)
				job_end(status);
		} else if (info.si_pid == recorder) {
			if (number == TAKE_STOP)
				job_take_stop();
		} else if (number != TAKE_STOP) {
			sigqueue(recorder, number, (union sigval){.sival_int = info.si_code == SI_KERNEL});
		}
	}
}

int fxt_job_begin(struct fxt_job *job, const sigset_t *handled)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t signals = *handled, blocked, before;
	pid_t recorder;

	*job = (struct fxt_job){getpid(), getpgrp()};
	sigaddset(&signals, SIGCONT);
	sigaddset(&signals, TAKE_STOP);
	blocked = signals;
	job_add_stops(&blocked);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	recorder = fork();
	if (recorder < 0) {
		int error = errno;

		sigprocmask(SIG_SETMASK, &before, NULL);
		return error;
	}
	if (recorder == 0) {
		setpgid(0, 0);
		/* Signals sent by name (pkill fxtrun) are for the job, which passes them on, once. */
		prctl(PR_SET_NAME, "fxt-recorder");
		return 0;
	}
	for (unsigned i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		sigaction(stops[i], &standard, NULL);
	job_live(recorder, &signals);
}

void fxt_job_stop(const struct fxt_job *job, int signal)
{
	if (getppid() != job->pid) /* it was killed */
		return;
	kill(job->pid, signal);
	sigqueue(job->pid, TAKE_STOP, (union sigval){0});
}

void fxt_job_continue(const struct fxt_job *job)
{
	if (getppid() == job->pid)
		kill(job->pid, SIGCONT);
}

bool fxt_job_is_from_terminal(int code, int value)
{
	return code == SI_QUEUE && value;
}
