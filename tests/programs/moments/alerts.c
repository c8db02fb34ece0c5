/*
 * Raises alerts on two threads, each inside a call of work(). For each prints the thread, the time by the clock
 * before and behind it, and its name.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { ALERTS = 4 };

void fxt_alert(const char *name) __attribute__((weak));

UNTRACED static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) static void work(const char *name)
{
	uint64_t before = now();

	if (fxt_alert)
		fxt_alert(name);
	printf("%d\t%llu\t%llu\t%s\n", (int)syscall(SYS_gettid), (unsigned long long)before,
	        (unsigned long long)now(), name);
	usleep(2000);
}

UNTRACED static void *run(void *name)
{
	for (int i = 0; i < ALERTS; i++)
		work(name);
	return NULL;
}

UNTRACED int main(void)
{
	pthread_t other;

	work("slow request");
	pthread_create(&other, NULL, run, "of the other thread");
	pthread_join(other, NULL);
	work("a frame that is late, and whose name has more bytes than a packet");
	return 0;
}
