/*
 * Ends in the way of its argument, inside a call; or "waits" for children that end so, in
 * every way there is to wait for one, and prints what it learns as the trace should report
 * it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static volatile int number;
static volatile int *volatile nowhere = (int *)8;

KEPT void end(const char *how)
{
	number++;
	if (strcmp(how, "exit") == 0)
		exit(3);
	if (strcmp(how, "_exit") == 0)
		_exit(4);
	if (strcmp(how, "_Exit") == 0)
		_Exit(5);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*nowhere = number;
	if (strcmp(how, "term") == 0)
		kill(getpid(), SIGTERM);
}

UNTRACED static pid_t child(int i)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (i % 2)
			raise(SIGKILL);
		_exit(i);
	}
	return pid;
}

UNTRACED static void tell(int is_killed, int value)
{
	if (is_killed)
		printf("child killed signal=int32:%d\n", value);
	else
		printf("child exited status=int32:%d\n", value);
}

UNTRACED static void tell_status(int status)
{
	tell(WIFSIGNALED(status), WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

UNTRACED static void wait_in_all_ways(void)
{
	struct rusage usage;
	siginfo_t info = {.si_pid = 0};
	int status;

	for (int i = 10; i < 12; i++) {
		child(i);
		if (wait(&status) > 0)
			tell_status(status);
		if (waitpid(child(i), &status, 0) > 0)
			tell_status(status);
		child(i);
		if (wait3(&status, 0, &usage) > 0)
			tell_status(status);
		if (wait4(child(i), &status, 0, NULL) > 0)
			tell_status(status);
		child(i);
		/* Told once, though it is asked for three times; and nothing of those that are not there. */
		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
		if (waitid(P_ALL, 0, &info, WEXITED) == 0)
			tell(info.si_code != CLD_EXITED, info.si_status);
		waitid(P_ALL, 0, NULL, WEXITED | WNOHANG);
		waitid(P_ALL, 0, (siginfo_t *)8, WEXITED | WNOHANG);
		waitpid(-1, &status, WNOHANG);
	}
	waitid(P_PID, (id_t)child(20), NULL, WEXITED);
	tell(0, 20);
}

UNTRACED int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "waits") == 0)
		wait_in_all_ways();
	else
		end(argc > 1 ? argv[1] : "");
	return 6;
}
