/*
 * A function that is called 200 times and takes long five times, each for another reason.
 * Prints a line for each slow call: cause, how often handle() had been called before, and
 * in ns by the program's own clocks how long it took, how long its thread was on a CPU, how
 * long the cause took, and how long the busy thread was on a CPU. The busy thread is bound
 * to the same CPU and can run only when this one does not.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../threads/asleep.h"

#define UNTRACED __attribute__((no_instrument_function))

enum { CALLS = 200, STEPS = 20, MANY_STEPS = 60000, GROWN_BYTES = 48 << 20, CPU_MS = 40, SLEEP_MS = 20 };

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int hog_runs, hog_may_end, keeper_has_it, handler_tid;
static volatile unsigned sink;
static clockid_t hog_clock;

UNTRACED static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

UNTRACED static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *hog(void *cpu)
{
	pthread_setname_np(pthread_self(), "hog");
	pin(*(int *)cpu);
	hog_runs = 1;
	while (!hog_may_end)
		sink++;
	return NULL;
}

/* Holds the lock until somebody sleeps for it, and a while longer. */
static void rebuild_index(void)
{
	struct timespec while_longer = {.tv_nsec = 5000000};

	pthread_mutex_lock(&index_lock);
	keeper_has_it = 1;
	until_asleep(handler_tid, &index_lock, sizeof(index_lock));
	nanosleep(&while_longer, NULL);
	pthread_mutex_unlock(&index_lock);
}

static void *keeper(void *unused)
{
	pthread_setname_np(pthread_self(), "keeper");
	rebuild_index();
	return unused;
}

static void step(void)
{
	sink++;
}

static void steps(int count)
{
	for (int i = 0; i < count; i++)
		step();
}

static void compute(void)
{
	uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + CPU_MS * UINT64_C(1000000);

	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		sink++;
}

static void look_up(void)
{
	pthread_mutex_lock(&index_lock);
	sink++;
	pthread_mutex_unlock(&index_lock);
}

static void grow(void)
{
	char *bytes = malloc(GROWN_BYTES);

	for (size_t i = 0; bytes && i < GROWN_BYTES; i += 4096)
		((volatile char *)bytes)[i] = 1;
	free(bytes);
}

static void pause_for(int ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000L};

	nanosleep(&time, NULL);
}

enum cause { NOTHING, PREEMPTED, LOCKED, GROWS, SLEEPS, WORKS, CAUSES };
static const char *const names[] = {"nothing", "preempted", "locked", "grows", "sleeps", "works"};

static uint64_t handle(enum cause cause)
{
	uint64_t begin;

	steps(STEPS);
	begin = now(CLOCK_MONOTONIC);
	if (cause == PREEMPTED)
		compute();
	else if (cause == LOCKED)
		look_up();
	else if (cause == GROWS)
		grow();
	else if (cause == SLEEPS)
		pause_for(SLEEP_MS);
	else if (cause == WORKS)
		steps(MANY_STEPS);
	return now(CLOCK_MONOTONIC) - begin;
}

UNTRACED static void tell(enum cause cause, int number)
{
	uint64_t other = hog_clock ? now(hog_clock) : 0;
	uint64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), part = handle(cause);

	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = now(CLOCK_MONOTONIC) - wall;
	other = hog_clock ? now(hog_clock) - other : 0;
	if (cause != NOTHING)
		printf("%s\t%d\t%llu\t%llu\t%llu\t%llu\n", names[cause], number, (unsigned long long)wall,
		        (unsigned long long)cpu, (unsigned long long)part, (unsigned long long)other);
}

UNTRACED static void beside_a_hog(int number)
{
	int cpu = sched_getcpu();
	pthread_t thread;

	pthread_create(&thread, NULL, hog, &cpu);
	pin(cpu);
	while (!hog_runs)
		sched_yield();
	pthread_getcpuclockid(thread, &hog_clock);
	tell(PREEMPTED, number);
	hog_clock = 0;
	hog_may_end = 1;
	pthread_join(thread, NULL);
}

UNTRACED static void behind_a_lock(int number)
{
	pthread_t thread;

	handler_tid = gettid();
	pthread_create(&thread, NULL, keeper, NULL);
	while (!keeper_has_it)
		sched_yield();
	tell(LOCKED, number);
	pthread_join(thread, NULL);
}

int main(void)
{
	for (int i = 0; i < CALLS; i++) {
		enum cause cause = i % 30 == 29 ? (enum cause)(i / 30 + 1) : NOTHING;

		if (cause == PREEMPTED)
			beside_a_hog(i);
		else if (cause == LOCKED)
			behind_a_lock(i);
		else
			tell(cause < CAUSES ? cause : NOTHING, i);
	}
	return 0;
}
