/*
 * Handlers, themselves instrumented, that come into the hooks of others. With "jump" they leave by
 * siglongjmp; with "end" they end their thread; with "stack" they run on a signal stack; with "nested" a
 * second signal comes into each.
 *
 * On x86-64 the processor's trap flag brings one behind each single instruction of a few calls, one after the
 * other; the agent's slow path only up to where it blocks all signals, since a trap would be death
 * there. A timer then interrupts dense calls wherever it may. Prints "function calls", tab-separated, as
 * counted in the functions themselves.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

enum { TICKS = 150 };

static volatile unsigned long leaves, nodes, handlers, deeds, pairs, seconds;
static volatile int ticks;
static sigjmp_buf back;
static int jumps, nests, ends;

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

KEPT void pair(void)
{
	pairs++;
	leaf();
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
	if (ends)
		pthread_exit(NULL);
}

#if defined(__x86_64__)
#define TRAP_FLAG 0x100

static volatile long steps;
static volatile int is_over; /* the calls ended before */

UNTRACED static void trap(int number, siginfo_t *info, void *context)
{
	static const unsigned char syscall_instruction[] = {0x0f, 0x05};
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	int blocks_signals = registers[REG_RAX] == SYS_rt_sigprocmask &&
	                     memcmp((void *)registers[REG_RIP], syscall_instruction, 2) == 0;

	(void)info;
	if (--steps > 0 && !blocks_signals)
		return;
	registers[REG_EFL] &= ~TRAP_FLAG;
	is_over = 0;
	if (!blocks_signals)
		handler(number);
}

/* Not by instructions that push the flags: a thread cannot be unwound in the midst of those. */
UNTRACED static void toggle(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] ^= TRAP_FLAG;
}

UNTRACED static void *step(void *unused)
{
	raise(SIGUSR2);
	pair();
	if (is_over)
		raise(SIGUSR2);
	return unused;
}

/* The n-th time a handler comes behind the n-th instruction. */
UNTRACED static void step_through(struct sigaction action)
{
	static volatile long n;

	action.sa_sigaction = trap;
	action.sa_flags |= SA_SIGINFO;
	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGUSR2, &(struct sigaction){.sa_sigaction = toggle, .sa_flags = SA_SIGINFO}, NULL);
	n = 0;
	do {
		steps = ++n;
		is_over = 1;
		if (ends) {
			pthread_t thread;

			pthread_create(&thread, NULL, step, NULL);
			pthread_join(thread, NULL);
		} else if (sigsetjmp(back, 1) == 0) {
			step(NULL);
		}
	} while (!is_over);
}
#else
UNTRACED static void step_through(struct sigaction action)
{
	(void)action;
}
#endif

UNTRACED int main(int argc, char **argv)
{
	static char stack[64 << 10];
	struct sigaction action = {.sa_handler = handler};
	struct sigaction second = {.sa_handler = second_handler};
	const char *how = argc > 1 ? argv[1] : "";

	jumps = strcmp(how, "jump") == 0;
	nests = strcmp(how, "nested") == 0;
	ends = strcmp(how, "end") == 0;
	if (strcmp(how, "stack") == 0) {
		sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &second, NULL);
	step_through(action);
	ticks = ends ? TICKS : 0;
	if (!ends)
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 100}, {0, 100}}, NULL);
	sigsetjmp(back, 1);
	while (ticks < TICKS)
		node(6);
	signal(SIGALRM, SIG_IGN);
	node(2);
	printf("deed\t%lu\nhandler\t%lu\nleaf\t%lu\nnode\t%lu\n", deeds, handlers, leaves, nodes);
	if (pairs)
		printf("pair\t%lu\n", pairs);
	if (seconds)
		printf("second_handler\t%lu\n", seconds);
	return 0;
}
