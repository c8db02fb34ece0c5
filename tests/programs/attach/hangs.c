/*
 * hangs: a thread "reader" waits in read() for a byte of a pipe, "locker" for a mutex, and
 * "holder" has it and sleeps. The first line tells their numbers, the pipe's descriptor and
 * the mutex's address. For each line of the standard input the reader gets a byte, calls
 * called() ten times and prints how often it did in all, and waits for the next byte.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* After a call: the caller's frame stays, because this is no tail call. */
#define STAY __asm__ volatile("")

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t started;
static pid_t tids[3];
static int ends[2];
static unsigned long calls;

__attribute__((noinline)) void called(void);
void called(void)
{
	calls++;
}

__attribute__((noinline)) void fetch(void);
void fetch(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
	STAY;
}

__attribute__((noinline)) void serve(void);
void serve(void)
{
	fetch();
	for (int i = 0; i < 10; i++)
		called();
	printf("%lu\n", calls);
	fflush(stdout);
	STAY;
}

static void begin(int number, const char *name)
{
	tids[number] = gettid();
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&started);
}

void *run_reader(void *unused);
void *run_reader(void *unused)
{
	begin(0, "reader");
	for (;;)
		serve();
	return unused;
}

void *run_holder(void *unused);
void *run_holder(void *unused)
{
	pthread_mutex_lock(&mutex);
	begin(1, "holder");
	for (;;)
		sleep(1000);
	return unused;
}

__attribute__((noinline)) void take(void);
void take(void)
{
	pthread_mutex_lock(&mutex);
	STAY;
}

void *run_locker(void *unused);
void *run_locker(void *unused)
{
	begin(2, "locker");
	take();
	STAY;
	return unused;
}

int main(void)
{
	void *(*const runs[])(void *) = {run_reader, run_holder, run_locker};
	pthread_t threads[3];
	char line[32];

	if (pipe(ends) != 0)
		return 1;
	pthread_barrier_init(&started, NULL, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, runs[i], NULL);
	pthread_barrier_wait(&started);
	printf("ready %d %d %d %d %p\n", tids[0], tids[1], tids[2], ends[0], (void *)&mutex);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		if (write(ends[1], line, 1) != 1)
			return 1;
	return 0;
}
