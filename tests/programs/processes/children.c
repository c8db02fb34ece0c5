/*
 * Children by fork that call, exit with a status, are killed, or become a daemon that
 * closes every descriptor and changes its root; and system() and popen() with a shell that
 * runs no instrumented code.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static volatile int sum;

KEPT void in_parent(void)
{
	sum++;
}

KEPT void in_child(int number)
{
	sum += number;
}

KEPT void in_daemon(void)
{
	sum++;
}

UNTRACED static void *spin(void *unused)
{
	for (;;)
		in_parent();
	return unused;
}

UNTRACED static int child(int number)
{
	for (int i = 0; i < 10; i++)
		in_child(number);
	if (number == 3)
		raise(SIGKILL);
	if (number == 4) {
		setsid();
		closefrom(0);
		if (chroot("/tmp") != 0)
			return 9;
		in_daemon();
	}
	return number;
}

UNTRACED int main(void)
{
	pthread_t busy;
	char line[16] = "";
	FILE *pipe;

	in_parent();
	for (int number = 0; number < 6; number++) {
		int status;

		fflush(stdout);
		pid_t pid = fork();

		if (pid == 0)
			exit(child(number));
		if (waitpid(pid, &status, 0) == pid)
			printf("%d: %d %d\n", number, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			        WIFSIGNALED(status) ? WTERMSIG(status) : -1);
	}
	printf("%d\n", WEXITSTATUS(system("exit 7")));
	pipe = popen("echo heard", "r");
	if (pipe && fgets(line, sizeof(line), pipe))
		printf("%s", line);
	pclose(pipe);
	/* Out of the midst of a thread's calls. */
	pthread_create(&busy, NULL, spin, NULL);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			in_child(0);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
