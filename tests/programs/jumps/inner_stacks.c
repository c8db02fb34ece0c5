/*
 * Stacks inside other stacks: signal stacks and stacks of coroutines in local arrays of
 * functions, of threads and of coroutines, and calls in the same place afterwards. The
 * argument says which case. Prints its own tree of calls.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "own_tree.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1 << 31)
#endif

enum { STACK = 64 << 10, TIMES = 20 };

static volatile int n;

/* ---- calls ---- */

KEPT void leaf(void)
{
	CALLED();
	n++;
}

/* Its frames reach over all that was on the stack before. */
KEPT void cover(int depth)
{
	CALLED();
	volatile char frame[2048];

	frame[0] = (char)depth;
	leaf();
	if (depth)
		cover(depth - 1);
	n += frame[0];
}

KEPT void work(int signal)
{
	CALLED();
	leaf();
	if (signal)
		raise(signal);
	leaf();
}

KEPT void outer_work(int signal)
{
	CALLED();
	work(signal);
	leaf();
}

/* ---- signals ---- */

static sigjmp_buf target;
static volatile int jumps;

KEPT void jump(void)
{
	CALLED();
	leaf();
	siglongjmp(target, 1);
}

/* Leaves calls, and stays in the handler that it is called by. */
KEPT void jump_inside(void)
{
	CALLED();
	sigjmp_buf outside;
	int depth = row->depth;

	memcpy(&outside, &target, sizeof(target));
	if (sigsetjmp(target, 1) == 0)
		jump();
	row->depth = depth;
	leaf();
	memcpy(&target, &outside, sizeof(target));
}

void on_stack(int signal)
{
	CALLED();
	leaf();
	jump_inside();
	if (jumps)
		jump();
	(void)signal;
}

void nesting(int signal)
{
	CALLED();
	outer_work(SIGUSR1); /* on the same stack, below */
	outer_work(SIGALRM); /* without a stack of its own */
	(void)signal;
}

void plain(int signal)
{
	CALLED();
	leaf();
	(void)signal;
}

/* The kernel has taken the stack away: another one is set, and the former one is there again afterwards. */
void disarmed(int signal)
{
	CALLED();
	char other[STACK];

	leaf();
	sigaltstack(&(stack_t){.ss_sp = other, .ss_size = sizeof(other)}, NULL);
	outer_work(SIGUSR1);
	(void)signal;
}

UNTRACED static void handle(int signal, void (*handler)(int), int flags)
{
	sigaction(signal, &(struct sigaction){.sa_handler = handler, .sa_flags = flags}, NULL);
}

UNTRACED static void handle_all(void)
{
	handle(SIGUSR1, on_stack, SA_ONSTACK);
	handle(SIGUSR2, nesting, SA_ONSTACK);
	handle(SIGALRM, plain, 0);
	handle(SIGHUP, disarmed, SA_ONSTACK);
}

UNTRACED static void set_signal_stack(char *stack, size_t bytes, int flags)
{
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = bytes, .ss_flags = flags}, NULL);
}

KEPT void catch_jump(int signal)
{
	CALLED();
	int depth = row->depth;

	if (sigsetjmp(target, 1) == 0)
		outer_work(signal);
	row->depth = depth;
	leaf();
}

KEPT void with_signals(void)
{
	CALLED();
	char stack[STACK];

	set_signal_stack(stack, sizeof(stack), 0);
	for (int i = 0; i < TIMES; i++) {
		outer_work(SIGUSR1);
		outer_work(SIGUSR2);
		jumps = 1;
		catch_jump(SIGUSR1);
		catch_jump(SIGUSR2);
		jumps = 0;
		leaf();
	}
	set_signal_stack(NULL, 0, SS_DISABLE);
}

KEPT void with_disarming(void)
{
	CALLED();
	char stack[2 * STACK];

	set_signal_stack(stack, sizeof(stack), SS_AUTODISARM);
	for (int i = 0; i < TIMES; i++) {
		outer_work(SIGHUP);
		leaf();
	}
	set_signal_stack(NULL, 0, SS_DISABLE);
}

/* ---- coroutines ---- */

struct fiber {
	ucontext_t context, back;
	struct row row;
};

static __thread struct fiber *fiber;

UNTRACED static void resume(struct fiber *f)
{
	struct row *mine = row;
	struct fiber *resumer = fiber;

	row = &f->row;
	fiber = f;
	swapcontext(&f->back, &f->context);
	row = mine;
	fiber = resumer;
}

UNTRACED static void yield(void)
{
	struct fiber *self = fiber;

	swapcontext(&self->context, &self->back);
}

UNTRACED static void make(struct fiber *f, void *stack, size_t bytes, void (*body)(void))
{
	memset(f, 0, sizeof(*f));
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = stack;
	f->context.uc_stack.ss_size = bytes;
	f->context.uc_link = &f->back;
	makecontext(&f->context, body, 0);
}

KEPT void step(int depth)
{
	CALLED();
	leaf();
	if (depth)
		step(depth - 1);
	yield();
	leaf();
}

void body(void)
{
	CALLED();
	for (int i = 0; i < 3; i++)
		step(i);
}

/* Until it has ended by itself. */
KEPT void run(struct fiber *f, int steps)
{
	CALLED();
	leaf();
	for (int i = 0; i < steps; i++)
		resume(f);
	leaf();
}

enum { ALL_STEPS = 1 + 2 + 3 + 1 };

/* Its stack is an array here: it ends by itself, or is left in the midst of calls. */
KEPT void with_fiber(int steps)
{
	CALLED();
	static __thread struct fiber f;
	char stack[STACK];

	make(&f, stack, sizeof(stack), body);
	run(&f, steps / 2);
	leaf();
	run(&f, steps - steps / 2);
}

KEPT void with_fibers(void)
{
	CALLED();
	for (int i = 0; i < TIMES; i++) {
		with_fiber(ALL_STEPS);
		cover(100);
		with_fiber(i % ALL_STEPS);
		cover(100);
	}
}

void body_of_fiber(void)
{
	CALLED();
	with_fiber(ALL_STEPS);
	leaf();
	yield();
	with_fiber(4);
	cover(60);
	yield();
	leaf();
}

/* A coroutine on the stack of a coroutine. Its own stack is an array here. */
KEPT void with_inner_fiber(void)
{
	CALLED();
	static __thread struct fiber f;
	char stack[6 * STACK];

	make(&f, stack, sizeof(stack), body_of_fiber);
	run(&f, 3);
	cover(200);
}

void body_with_signals(void)
{
	CALLED();
	leaf();
	outer_work(SIGALRM); /* on the coroutine's own stack */
	yield();
	outer_work(SIGUSR1); /* on the thread's signal stack */
	with_signals();      /* on one that is here */
	yield();
	leaf();
}

KEPT void with_fiber_and_signals(void *stack, size_t bytes)
{
	CALLED();
	static __thread struct fiber f;
	char signals[STACK];

	make(&f, stack, bytes, body_with_signals);
	set_signal_stack(signals, sizeof(signals), 0);
	outer_work(SIGUSR1);
	run(&f, 1);
	outer_work(SIGUSR1);
	run(&f, 2);
	outer_work(SIGALRM);
}

/* One after another in the same place, or in half of it, whether the one before has ended or not. */
KEPT void in_turn(char *stack)
{
	CALLED();
	static __thread struct fiber f;

	for (int i = 0; i < TIMES; i++) {
		size_t bytes = STACK / 2 * (i % 3 ? 1 : 2);

		make(&f, stack + (i % 2 ? STACK - bytes : 0), bytes, body);
		run(&f, i % 4 ? ALL_STEPS : 3);
	}
}

/* ---- threads ---- */

static pthread_attr_t attributes;

void *thread(void *function)
{
	CALLED();
	leaf();
	((void (*)(void))function)();
	leaf();
	return NULL;
}

UNTRACED static void in_thread(void (*function)(void))
{
	pthread_t id;

	pthread_create(&id, &attributes, thread, (void *)function);
	pthread_join(id, NULL);
}

void left_fiber(void)
{
	CALLED();
	with_fiber(2);
}

void covering(void)
{
	CALLED();
	cover(200);
}

int main(int argc, char **argv)
{
	CALLED();
	static char stack[4 * STACK];
	static __thread char local[STACK];
	const char *what = argv[argc - 1];

	pthread_attr_init(&attributes);
	handle_all();
	if (!strcmp(what, "signals")) {
		with_signals();
		in_thread(with_signals);
	} else if (!strcmp(what, "disarming")) {
		with_disarming();
		in_thread(with_disarming);
	} else if (!strcmp(what, "fibers")) {
		with_fibers();
		in_thread(with_fibers);
	} else if (!strcmp(what, "inner")) {
		with_inner_fiber();
		in_thread(with_inner_fiber);
	} else if (!strcmp(what, "handlers")) {
		char here[4 * STACK];

		with_fiber_and_signals(stack, sizeof(stack));
		with_fiber_and_signals(here, sizeof(here));
	} else if (!strcmp(what, "turns")) {
		char here[STACK];

		in_turn(stack);
		in_turn(local);
		in_turn(malloc(STACK));
		in_turn(mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		in_turn(here);
	} else if (!strcmp(what, "threads")) {
		char *memory =
		        mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int i = 0; i < 3; i++) { /* each on the stack of the one before */
			in_thread(left_fiber);
			in_thread(covering);
			in_thread(with_signals);
			pthread_attr_setstack(&attributes, memory, 1 << 20);
		}
	}
	leaf();
	print_tree();
	return 0;
}
