/*
 * clock SECONDS: calls sleeping() for that time, and reads CLOCK_MONOTONIC right before and
 * after the call, and first and last inside it. Prints the shortest and the longest the
 * call can have been, in ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNTRACED __attribute__((no_instrument_function))

UNTRACED static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((noinline)) static long long sleeping(int seconds)
{
	long long begin = now();
	struct timespec rest = {.tv_sec = seconds};

	nanosleep(&rest, NULL);
	return now() - begin;
}

UNTRACED int main(int argc, char **argv)
{
	long long begin = (sleeping(0), now()); /* a first call takes longer to record */
	long long inside = sleeping(argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0);

	printf("%lld %lld\n", inside, now() - begin);
	return 0;
}
