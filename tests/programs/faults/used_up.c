/*
 * Uses its stack up again and again, each time by frames of another size: prints the number
 * of its calls.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#define UNTRACED __attribute__((no_instrument_function))

static sigjmp_buf surface;
static long calls;
static char signal_stack[65536];

UNTRACED static void overflow(int signal)
{
	(void)signal;
	siglongjmp(surface, 1);
}

static __attribute__((noinline)) void leaf(void)
{
	calls++;
}

static __attribute__((noinline)) int dive(volatile char *above, int bytes)
{
	volatile char here[bytes];

	calls++;
	here[0] = above[0];
	for (int i = 0; i < 3; i++)
		leaf();
	return dive(here, bytes) + here[0];
}

UNTRACED int main(void)
{
	stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
	struct sigaction action = {.sa_handler = overflow, .sa_flags = SA_ONSTACK};
	char top = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 60; i++)
		if (sigsetjmp(surface, 1) == 0)
			dive(&top, 40 + 7 * i);
	printf("%ld\n", calls);
	return 0;
}
