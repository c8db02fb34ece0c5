/*
 * More coroutines than a trace has rows for, all of them in the midst of calls, resumed out of calls of the
 * same function. Prints how many calls were made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { COROUTINES = 2600, STACK = 16 << 10, DEPTH = 3 };

static ucontext_t coroutine[COROUTINES], resumer;
static unsigned long calls;
static int current;

UNTRACED static void change(ucontext_t *from, ucontext_t *to)
{
	swapcontext(from, to);
}

static __attribute__((noinline)) int work(int depth, int is_resumer)
{
	calls++;
	if (depth)
		return work(depth - 1, is_resumer) + 1;
	if (is_resumer)
		change(&resumer, &coroutine[current]);
	else
		change(&coroutine[current], &resumer);
	return 0;
}

UNTRACED static void run(void)
{
	work(DEPTH, 0);
	work(1, 0);
	for (;;)
		change(&coroutine[current], &resumer);
}

int main(void)
{
	calls++;
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = malloc(STACK);
		coroutine[i].uc_stack.ss_size = STACK;
		makecontext(&coroutine[i], run, 0);
	}
	for (int round = 0; round < 3; round++)
		for (current = 0; current < COROUTINES; current++)
			work(DEPTH, 1);
	printf("%lu\n", calls);
	return 0;
}
