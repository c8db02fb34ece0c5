/*
 * Recursion on split stacks (-fsplit-stack), in four threads. Handlers jump out of it, on
 * signal stacks of their own. gold must link it: gold gives functions without split stacks,
 * such as those of libraries, the room they need.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, JUMPS = 50, DEPTH = 300, SIGNAL_STACK = 65536 };

static _Thread_local sigjmp_buf target;
static _Thread_local volatile sig_atomic_t is_armed;
static _Thread_local char signal_stack[SIGNAL_STACK];
static atomic_int jumps;

static void handle(int signal)
{
	(void)signal;
	if (!is_armed)
		return;
	is_armed = 0;
	siglongjmp(target, 1);
}

__attribute__((noinline)) int dive(int depth)
{
	volatile char room[300];

	memset((char *)room, depth, sizeof(room));
	return depth ? dive(depth - 1) + room[3] : room[0];
}

static void *run(void *unused)
{
	stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};

	sigaltstack(&stack, NULL);
	for (volatile int i = 0; i < JUMPS; i++) {
		if (sigsetjmp(target, 1) == 0)
			for (is_armed = 1; is_armed;)
				dive(DEPTH);
		atomic_fetch_add(&jumps, 1);
	}
	return unused;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	pthread_t threads[THREADS];

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; jumps < THREADS * JUMPS; i++)
		pthread_kill(threads[i % THREADS], SIGUSR1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d jumps\n", jumps);
	return 0;
}
