/*
 * untraceable FILE...: runs each file by fork and exec, and by posix_spawn, and a file that is not there.
 * FILE itself, started with "show PROGRAM", prints its environment without its loader's
 * variables, and runs that program.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n)
{
	return n + 1;
}

int main(int argc, char **argv)
{
	char *own = argv[0];
	pid_t pid;

	work(1);
	if (argc == 1)
		return 7;
	if (argc == 3 && strcmp(argv[1], "show") == 0) {
		char *arguments[] = {argv[2], NULL};
		int status;

		printf("LD_PRELOAD %s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "unset");
		fflush(stdout);
		if ((pid = vfork()) == 0)
			_exit(execv(argv[2], arguments));
		waitpid(pid, &status, 0);
		return WEXITSTATUS(status);
	}
	for (int i = 1; i < argc; i++) {
		char *arguments[] = {argv[i], (char *)"show", own, NULL};
		int status;

		if (fork() == 0)
			_exit(execv(argv[i], arguments));
		wait(&status);
		printf("%d\n", WEXITSTATUS(status));
		fflush(stdout);
		if (posix_spawn(&pid, argv[i], NULL, NULL, arguments, environ) == 0) {
			waitpid(pid, &status, 0);
			printf("%d\n", WEXITSTATUS(status));
			fflush(stdout);
		}
	}
	execl("no-such-file", "no-such-file", NULL);
	return 3;
}
