/*
 * Starts the program: fork, process groups, descriptors, signals, exec. fxtrun must have
 * only one thread here, and the program must not run before fxtrun has prepared everything
 * that needs its process number.
 */
#include "spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/message.h"
#include "launcher/preload.h"

void fxt_spawn_guard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			return;
}

void fxt_signals_take(struct fxt_inherited_signals *inherited, sigset_t *handled)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, standard = {.sa_handler = SIG_DFL};

	sigemptyset(handled);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(handled, numbers[i]);
	sigprocmask(SIG_BLOCK, handled, &inherited->mask);
	sigaction(SIGPIPE, &ignore, &inherited->pipe);
	sigaction(SIGXFSZ, &ignore, &inherited->file_size);
	sigaction(SIGCHLD, &standard, &inherited->child);
}

/* Signals of the terminal's keys. */
static const int interrupts[] = {SIGINT, SIGQUIT};

static char interrupted[PATH_MAX + 128];

static void signals_interrupted(int number)
{
	(void)!write(STDERR_FILENO, interrupted, strlen(interrupted));
	raise(number);
}

void fxt_signals_allow_interrupts(const struct fxt_inherited_signals *inherited, const char *output)
{
	const struct sigaction once = {
	        .sa_handler = signals_interrupted, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
	const struct timespec now = {0, 0};
	sigset_t set;

	snprintf(interrupted, sizeof(interrupted),
	        "fxtrun: interrupted while it finished %.*s, which may be cut or lack names\n", PATH_MAX,
	        output);

	sigemptyset(&set);
	for (unsigned i = 0; i < 2; i++)
		if (!sigismember(&inherited->mask, interrupts[i]))
			sigaddset(&set, interrupts[i]);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	for (unsigned i = 0; i < 2; i++)
		if (sigismember(&set, interrupts[i]))
			sigaction(interrupts[i], &once, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Runs in the child, which becomes the program. Returns only on an error, with an errno
 * value. */
static int spawn_execute(const struct fxt_spawn *spawn, const sigset_t *pending, const int prepared[2])
{
	int error = fxt_preload_environment(spawn->agent, spawn->mpi, spawn->socket_path);
	char byte;

	if (error)
		return error;
	if (spawn->has_stdout_of_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return errno;
	close(prepared[1]);
	if (read(prepared[0], &byte, 1) != 1) /* fxtrun is gone */
		return ECANCELED;
	sigaction(SIGPIPE, &spawn->signals->pipe, NULL);
	sigaction(SIGXFSZ, &spawn->signals->file_size, NULL);
	sigaction(SIGCHLD, &spawn->signals->child, NULL);
	/* Signals that the terminal sent before the program existed were meant for it
	 * too. */
	for (unsigned i = 0; i < 2; i++)
		if (sigismember(pending, interrupts[i]))
			raise(interrupts[i]);
	/* The kernel's own call: libc leaves out two signals, which the supervisor has
	 * blocked. */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &spawn->signals->mask, NULL, sizeof(uint64_t));
	execvp(spawn->path, spawn->argv);
	return errno;
}

/*
 * Moves the child into the supervisor's process group, and the manager into a session and a
 * group of its own.
 *
 * A SIGKILL to the group takes the program and the supervisor, and leaves the manager to
 * finish the trace. The new session keeps the kernel from sending SIGHUP to an orphaned
 * group: a process group is orphaned if no process in it has a parent in another group of
 * the same session. If a script without job control runs fxtrun, the manager would be such
 * a parent, and its exit would orphan the group.
 *
 * setsid() fails while any process has the manager's process number as its group, so both
 * have to leave that group first. The child waits during this: the program never runs while
 * the manager is in its group.
 */
static void spawn_leave_session(const struct fxt_spawn *spawn, pid_t child)
{
	/* If the supervisor was killed, its group may be gone: the child then gets a group
	 * of its own. */
	if (setpgid(child, spawn->group) != 0) {
		setpgid(child, 0);
		return;
	}
	if (setpgid(0, spawn->group) == 0 && setsid() < 0)
		setpgid(0, 0);
}

/* Runs in fxtrun while the child waits: has everything prepared that needs the child's
 * process number, then lets the child go on. Returns 0, or an errno value with fxtrun's
 * exit status in *status. */
static int spawn_release(const struct fxt_spawn *spawn, pid_t pid, int report, int prepared, int *status)
{
	int error = 0;

	spawn->prepare(spawn->context, pid);
	if (write(prepared, "", 1) != 1)
		error = errno;
	close(prepared);
	if (read(report, &error, sizeof(error)) > 0) {
		waitpid(pid, NULL, 0);
		*status = error == ENOENT ? FXT_EXIT_NOT_FOUND : FXT_EXIT_CANNOT_EXECUTE;
	}
	return error;
}

/* Starts the child. Returns the same as spawn_release(). */
static int spawn_child(const struct fxt_spawn *spawn, pid_t *pid, int *status)
{
	int report[2];   /* a successful exec closes it; otherwise the child writes its
	                  * errno */
	int prepared[2]; /* the child waits for a byte */
	sigset_t pending;
	int error = 0;

	sigpending(&pending);
	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	if (pipe2(prepared, O_CLOEXEC) != 0) {
		error = errno;
		close(report[0]);
		close(report[1]);
		return error;
	}
	*pid = fork();
	if (*pid == 0) {
		error = spawn_execute(spawn, &pending, prepared);
		_exit(write(report[1], &error, sizeof(error)) < 0);
	}
	if (*pid < 0)
		error = errno;
	else
		spawn_leave_session(spawn, *pid);
	close(report[1]);
	close(prepared[0]);
	if (*pid > 0)
		error = spawn_release(spawn, *pid, report[0], prepared[1], status);
	else
		close(prepared[1]);
	close(report[0]);
	return error;
}

int fxt_spawn(const struct fxt_spawn *spawn, pid_t *pid, char *error, size_t error_bytes)
{
	int status = FXT_EXIT_FAILED;
	pid_t child = -1;
	int failed = spawn_child(spawn, &child, &status);

	if (failed) {
		snprintf(error, error_bytes, "%s cannot be run: %s", spawn->argv[0], strerror(failed));
		return status;
	}
	*pid = child;
	return 0;
}
