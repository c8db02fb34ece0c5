/*
 * Starts the program. It gets the terminal, descriptors, signal mask and dispositions that
 * fxtrun got, and nothing of fxtrun's except two variables in its environment. One
 * exception: with -o - the trace takes the standard output, and the program writes to the
 * standard error instead, so that the two do not mix.
 */
#ifndef FXT_LAUNCHER_FXTRUN_SPAWN_H
#define FXT_LAUNCHER_FXTRUN_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The state of signals when fxtrun was started, which the program gets too. */
struct fxt_inherited_signals {
	sigset_t mask;
	struct sigaction pipe, file_size, child;
};

/*
 * Blocks the signals in *handled, which are SIGCHLD and those that would end fxtrun, in
 * this and all later threads; they must be read from a signalfd. From then on broken pipes
 * and file size limits are errors of write(2), and the program can be waited for whatever
 * the disposition of SIGCHLD was.
 */
void fxt_signals_take(struct fxt_inherited_signals *inherited, sigset_t *handled);

/* Call it after the program has ended and its records are safe: from then on an interrupt
 * ends fxtrun, with a line that names the output. Pending interrupts, which were meant for
 * the program, are removed first. */
void fxt_signals_allow_interrupts(const struct fxt_inherited_signals *inherited, const char *output);

struct fxt_spawn {
	const char *path; /* contains a slash */
	char *const *argv;
	const char *agent; /* path for LD_PRELOAD */
	const char *mpi;   /* another one, or "" */
	const char *socket_path;
	const struct fxt_inherited_signals *signals;
	pid_t group;               /* process group for the program */
	bool has_stdout_of_stderr; /* the trace has the standard output, and the program's
	                            * goes to standard error */
	/* Called when there is a process that has not called exec yet. */
	void (*prepare)(void *context, pid_t pid);
	void *context;
};

/* Starts the program. Returns 0 and its process number in *pid; the caller must wait for
 * it. On an error returns the exit status of fxtrun (enum fxt_exit), and one line in
 * error[error_bytes]: the program was not started, and nothing of it is left. The caller
 * must be the only thread. */
int fxt_spawn(const struct fxt_spawn *spawn, pid_t *pid, char *error, size_t error_bytes);

/* Opens /dev/null on each of descriptors 0-2 that is closed, so that no descriptor of
 * fxtrun gets these numbers. The program finds them closed. */
void fxt_spawn_guard_descriptors(void);

#endif
