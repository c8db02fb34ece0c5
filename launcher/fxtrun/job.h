/*
 * fxtrun is two processes, so that it can be a shell's job. The job is the process that the
 * shell started; it stops, continues and ends as the program does. Its child, the recorder,
 * records and never stops, because other processes of the tree may run on.
 *
 *     shell --waits for, signals--> job --passes signals on--> recorder --waits for--> program
 *                                    ^                            |
 *                                    +---- stop, go on, end ------+
 *
 * Job and program share the process group, hence the terminal and the signals of its keys.
 * The recorder has its own group and its own session (spawn.c). If the job is killed, the
 * recorder goes on without it. If the recorder is killed, the job finishes the trace
 * (recovery.h), and dies of the same signal.
 */
#ifndef FXT_LAUNCHER_FXTRUN_JOB_H
#define FXT_LAUNCHER_FXTRUN_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "recovery.h"

struct fxt_job {
	pid_t pid;   /* the process number that the user knows fxtrun by */
	pid_t group; /* process group; the program's too */
};

/* Makes the caller the job. The caller must be the only thread and have blocked the signals
 * in `handled`. Returns 0, in the child only, which is the recorder. Returns an errno value
 * in the caller if there is no child. The recovery belongs to the job. */
int fxt_job_begin(struct fxt_job *job, const sigset_t *handled, struct fxt_recovery *recovery);

/* Ends a recorder that cannot go on, without a core file: the job makes a trace of the
 * available records, and exits with a failure. */
void fxt_recorder_give_up(void) __attribute__((noreturn));

/* Raises the process's limit of descriptors to the maximum, since job and recorder need two
 * or three for each recorded process. Call it only after the program has its own limit. */
void fxt_job_raise_descriptors(void);

/* The program was stopped by that signal, or continues: stops or continues the job too. For
 * the recorder. */
void fxt_job_stop(const struct fxt_job *job, int signal);
void fxt_job_continue(const struct fxt_job *job);

/* True if the job received this signal from the terminal, which also sent it to the
 * program, and passed it on. `code` and `value` are si_code and si_int. */
bool fxt_job_is_from_terminal(int code, int value);

#endif
