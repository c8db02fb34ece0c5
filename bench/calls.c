/*
 * Measures the cost of a call: calls PATTERN THREADS CALLS [stop]
 *
 * It prints the nanoseconds of a call. The time begins when all threads are ready, and ends
 * when the last one is done. With "stop", it stops its parent meanwhile, which is the manager
 * of a traced program. Each thread makes CALLS calls of PATTERN:
 *
 *   leaf    one function that does next to nothing
 *   deep    one that calls itself, 500 deep
 *   many    functions in random order, as many as there are (many.S)
 *   mixed   a leaf and one of about a microsecond, in turn
 *   N       one that works about N nanoseconds
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED    __attribute__((no_instrument_function, patchable_function_entry(0)))
#define KEPT        __attribute__((noinline))
#define THREADS_MAX 64
#define DEPTH       500
#define WARM_UP     100000

static pthread_barrier_t ready;
static void (*make)(long calls);
static long calls, work_steps;

KEPT static long leaf(long value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

KEPT static long deep(long depth)
{
	long value = depth > 1 ? deep(depth - 1) : 0;

	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

/* A step is a multiplication that waits for the one before: 3 to 4 cycles. */
KEPT static long work(long steps)
{
	long value = 3;

	for (long i = 0; i < steps; i++) {
		value *= 3;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

UNTRACED static void make_leaf(long n)
{
	long value = 0;

	for (long i = 0; i < n; i++)
		value = leaf(value);
}

UNTRACED static void make_deep(long n)
{
	for (long i = 0; i < n; i += DEPTH)
		deep(DEPTH);
}

UNTRACED static void make_mixed(long n)
{
	long value = 0;

	for (long i = 0; i < n; i += 2) {
		value = leaf(value);
		work(1000);
	}
}

UNTRACED static void make_work(long n)
{
	for (long i = 0; i < n; i++)
		work(work_steps);
}

#ifdef INSTRUMENTED
void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);
#else
#define __cyg_profile_func_enter(function, call_site) ((void)0)
#define __cyg_profile_func_exit(function, call_site)  ((void)0)
#endif

/* Those of many.S, which no compiler has instrumented. */
UNTRACED static void make_many(long n)
{
	extern char functions[];
	uint32_t random = 1;

	for (long i = 0; i < n; i++) {
		random = random * 1664525u + 1013904223u;
		char *function = functions + 64 * ((uint64_t)random * FUNCTIONS >> 32);

		__cyg_profile_func_enter(function, functions);
		((void (*)(void))(uintptr_t)function)();
		__cyg_profile_func_exit(function, functions);
	}
}

UNTRACED static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct span {
	uint64_t start, end;
};

UNTRACED static void *loop(void *argument)
{
	struct span *span = argument;

	make(calls < WARM_UP ? calls : WARM_UP);
	pthread_barrier_wait(&ready);
	span->start = now();
	make(calls);
	span->end = now();
	return NULL;
}

UNTRACED static void choose(const char *pattern)
{
	static const struct {
		const char *name;
		void (*make)(long);
	} patterns[] = {{"leaf", make_leaf}, {"deep", make_deep}, {"many", make_many}, {"mixed", make_mixed}};

	for (unsigned i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (strcmp(pattern, patterns[i].name) == 0)
			make = patterns[i].make;
	work_steps = atol(pattern);
	if (work_steps > 0)
		make = make_work;
}

UNTRACED int main(int argc, char **argv)
{
	bool stops = argc == 5 && strcmp(argv[4], "stop") == 0;
	bool is_usable = argc == 4 || stops;
	int threads = is_usable ? atoi(argv[2]) : 0;
	pthread_t thread[THREADS_MAX];
	struct span span[THREADS_MAX];
	uint64_t first = UINT64_MAX, last = 0;

	calls = is_usable ? atol(argv[3]) : 0;
	if (is_usable)
		choose(argv[1]);
	if (!make || threads < 1 || threads > THREADS_MAX || calls < 1) {
		fprintf(stderr, "usage: calls leaf|deep|many|mixed|NANOSECONDS THREADS CALLS [stop]\n");
		return 2;
	}
	if (stops)
		kill(getppid(), SIGSTOP);
	pthread_barrier_init(&ready, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, loop, &span[i]);
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		first = span[i].start < first ? span[i].start : first;
		last = span[i].end > last ? span[i].end : last;
	}
	if (stops)
		kill(getppid(), SIGCONT);
	printf("%.3f\n", (double)(last - first) / (double)calls);
}
