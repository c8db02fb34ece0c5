/*
 * Serves requests, one of them slowly, beside a thread of its own that counts. On the standard output stand
 * how often each function was called, by counters of this program, and how long the slow request took at
 * least and at most, by its clock, in ns.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REQUESTS = 20, SLOW = 13, WORDS = 7 };

static unsigned long parsed, answered, stumbled, served, counted;

static __attribute__((no_instrument_function)) uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t slow_least, slow_most;

__attribute__((noinline)) void parse_word(void)
{
	parsed++;
}

__attribute__((noinline)) void write_answer(void)
{
	answered++;
}

__attribute__((noinline)) void stumble(void)
{
	stumbled++;
	nanosleep(&(struct timespec){.tv_nsec = 40000000}, NULL);
}

__attribute__((noinline)) void serve_request(int number)
{
	uint64_t begin = now();

	served++;
	for (int i = 0; i < WORDS; i++)
		parse_word();
	if (number == SLOW)
		stumble();
	write_answer();
	if (number == SLOW)
		slow_least = now() - begin;
}

__attribute__((noinline)) void count_step(void)
{
	counted++;
}

__attribute__((noinline)) void *count_steps(void *steps)
{
	pthread_setname_np(pthread_self(), "counting");
	for (long i = 0; i < *(const long *)steps; i++)
		count_step();
	return NULL;
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t thread;

	pthread_create(&thread, NULL, count_steps, &steps);
	for (int i = 0; i < REQUESTS; i++) {
		uint64_t begin = now();

		serve_request(i);
		if (i == SLOW)
			slow_most = now() - begin;
	}
	pthread_join(thread, NULL);
	printf("parse_word %lu\nwrite_answer %lu\nstumble %lu\nserve_request %lu\ncount_step %lu\n", parsed,
	        answered, stumbled, served, counted);
	printf("count_steps 1\nmain 1\nslow %ju %ju\n", (uintmax_t)slow_least, (uintmax_t)slow_most);
	return 0;
}
