/* Calls with arguments of threads, of handlers, of forked children, of calls that are left by a
 * jump, by recursion and by tail calls; see values.h. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "values.h"

#define THREADS 4
#define ROUNDS  300

static __thread jmp_buf back;

APART int count(int thread, int round)
{
	say("\"count\" {thread=int32:%d, round=int32:%d, return=int32:%d}\n", thread, round, thread + round);
	return thread + round;
}

APART int deep(int left)
{
	int result = left ? deep(left - 1) + 1 : 0;

	say("\"deep\" {left=int32:%d, return=int32:%d}\n", left, result);
	return result;
}

APART void leave(int value)
{
	say("\"leave\" {value=int32:%d, abandoned=true}\n", value);
	longjmp(back, 1);
}

APART int last(int value)
{
	say("\"last\" {value=int32:%d, return=int32:%d}\n", value, value * 3);
	return value * 3;
}

/* With optimization a tail call, whose result is not known when this function ends. */
APART int first(int value)
{
	return last(value + 1);
}

APART void handled(int number)
{
	say("\"handled\" {number=int32:%d}\n", number);
}

static void on_signal(int number)
{
	handled(number);
}

static void *run(void *argument)
{
	int thread = (int)(long)argument;

	for (int i = 0; i < ROUNDS; i++) {
		count(thread, i);
		if (setjmp(back) == 0)
			leave(i);
	}
	first(thread);
	deep(100);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	signal(SIGUSR1, on_signal);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < ROUNDS; i++)
		pthread_kill(threads[i % THREADS], 0) == 0 ? raise(SIGUSR1) : 0;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child == 0) {
			count(-1, i);
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return 0;
}
