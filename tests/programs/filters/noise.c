/*
 * A function that is called too often, among others that are not. It reads lines on
 * standard input:
 *
 * - go N: N rounds of one tick(), which takes a millisecond of the processor's time, one
 *   rare(), which takes none, and 2000 calls of hot(), which take none either
 * - fork: a child goes on in its place; the program waits for the child
 *
 * After each line it prints the number of rounds that the process has made so far.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static volatile unsigned sum;

QUIET static long ran_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((noinline)) static void tick(void)
{
	for (long end = ran_ns() + 1000000; ran_ns() < end;)
		;
}

__attribute__((noinline)) static void rare(void)
{
	sum++;
}

__attribute__((noinline)) static void hot(void)
{
	sum++;
}

QUIET int main(void)
{
	char line[64];
	int rounds, made = 0;

	setvbuf(stdin, NULL, _IONBF, 0); /* or the child has what its parent has read ahead */
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "go %d", &rounds) == 1) {
			for (made += rounds; rounds > 0; rounds--) {
				tick();
				rare();
				for (int i = 0; i < 2000; i++)
					hot();
			}
		} else if (!strcmp(line, "fork\n")) {
			if (fork())
				return wait(NULL) < 0;
			made = 0;
		}
		printf("%d\n", made);
	}
	return 0;
}
