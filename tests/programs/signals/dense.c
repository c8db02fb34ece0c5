/*
 * A timer's handler, itself instrumented, interrupts calls so dense that it mostly comes into a hook. With
 * "jump" it leaves by siglongjmp; with "stack" it runs on a signal stack; with "nested" a second signal comes
 * into it. Prints "function calls", tab-separated, as counted in the functions themselves.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

enum { TICKS = 3000 };

static volatile unsigned long leaves, nodes, handlers, deeds, seconds;
static volatile int ticks;
static sigjmp_buf back;
static int jumps, nests;

KEPT void leaf(void)
{
	leaves++;
}

KEPT void node(int depth)
{
	nodes++;
	for (int i = 0; i < 3; i++)
		depth ? node(depth - 1) : leaf();
}

KEPT void deed(int n)
{
	deeds++;
	if (n)
		deed(n - 1);
}

KEPT void second_handler(int number)
{
	seconds++;
	deed(number == SIGUSR1 ? 1 : 0);
}

KEPT void handler(int number)
{
	handlers++;
	ticks++;
	deed(2);
	if (nests)
		raise(SIGUSR1);
	(void)number;
	if (jumps)
		siglongjmp(back, 1);
}

UNTRACED int main(int argc, char **argv)
{
	static char stack[64 << 10];
	struct sigaction action = {.sa_handler = handler};
	struct sigaction second = {.sa_handler = second_handler};
	const char *how = argc > 1 ? argv[1] : "";

	jumps = strcmp(how, "jump") == 0;
	nests = strcmp(how, "nested") == 0;
	if (strcmp(how, "stack") == 0) {
		sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &second, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 100}, {0, 100}}, NULL);
	sigsetjmp(back, 1);
	while (ticks < TICKS)
		node(6);
	signal(SIGALRM, SIG_IGN);
	node(2);
	printf("deed\t%lu\nhandler\t%lu\nleaf\t%lu\nnode\t%lu\n", deeds, handlers, leaves, nodes);
	if (seconds)
		printf("second_handler\t%lu\n", seconds);
	return 0;
}
