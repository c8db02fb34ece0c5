/*
 * storm: eight workers have child after child, each of which calls in_child() once and ends, until the
 * program is killed. Prints "ready" once one of them has had ten.
 */
#include <signal.h>
#include <stdio.h>
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

UNTRACED static void work(int worker)
{
	for (long n = 1;; n++) {
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

int main(void)
{
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			work(i);
		}
	for (;;)
		pause();
}
