/*
 * late kill | crash: two threads call functions for ever. Prints the kernel's monotonic clock in nanoseconds
 * before and after it enters forever(); crash: once it has read a byte, it prints the clock again and touches
 * no address of its.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

static volatile long done;

UNTRACED static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

__attribute__((noinline)) static void step(void)
{
	done++;
}

__attribute__((noinline)) static void *other(void *nothing)
{
	for (;;)
		step();
	return nothing;
}

__attribute__((noinline)) static void forever(long long before, int crashes)
{
	long long entered = now();
	char byte;

	printf("%lld %lld\n", before, entered);
	fflush(stdout);
	if (crashes && read(STDIN_FILENO, &byte, 1) == 1) {
		dprintf(STDOUT_FILENO, "%lld\n", now());
		*(volatile int *)0x1230 = 1;
	}
	for (;;)
		step();
}

int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	forever(now(), argc > 1 && strcmp(argv[1], "crash") == 0);
	return 0;
}
