/*
 * preempted FIBERS CALLS [FILE]: fibers that a timer's signal preempts at any instruction.
 * The handler of SIGALRM saves the fiber that it interrupted by swapcontext(), inside the
 * handler, and runs another one. A fiber goes on when its handler's swapcontext() returns.
 * main() is one of them. All make CALLS calls of work() and print nothing. With a FILE,
 * work() writes a byte there. At the end "FUNCTION<tab>CALLS" is printed. Status 1: there
 * was no preemption.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define SILENT      __attribute__((no_instrument_function))
#define FIBERS_MAX  64
#define STACK_BYTES (64 << 10)

static struct fiber {
	ucontext_t context;
	volatile long works, inners;
	volatile int is_done;
} fibers[FIBERS_MAX];
static int fiber_count;
static volatile int running;
static volatile long switches, alarms;
static long calls;
static int file = -1;

__attribute__((noinline)) static void inner(struct fiber *fiber)
{
	fiber->inners++;
	if (file >= 0 && write(file, "", 1) != 1)
		abort();
}

__attribute__((noinline)) static void work(struct fiber *fiber)
{
	fiber->works++;
	inner(fiber);
}

/* main() if all are done. */
SILENT static int next_fiber(void)
{
	for (int i = 1; i <= fiber_count; i++)
		if (!fibers[(running + i) % fiber_count].is_done)
			return (running + i) % fiber_count;
	return 0;
}

/* Called with SIGALRM blocked: in the handler, or by a fiber that is done. */
SILENT static void run_next(void)
{
	int before = running, next = next_fiber();

	if (next == before)
		return;
	running = next;
	switches++;
	swapcontext(&fibers[before].context, &fibers[next].context);
}

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
	run_next();
}

SILENT static void block_alarm(int how)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(how, &alarm, NULL);
}

SILENT static void run_fiber(int number)
{
	struct fiber *fiber = &fibers[number];

	block_alarm(SIG_UNBLOCK);
	while (fiber->works < calls)
		work(fiber);
	block_alarm(SIG_BLOCK);
	fiber->is_done = 1;
	run_next();
}

SILENT int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
	struct sigaction action = {.sa_handler = on_alarm};
	long works = 0, inners = 0;

	fiber_count = argc > 1 ? atoi(argv[1]) : 8;
	calls = argc > 2 ? atol(argv[2]) : 100000;
	if (argc > 3)
		file = open(argv[3], O_WRONLY);
	for (int i = 1; i < fiber_count; i++) {
		getcontext(&fibers[i].context);
		/* swapcontext() sets the mask before it leaves the old stack, and a handler there
		 * would save that stack as the new fiber's. */
		sigaddset(&fibers[i].context.uc_sigmask, SIGALRM);
		fibers[i].context.uc_stack.ss_sp = malloc(STACK_BYTES);
		fibers[i].context.uc_stack.ss_size = STACK_BYTES;
		makecontext(&fibers[i].context, (void (*)(void))run_fiber, 1, i);
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	run_fiber(0);
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < fiber_count; i++) {
		works += fibers[i].works;
		inners += fibers[i].inners;
	}
	printf("inner\t%ld\non_alarm\t%ld\nwork\t%ld\n", inners, alarms, works);
	fprintf(stderr, "%ld switches\n", switches);
	return switches > fiber_count ? 0 : 1;
}
