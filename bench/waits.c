/*
 * A trace of nothing but waits: waits ROUNDS lets two threads hand the turn to each other
 * so many times, through semaphores. Each of a round's two waits has a flow from who ended
 * it and, on one processor, context switches.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t turns[2];
static long rounds;

static __attribute__((noinline)) void take_turn(int own)
{
	while (sem_wait(&turns[own]) != 0)
		;
}

static __attribute__((noinline)) void give_turn(int other)
{
	sem_post(&turns[other]);
}

static void *play(void *argument)
{
	int own = *(int *)argument;

	for (long i = 0; i < rounds; i++) {
		take_turn(own);
		give_turn(1 - own);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static int numbers[2] = {0, 1};
	pthread_t thread;

	rounds = argc == 2 ? atol(argv[1]) : 0;
	if (rounds < 1) {
		fprintf(stderr, "usage: waits ROUNDS\n");
		return 2;
	}
	sem_init(&turns[0], 0, 1);
	sem_init(&turns[1], 0, 0);
	pthread_create(&thread, NULL, play, &numbers[1]);
	play(&numbers[0]);
	pthread_join(thread, NULL);
	return 0;
}
