/*
 * storm [CHILDREN]: eight workers have child after child. A child calls in_child() once and
 * ends. A worker stops after CHILDREN children; without that the program runs until it is
 * killed. Prints "ready" once one worker has had ten.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS  8
#define UNTRACED __attribute__((no_instrument_function))

static volatile int sum;

__attribute__((noinline)) static void in_child(void)
{
	sum++;
}

UNTRACED static void work(int worker, long children)
{
	for (long n = 1; n <= children; n++) {
		if (fork() == 0) {
			in_child();
			_exit(0);
		}
		wait(NULL);
		if (worker == 0 && n == 10) {
			puts("ready");
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	long children = argc > 1 ? atol(argv[1]) : LONG_MAX;

	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			work(i, children);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
