/*
 * load THREADS ROUNDS [WITH [SEED]]: THREADS threads, "load 0" and on, do ROUNDS rounds of
 * two calls, and count the calls that returned. Prints "tid calls" for each thread,
 * tab-separated, and ends with status 3. WITH says what happens to the manager, which is
 * the parent or $MANAGER:
 *
 *   stop     stopped while the first half of the rounds is done
 *   pause    stopped until every thread waits for it
 *   freeze   stopped for good
 *   kill     killed at a moment that SEED decides, with an even one once 20000 calls have returned
 *
 * or of the program:
 *
 *   crash    a thread "sleeper" has called early() before, and is inside of sleeping() when SIGKILL ends the
 *            program
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "../harm/own_call.h"

#define UNTRACED __attribute__((no_instrument_function))
#define CALL     __attribute__((noinline))

enum { THREADS_MAX = 64, STATUS = 3, LONGEST_US = 5000, CALLS = 20000, LOOKS = 20 };

static struct worker {
	pthread_t thread;
	int tid;
	volatile uint64_t calls;
} __attribute__((aligned(64))) workers[THREADS_MAX];

static int threads;
static uint64_t rounds;
static pthread_barrier_t barrier; /* of all threads and main */
static volatile int sum;
static volatile int stopped;  /* the manager */
static volatile int watching; /* the thread that wakes it */
static sem_t asleep;

/* Unlike atoi, never inline, which a compiler would instrument. */
UNTRACED static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

CALL static void leaf(void)
{
	sum++;
}

CALL static void one_round(volatile uint64_t *calls)
{
	leaf();
	++*calls;
}

CALL static void early(void)
{
	sum++;
}

CALL static void sleeping(void)
{
	sem_post(&asleep);
	for (;;)
		pause();
}

UNTRACED static void *sleeper(void *unused)
{
	pthread_setname_np(pthread_self(), "sleeper");
	early();
	sleeping();
	return unused;
}

/* All rounds in two halves, each when main says so. */
UNTRACED static void *work(void *own)
{
	struct worker *w = own;
	char name[16];

	snprintf(name, sizeof(name), "load %d", (int)(w - workers));
	pthread_setname_np(pthread_self(), name);
	w->tid = gettid();
	for (int half = 0; half < 2; half++) {
		pthread_barrier_wait(&barrier);
		for (uint64_t i = 0; i < rounds / 2; i++) {
			one_round(&w->calls);
			++w->calls;
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* The state of a thread, as the kernel has it: R, S, T, ... Reads it by system calls,
 * because a call of libc would be a recorded wait, which may have to wait for the stopped
 * manager. */
UNTRACED static char state_of(int process, int thread)
{
	char path[64], line[512] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, thread);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return 0;
	if (own_call(SYS_read, fd, (long)line, sizeof(line) - 1) <= 0)
		line[0] = 0;
	syscall(SYS_close, fd);
	return strrchr(line, ')') ? strrchr(line, ')')[2] : 0;
}

UNTRACED static int all_stopped(int process)
{
	char path[64];
	struct dirent *entry;
	int all = 1;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.' && state_of(process, number(entry->d_name)) != 'T')
			all = 0;
	if (tasks)
		closedir(tasks);
	return all;
}

UNTRACED static uint64_t returned(void)
{
	uint64_t calls = 0;

	for (int i = 0; i < threads; i++)
		calls += workers[i].calls;
	return calls;
}

/* Or have ended: on a busy machine they may have lost patience with the manager. */
UNTRACED static int all_wait(void)
{
	for (int i = 0; i < threads; i++) {
		char state = state_of(getpid(), workers[i].tid);

		if (state && state != 'S')
			return 0;
	}
	return 1;
}

UNTRACED static void stop(int manager)
{
	kill(manager, SIGSTOP);
	while (!all_stopped(manager))
		usleep(1000);
	stopped = 1;
}

/* By an instruction of its own: a library's wait, or that of syscall(), would be recorded,
 * and so have to wait for the manager itself. */
UNTRACED static void rest(void)
{
	struct timespec a_while = {.tv_nsec = 1000000};

	own_call(SYS_nanosleep, (long)&a_while, 0, 0);
}

/* A thread of its own: any other may have to wait for the manager itself, to record a barrier for instance;
 * and this one to record that it begins, so it begins before.
 * Once one has made a call all are past the barrier; they sleep for a moment on their way too, not at each
 * look.
 */
UNTRACED static void *wake(void *manager)
{
	watching = 1;
	while (!stopped || returned() == 0)
		rest();
	for (int looks = 0; looks < LOOKS; looks = all_wait() ? looks + 1 : 0)
		rest();
	kill((int)(intptr_t)manager, SIGCONT);
	return NULL;
}

UNTRACED static void kill_at_some_moment(int manager, int number)
{
	unsigned short seed[3] = {0, 0, (unsigned short)number};
	struct timespec moment = {.tv_nsec = (long)(erand48(seed) * LONGEST_US * 1000)};

	while (number % 2 == 0 && returned() < CALLS)
		sched_yield();
	nanosleep(&moment, NULL);
	kill(manager, SIGKILL);
}

UNTRACED int main(int argc, char **argv)
{
	const char *with = argc > 3 ? argv[3] : "";
	int manager = getenv("MANAGER") ? number(getenv("MANAGER")) : getppid();
	pthread_t thread;

	threads = number(argv[1]);
	rounds = strtoull(argv[2], NULL, 10);
	if (threads > THREADS_MAX)
		return 1;
	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	sem_init(&asleep, 0, 0);
	if (!strcmp(with, "crash")) {
		pthread_create(&thread, NULL, sleeper, NULL);
		sem_wait(&asleep);
	}
	for (int i = 0; i < threads; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	if (!strcmp(with, "pause"))
		pthread_create(&thread, NULL, wake, (void *)(intptr_t)manager);
	while (!strcmp(with, "pause") && !watching)
		rest();
	if (!strcmp(with, "stop") || !strcmp(with, "pause") || !strcmp(with, "freeze"))
		stop(manager);
	pthread_barrier_wait(&barrier);
	if (!strcmp(with, "kill"))
		kill_at_some_moment(manager, number(argv[4]));
	pthread_barrier_wait(&barrier);
	if (!strcmp(with, "stop"))
		kill(manager, SIGCONT);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	if (!strcmp(with, "pause"))
		pthread_join(thread, NULL);
	for (int i = 0; i < threads; i++)
		printf("%d\t%lu\n", workers[i].tid, workers[i].calls);
	fflush(stdout);
	if (!strcmp(with, "crash"))
		raise(SIGKILL);
	return STATUS;
}
