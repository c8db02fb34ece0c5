/*
 * tree N FILE: a thread "worker N" calls in_worker() N times, and a forked child calls
 * in_child() N times. All three threads add a line about themselves to FILE: process,
 * thread, name of the process, name of the thread, tab-separated.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define CALL     __attribute__((noinline))

static volatile int sum;
static int number;
static FILE *file;

CALL static void in_worker(void)
{
	sum++;
}

CALL static void in_child(void)
{
	sum++;
}

UNTRACED static void tell(const char *name)
{
	fprintf(file, "%d\t%d\ttree\t%s\n", getpid(), gettid(), name);
	fflush(file);
}

UNTRACED static void *work(void *unused)
{
	char name[16];

	snprintf(name, sizeof(name), "worker %d", number);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < number; i++)
		in_worker();
	tell(name);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3 || !(file = fopen(argv[2], "a")))
		return 1;
	number = atoi(argv[1]);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		for (int i = 0; i < number; i++)
			in_child();
		tell("tree");
		return 0;
	}
	tell("tree");
	return wait(NULL) < 0;
}
