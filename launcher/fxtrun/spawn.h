/*
 * Starting the program: it gets the terminal, descriptors, signal mask and dispositions that fxtrun got, and
 * nothing of fxtrun's but two variables in its environment. One exception: the trace takes the standard
 * output with -o -, and the program writes to the standard error instead, so that nothing mixes.
 */
#ifndef FXT_LAUNCHER_FXTRUN_SPAWN_H
#define FXT_LAUNCHER_FXTRUN_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* How signals stood when fxtrun was started; the program gets them like that. */
struct fxt_inherited_signals {
	sigset_t mask;
	struct sigaction pipe, file_size, child;
};

/*
 * From here on the signals in *handled, SIGCHLD and those that would end fxtrun, are blocked, in all threads
 * that come too, and to be read from a signalfd. Broken pipes and file size limits become errors of write(2),
 * and the program can be waited for whatever the disposition of SIGCHLD was.
 */
void fxt_signals_take(struct fxt_inherited_signals *inherited, sigset_t *handled);

/* The program has ended and its records are safe: from here on an interrupt ends fxtrun, with a line that
 * names the output. Those that were meant for the program are taken away first. */
void fxt_signals_allow_interrupts(const struct fxt_inherited_signals *inherited, const char *output);

struct fxt_spawn {
	const char *path; /* with a slash in it */
	char *const *argv;
	const char *agent; /* for LD_PRELOAD */
	const char *socket_path;
	const struct fxt_inherited_signals *signals;
	pid_t group;               /* of processes, which the program is to be in */
	bool has_stdout_of_stderr; /* the trace has the standard output */
	/* What is to be done once there is a process and before it calls exec. */
	void (*prepare)(void *context, pid_t pid);
	void *context;
};

/* Starts the program. Returns 0 and its process number in *pid, for which the caller has to wait; or the
 * status that fxtrun has to exit with (enum fxt_exit) and one line in error[error_bytes]: it was not started,
 * and nothing is left of it. The caller must be the only thread. */
int fxt_spawn(const struct fxt_spawn *spawn, pid_t *pid, char *error, size_t error_bytes);

/* Opens /dev/null on each of descriptors 0-2 that is closed, so that nothing of ours gets to stand there; the
 * program will find them closed. */
void fxt_spawn_guard_descriptors(void);

#endif
