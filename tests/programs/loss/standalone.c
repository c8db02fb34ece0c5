/*
 * standalone forks|child|quiet: a program that is recorded without fxtrun, for what happens to its file.
 *
 * forks  parent and child call at the same time, 3,000,000 times each: more than a buffer holds
 * child  calls, and runs itself as "quiet", by fork and exec, between two calls of its own
 * quiet  calls once
 *
 * Each reports a SIGCHLD that no child of the program has caused, from a handler that stays
 * to the end of the process.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 3000000

static volatile int sum;

__attribute__((noinline)) void in_parent(int i)
{
	sum += i;
}

__attribute__((noinline)) void in_child(int i)
{
	sum += i;
}

__attribute__((noinline)) void quiet(void)
{
	sum++;
}

__attribute__((no_instrument_function)) static void child_ended(int signal)
{
	static const char text[] = "SIGCHLD\n";

	(void)signal;
	(void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
}

static void fork_and_call(void)
{
	int child = fork();

	for (int i = 0; i < CALLS; i++)
		child ? in_parent(i) : in_child(i);
	if (child)
		waitpid(child, NULL, 0);
}

static void run_child(char *self)
{
	int child;

	in_parent(1);
	child = fork();
	if (child == 0) {
		char *argv[] = {self, "quiet", NULL};

		execv(self, argv);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	in_parent(2);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (strcmp(argv[1], "forks") == 0)
		fork_and_call();
	else if (strcmp(argv[1], "child") == 0)
		run_child(argv[0]);
	else
		quiet();
	signal(SIGCHLD, child_ended);
	return 0;
}
