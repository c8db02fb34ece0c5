/*
 * fxtrun is two processes, so that it can be a shell's job: the one that the shell started, which stops, goes
 * on and ends as the program does, and its child, which records and never stops, for the rest of the tree may
 * run on.
 *
 *     shell --waits for, signals--> job --passes signals on--> recorder --waits for--> program
 *                                    ^                            |
 *                                    +---- stop, go on, end ------+
 *
 * Job and program share the process group, hence the terminal and what its keys send; the recorder has one of
 * its own, and a session (spawn.c). If the job is killed the recorder goes on without it; if the recorder is
 * killed, the job finishes the trace (recovery.h), and dies of the same signal.
 */
#ifndef FXT_LAUNCHER_FXTRUN_JOB_H
#define FXT_LAUNCHER_FXTRUN_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "recovery.h"

struct fxt_job {
	pid_t pid;   /* by which the user knows fxtrun */
	pid_t group; /* the program's too */
};

/* Makes the caller, which must be the only thread and has blocked the signals in `handled`, the job. Returns
 * in its child only, the recorder: 0; or, in the caller, an errno value: there is no child. The recovery is
 * the job's. */
int fxt_job_begin(struct fxt_job *job, const sigset_t *handled, struct fxt_recovery *recovery);

/* Ends the recorder, which cannot go on: the job makes a trace of what is left, and fails. Without a core
 * file. */
void fxt_recorder_give_up(void) __attribute__((noreturn));

/* Lets the calling process have as many descriptors as it may: of each process that is recorded, job and
 * recorder take two or three. Not before the program has a limit of its own. */
void fxt_job_raise_descriptors(void);

/* The program was stopped by that signal, or goes on: so does the job. For the recorder. */
void fxt_job_stop(const struct fxt_job *job, int signal);
void fxt_job_continue(const struct fxt_job *job);

/* Whether the job passed this signal on which the terminal had sent, to the program as well. `code` and
 * `value` are si_code and si_int. */
bool fxt_job_is_from_terminal(int code, int value);

#endif
