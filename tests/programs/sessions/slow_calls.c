/* Two threads call serve() 60 times each, which mostly takes 100 us, and now and then 6 ms, as other() does
 * always, and which is left by a jump sometimes. "ready" is printed first; behind each call that is to take
 * long "slow", thread id and number, and a line of standard input is awaited; at the end for each call
 * "call", thread id, number, and how many ns it took as measured from within it, and from around it; then
 * "end", and once more a line is awaited.
 *
 * With an argument serve() is called on and on. */
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define CALLS 60

static long within[2][CALLS], around[2][CALLS];
static pid_t tids[2];
static pthread_mutex_t lines = PTHREAD_MUTEX_INITIALIZER;

QUIET static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

__attribute__((noinline)) static void spin(long ns)
{
	long end = now() + ns;

	while (now() < end)
		;
}

__attribute__((noinline)) static void serve(long ns, long *took, jmp_buf *out)
{
	long begin = now();

	spin(ns);
	*took = now() - begin;
	if (out)
		longjmp(*out, 1);
}

__attribute__((noinline)) static void other(void)
{
	spin(6000000);
}

/* The line has an answer. */
QUIET static void say(const char *line)
{
	char answer[16];

	puts(line);
	fflush(stdout);
	(void)!fgets(answer, sizeof(answer), stdin);
}

QUIET static void say_slow(int thread, int number)
{
	char line[64];

	snprintf(line, sizeof(line), "slow %d %d", tids[thread], number);
	pthread_mutex_lock(&lines);
	say(line);
	pthread_mutex_unlock(&lines);
}

QUIET static void *work(void *argument)
{
	int thread = (int)(long)argument;

	tids[thread] = gettid();
	for (volatile int i = 0; i < CALLS; i++) {
		jmp_buf out;
		long begin = now();

		bool is_slow = i % 20 == 7 + thread;

		if (setjmp(out) == 0)
			serve(is_slow ? 6000000 : 100000, &within[thread][i], i % 40 == 8 ? &out : NULL);
		around[thread][i] = now() - begin;
		if (is_slow)
			say_slow(thread, i);
		if (i % 10 == 0)
			other();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	long ns;

	(void)argv;
	while (argc > 1)
		serve(6000000, &ns, NULL);
	puts("ready");
	fflush(stdout);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < CALLS; n++)
			printf("call %d %d %ld %ld\n", tids[i], n, within[i][n], around[i][n]);
	say("end");
	return 0;
}
