/* Says async spans and counters, and prints what the trace must have of them. A span of "long"
 * lasts at least 20 ms. */
#include <fxt/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define SPANS 50

static void *end_all(void *ids)
{
	const uint64_t *id = ids;

	for (int i = 0; i < SPANS; i += 2)
		FXT_ASYNC_END("http", "request", id[i]);
	return NULL;
}

int main(void)
{
	uint64_t ids[SPANS], slow = FXT_NONCE();
	int least = 0, most = 0, sum = 0, value = 0;
	pthread_t thread;

	for (int i = 0; i < SPANS; i++) {
		ids[i] = FXT_NONCE();
		FXT_ASYNC_BEGIN("http", "request", ids[i], "i", i);
	}
	for (int i = 0; i < 7; i++) {
		FXT_ASYNC_BEGIN("db", "request", ids[0]);
		FXT_ASYNC_END("db", "request", ids[0]);
	}
	pthread_create(&thread, NULL, end_all, ids);
	pthread_join(thread, NULL);
	for (int i = 0; i < SPANS; i++) {
		value = (i * 37) % 101 - 40;
		least = value < least ? value : least;
		most = value > most ? value : most;
		sum += value;
		FXT_COUNTER("db", "cache", 0, "level", value, "double", value * 2.5);
	}
	FXT_ASYNC_BEGIN("http", "long", slow);
	{
		FXT_DURATION("http", "sleeps");
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	FXT_ASYNC_END("http", "long", slow);
	FXT_ASYNC_END("http", "never begun", slow);
	printf("%d %d %d %d %d %d %d\n", SPANS, SPANS - (SPANS + 1) / 2, 7, least, most, sum, value);
	return 0;
}
