/*
 * brief FILE MODE THREADS ROUNDS: counts the calls that it makes of each of its functions in FILE, which a
 * death does not take along. In each round some calls take long, and most do not.
 *
 *   MODE  plain    rounds in each thread, and nothing else
 *         mixed    also waits for a mutex, jumps over calls, signals, forked children that do the same
 *         kill     the process kills itself once main's rounds are over, wherever the other threads are then
 *         ends     threads come and go, ending inside of calls, and so do images, by exec
 *         deep     all threads at once are in calls nested deeper than the tracer has room for
 *
 * brief FILE: prints what is in it, a line each: the name of a function and its calls.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BARE __attribute__((no_instrument_function))

enum {
	MAIN,
	WORK,
	ROUND,
	WRAP,
	REC,
	LEAF,
	SLOW,
	LOCKED,
	JUMPED,
	HANDLED,
	PEEK,
	ENDING,
	LAST,
	DIVING,
	DIVE,
	DEEP,
	FUNCTIONS
};
static const char *const names[FUNCTIONS] = {"main", "work", "round_of", "wrap", "rec", "leaf", "slow",
        "locked", "jumped", "handled", "peek", "work_and_end", "last", "work_and_dive", "dive", "deep"};
static unsigned long *counts;
static volatile int sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_mixed, is_killed, rounds, zeros, diving;

BARE static void count(int function)
{
	__atomic_fetch_add(&counts[function], 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void leaf(void)
{
	count(LEAF);
	sink++;
}

__attribute__((noinline)) static int rec(int n)
{
	count(REC);
	leaf();
	return n > 0 ? rec(n - 1) + 1 : 0;
}

__attribute__((noinline)) static int wrap(int n)
{
	count(WRAP);
	return rec(n) + 1;
}

__attribute__((noinline)) static void slow(void)
{
	struct timespec ms = {.tv_nsec = 1000000};

	count(SLOW);
	leaf();
	nanosleep(&ms, NULL);
}

/* A read that hardly ever waits. */
__attribute__((noinline)) static void peek(void)
{
	char byte;

	count(PEEK);
	if (read(zeros, &byte, 1) == 1)
		sink++;
}

__attribute__((noinline)) static void locked(void)
{
	count(LOCKED);
	pthread_mutex_lock(&mutex);
	sink++;
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void jumped(jmp_buf *to, int n)
{
	count(JUMPED);
	if (n == 0)
		longjmp(*to, 1);
	jumped(to, n - 1);
	sink++;
}

static void handled(int signal)
{
	count(HANDLED);
	(void)signal;
	leaf();
}

__attribute__((noinline)) static void round_of(int i)
{
	jmp_buf here;

	count(ROUND);
	for (int j = 0; j < 10; j++)
		wrap(j);
	peek();
	if (i % 16 == 0)
		slow();
	if (!is_mixed)
		return;
	locked();
	if (setjmp(here) == 0)
		jumped(&here, 5);
	if (i % 8 == 0)
		raise(SIGUSR1);
}

__attribute__((noinline)) static void last(void)
{
	count(LAST);
	leaf();
	pthread_exit(NULL);
}

static void *work_and_end(void *argument)
{
	count(ENDING);
	wrap(rounds);
	last();
	return argument;
}

__attribute__((noinline)) static int deep(int n)
{
	count(DEEP);
	return n > 0 ? deep(n - 1) + 1 : wrap(2);
}

__attribute__((noinline)) static void dive(void)
{
	struct timespec ms = {.tv_nsec = 1000000};

	count(DIVE);
	sink += deep(rounds);
	nanosleep(&ms, NULL);
}

static void *work_and_dive(void *threads)
{
	count(DIVING);
	__atomic_fetch_add(&diving, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&diving, __ATOMIC_RELAXED) < (int)(intptr_t)threads)
		sched_yield();
	dive();
	return threads;
}

static void *work(void *argument)
{
	count(WORK);
	for (int i = 0; i < rounds; i++)
		round_of(i);
	return argument;
}

BARE static void run_threads(int threads)
{
	pthread_t thread[64];

	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < rounds; i++)
		round_of(i);
	for (int i = 0; i < threads && !is_killed; i++)
		pthread_join(thread[i], NULL);
}

BARE static void end_threads(int threads)
{
	pthread_t thread;

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, work_and_end, NULL) == 0)
			pthread_join(thread, NULL);
}

/* The last of so many images has no threads. */
BARE static void go_on(char **argv, int images)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", images);
	execl("/proc/self/exe", argv[0], argv[1], argv[2], number, argv[4], NULL);
}

BARE static void dive_threads(int threads)
{
	pthread_t thread[256];

	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work_and_dive, (void *)(intptr_t)threads);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

BARE static void map(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		exit(1);
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

BARE static void show(void)
{
	for (int i = 0; i < FUNCTIONS; i++)
		if (counts[i])
			printf("%s\t%lu\n", names[i], counts[i]);
	exit(0);
}

BARE static void interrupt(void)
{
	struct itimerval often = {{0, 200}, {0, 200}};

	signal(SIGUSR1, handled);
	signal(SIGALRM, handled);
	setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
	map(argv[1]);
	zeros = open("/dev/zero", O_RDONLY);
	if (argc < 5)
		show();
	count(MAIN);
	rounds = atoi(argv[4]);
	is_mixed = !strcmp(argv[2], "mixed");
	is_killed = !strcmp(argv[2], "kill");
	if (!strcmp(argv[2], "ends")) {
		end_threads(atoi(argv[3]));
		if (atoi(argv[3]) > 0)
			go_on(argv, atoi(argv[3]) / 10);
		return 0;
	}
	if (!strcmp(argv[2], "deep")) {
		dive_threads(atoi(argv[3]));
		return 0;
	}
	if (is_mixed)
		interrupt();
	run_threads(atoi(argv[3]));
	if (is_killed)
		kill(getpid(), SIGKILL);
	for (int i = 0; is_mixed && i < 2; i++)
		if (fork() == 0) {
			run_threads(1);
			return 0;
		}
	while (is_mixed && wait(NULL) > 0)
		;
	return 0;
}
