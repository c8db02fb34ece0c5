/*
 * Children that come and go, one after the other: each makes so many calls of its own function and ends. Says
 * how many calls were made in all, then waits for a line.
 *
 *   generations CHILDREN CALLS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static volatile int sum;

KEPT void in_child(void)
{
	sum++;
}

KEPT void in_parent(void)
{
	sum++;
}

UNTRACED int main(int argc, char **argv)
{
	long children = argc > 1 ? atol(argv[1]) : 0, calls = argc > 2 ? atol(argv[2]) : 0;

	for (long child = 0; child < children; child++) {
		pid_t pid;

		in_parent();
		pid = fork();
		if (pid == 0) {
			for (long call = 0; call < calls; call++)
				in_child();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	printf("ready %d %ld\n", getpid(), children * (calls + 1));
	fflush(stdout);
	getchar();
	return 0;
}
