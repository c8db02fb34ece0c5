/*
 * counted N [END]: calls leaf() N times, then ends as END says:
 *   exit S       with status S (0 if nothing is given)
 *   signal S     by signal S
 *   wait         prints "ready" and waits to be killed
 *   linger       forks; the child calls once more, prints "ready" and waits to be killed; the parent ends
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void leaf(int i)
{
	sum += i;
}

static void wait_for_end(int ready)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	close(ready);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *end = argc > 2 ? argv[2] : "exit";
	int number = argc > 3 ? atoi(argv[3]) : 0;

	for (int i = 0; i < atoi(argv[1]); i++)
		leaf(i);
	if (!strcmp(end, "signal"))
		raise(number);
	if (!strcmp(end, "wait"))
		wait_for_end(-1);
	if (!strcmp(end, "linger")) {
		int ready[2];

		if (pipe(ready) != 0)
			return 1;
		if (fork() == 0) {
			leaf(1);
			wait_for_end(ready[1]);
		}
		close(ready[1]);
		return read(ready[0], &number, 1) != 0; /* until the child has closed its end */
	}
	return number;
}
