/* A library with a fork handler that runs after the agent's, so a thread can fork while
 * another one is about to. run() makes two children that have the same heap, the second of
 * them in that way; it goes on allocating before they do anything. Prints both pids. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sem_t other_may, other_has;
static __thread int waits;
static void *volatile kept;

/* The C libraries that let no thread fork before another one has: that one is not waited for. */
static void await_other_fork(void)
{
	struct timespec until;

	if (!waits)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	sem_post(&other_may);
	sem_timedwait(&other_has, &until);
}

static void *fork_when_told(void *unused)
{
	sem_wait(&other_may);
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	sem_post(&other_has);
	return unused;
}

static pid_t begin_child(const int gate[2])
{
	char byte;
	pid_t child = fork();

	if (child == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 0)
			abort();
		kept = malloc(100);
		free(kept);
		_exit(0);
	}
	return child;
}

int run(void)
{
	pid_t children[2];
	pthread_t other;
	int gate[2];

	kept = malloc(12345);
	if (pipe(gate) || pthread_create(&other, NULL, fork_when_told, NULL))
		return 1;
	for (waits = 0; waits < 2; waits++)
		children[waits] = begin_child(gate);
	for (int i = 0; i < 1000; i++)
		kept = malloc(1000);
	close(gate[1]);
	for (int i = 0; i < 2; i++)
		waitpid(children[i], NULL, 0);
	pthread_join(other, NULL);
	printf("%d\n%d\n", (int)children[0], (int)children[1]);
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	sem_init(&other_may, 0, 0);
	sem_init(&other_has, 0, 0);
	pthread_atfork(await_other_fork, NULL, NULL);
}
