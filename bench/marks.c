/*
 * Measures the cost of a macro of <fxt/trace.h>: marks instant|duration COUNT
 *
 * It prints the nanoseconds that one takes, less those of an empty loop. The least of 500
 * times is taken of both. Whether the macro is recorded is up to the tracer that the
 * program runs under.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "include/fxt/trace.h"

#define TIMES 500

static void make_nothing(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(i));
}

static void make_instants(long n)
{
	for (long i = 0; i < n; i++) {
		__asm__ volatile("" : "+r"(i));
		FXT_INSTANT("bench", "instant", FXT_SCOPE_THREAD);
	}
}

static void make_durations(long n)
{
	for (long i = 0; i < n; i++) {
		FXT_DURATION("bench", "duration");
		__asm__ volatile("" : "+r"(i));
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double least(void (*make)(long n), long n)
{
	double least = 0;

	for (int i = 0; i < TIMES; i++) {
		double begin = now(), took;

		make(n / TIMES);
		took = now() - begin;
		if (i == 0 || took < least)
			least = took;
	}
	return least / (double)(n / TIMES);
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[2]) : 0;

	if (count < TIMES || (strcmp(argv[1], "instant") != 0 && strcmp(argv[1], "duration") != 0)) {
		fprintf(stderr, "usage: marks instant|duration COUNT\n");
		return 2;
	}
	printf("%.3f\n", least(strcmp(argv[1], "instant") == 0 ? make_instants : make_durations, count) -
	                         least(make_nothing, count));
}
