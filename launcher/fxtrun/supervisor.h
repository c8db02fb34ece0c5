/*
 * fxtrun is two processes, so that it can be a shell's supervisor. The supervisor is the
 * process that the shell started; it stops, continues and ends as the program does. Its
 * child, the manager, records and never stops, because other processes of the tree may run
 * on.
 *
 *     shell --waits for, signals--> supervisor --passes signals on--> manager --waits for--> program
 *                                    ^                            |
 *                                    +---- stop, go on, end ------+
 *
 * Job and program share the process group, hence the terminal and the signals of its keys.
 * The manager has its own group and its own session (spawn.c). If the supervisor is killed,
 * the manager goes on without it. If the manager is killed, the supervisor finishes the
 * trace (recovery.h), and dies of the same signal.
 */
#ifndef FXT_LAUNCHER_FXTRUN_SUPERVISOR_H
#define FXT_LAUNCHER_FXTRUN_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "recovery.h"

struct fxt_supervisor {
	pid_t pid;   /* the process number that the user knows fxtrun by */
	pid_t group; /* process group; the program's too */
};

/* Makes the caller the supervisor. The caller must be the only thread and have blocked the
 * signals in `handled`. Returns 0, in the child only, which is the manager. Returns an
 * errno value in the caller if there is no child. The recovery belongs to the
 * supervisor. */
int fxt_supervisor_begin(
        struct fxt_supervisor *supervisor, const sigset_t *handled, struct fxt_recovery *recovery);

/* Ends a manager that cannot go on, without a core file: the supervisor makes a trace of
 * the available records, and exits with a failure. */
void fxt_manager_give_up(void) __attribute__((noreturn));

/* Raises the process's limit of descriptors to the maximum, since supervisor and manager
 * need two or three for each recorded process. Call it only after the program has its own
 * limit. */
void fxt_supervisor_raise_descriptors(void);

/* The program was stopped by that signal, or continues: stops or continues the supervisor
 * too. For the manager. */
void fxt_supervisor_stop(const struct fxt_supervisor *supervisor, int signal);
void fxt_supervisor_continue(const struct fxt_supervisor *supervisor);

/* True if the supervisor received this signal from the terminal, which also sent it to the
 * program, and passed it on. `code` and `value` are si_code and si_int. */
bool fxt_supervisor_is_from_terminal(int code, int value);

#endif
