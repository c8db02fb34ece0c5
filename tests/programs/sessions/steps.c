/* Two threads that call counted functions on orders, which are lines on standard input:
 *
 *   call N   each makes N rounds of three calls
 *   run      both make rounds until the next line
 *   alert X  raises an alert, if a tracer is there to hear it
 *   wait     the main thread waits for the next line inside of a call
 *   fork     a child makes 1000 rounds, with "half" on standard output before the last half, and
 *            a byte on the descriptor 7 awaited
 *   die N    a child makes a round and dies of the signal N, and is waited for
 *   exit N   a child exits with that status, and is waited for
 *
 * After each line, and when all calls have returned, it prints how many both have made so
 * far. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

void fxt_alert(const char *name) __attribute__((weak));

static pthread_barrier_t barrier;
static long rounds; /* to make; -1 = until `halt` */
static int halt;
static unsigned long made[2];

__attribute__((noinline)) static void leaf(int thread)
{
	made[thread]++;
}

__attribute__((noinline)) static void outer(int thread)
{
	made[thread]++;
	leaf(thread);
	leaf(thread);
}

QUIET static void *work(void *number)
{
	int thread = (int)(long)number;

	for (;;) {
		pthread_barrier_wait(&barrier);
		if (rounds == 0)
			return NULL;
		for (long i = 0; rounds < 0 ? !__atomic_load_n(&halt, __ATOMIC_RELAXED) : i < rounds; i++) {
			outer(thread);
			for (volatile int wait = rounds < 0 ? 3000 : 0; wait > 0;
			        wait--) /* or traces grow large */
				;
		}
		pthread_barrier_wait(&barrier);
	}
}

__attribute__((noinline)) static void waits(char *line, int bytes)
{
	puts("waiting");
	fflush(stdout);
	if (!fgets(line, bytes, stdin))
		exit(1);
}

QUIET static void have_child(void)
{
	char byte;

	if (fork() == 0) {
		for (int i = 0; i < 500; i++)
			outer(0);
		(void)!write(1, "half\n", 5);
		(void)!read(7, &byte, 1);
		for (int i = 0; i < 500; i++)
			outer(0);
		_exit(0);
	}
}

QUIET static void have_ending(int signal, int status)
{
	pid_t child = fork();

	if (child == 0) {
		outer(0);
		if (signal)
			raise(signal);
		exit(status);
	}
	waitpid(child, NULL, 0);
}

QUIET int main(void)
{
	pthread_t threads[2];
	char line[64];

	pthread_barrier_init(&barrier, NULL, 3);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "call ", 5)) {
			rounds = atol(line + 5);
			pthread_barrier_wait(&barrier);
			pthread_barrier_wait(&barrier);
		} else if (!strcmp(line, "run")) {
			rounds = -1;
			halt = 0;
			pthread_barrier_wait(&barrier);
			puts("running");
			fflush(stdout);
			if (!fgets(line, sizeof(line), stdin))
				break;
			__atomic_store_n(&halt, 1, __ATOMIC_RELAXED);
			pthread_barrier_wait(&barrier);
		} else if (!strncmp(line, "alert ", 6) && fxt_alert) {
			fxt_alert(line + 6);
		} else if (!strcmp(line, "wait")) {
			waits(line, sizeof(line));
		} else if (!strcmp(line, "fork")) {
			have_child();
		} else if (!strncmp(line, "die ", 4)) {
			have_ending(atoi(line + 4), 0);
		} else if (!strncmp(line, "exit ", 5)) {
			have_ending(0, atoi(line + 5));
		}
		printf("%lu %lu\n", made[0], made[1]);
		fflush(stdout);
	}
	rounds = 0;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
