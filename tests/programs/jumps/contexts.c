/*
 * Coroutines: generators by swapcontext, whose stacks lie in a row in one block; contexts that a second
 * thread goes on with; and a switch in assembly that nobody knows of. Each kind has functions of its own, so
 * that a call under a wrong caller shows. Prints "function calls", tab-separated.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

enum { GENERATORS = 6, STEPS = 50, STACK = 16 << 10 };

static unsigned long resumes, produces, helps, consumes, assembles, switches;
static ucontext_t generator[GENERATORS], resumer;
static int current;

/* ---- ucontext ---- */

KEPT void help(void)
{
	helps++;
}

/* Recursive like a walk through a tree, and left in the middle of it. */
KEPT void produce(int depth)
{
	produces++;
	help();
	if (depth > 0)
		produce(depth - 1);
	swapcontext(&generator[current], &resumer);
	help();
}

/* Calls of every other one are nearer to the beginning of the stack below than to that of their own. */
UNTRACED static void generate(void)
{
	char *room = alloca(current % 2 ? STACK / 2 + 1024 : 16);

	__asm__ volatile("" : : "r"(room) : "memory");
	for (;;)
		produce(3);
}

KEPT void resume(int which)
{
	resumes++;
	current = which;
	swapcontext(&resumer, &generator[which]);
}

UNTRACED static void *go_on(void *unused)
{
	for (int i = 0; i < STEPS; i++)
		for (int which = 0; which < GENERATORS; which++)
			resume(which);
	return unused;
}

/* ---- a switch of our own ---- */

#if defined(__x86_64__)
void switch_stacks(void **from, void *to);

__asm__(".globl switch_stacks\n"
        "switch_stacks:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret");

static void *inside, *outside;

KEPT void assembled_help(void)
{
	switches++;
}

KEPT void assembled(void)
{
	assembles++;
	assembled_help();
	switch_stacks(&inside, outside);
	assembled_help();
}

UNTRACED static void assembled_body(void)
{
	for (;;)
		assembled();
}

KEPT void consume(void)
{
	consumes++;
	switch_stacks(&outside, inside);
}

UNTRACED static void run_assembled(void *stack)
{
	void **top = (void **)((uintptr_t)stack + STACK - 64);

	top[0] = (void *)(uintptr_t)assembled_body;
	top[1] = NULL;
	inside = top - 6;
	for (int i = 0; i < STEPS; i++)
		consume();
}
#else
UNTRACED static void run_assembled(void *stack)
{
	(void)stack;
}
#endif

UNTRACED int main(void)
{
	char *stacks = malloc((GENERATORS + 1) * STACK);
	pthread_t second;

	for (int i = 0; i < GENERATORS; i++) {
		getcontext(&generator[i]);
		generator[i].uc_stack.ss_sp = stacks + i * STACK;
		generator[i].uc_stack.ss_size = STACK;
		makecontext(&generator[i], generate, 0);
	}
	go_on(NULL);
	pthread_create(&second, NULL, go_on, NULL);
	pthread_join(second, NULL);
	run_assembled(stacks + GENERATORS * STACK);
	printf("assembled\t%lu\nassembled_help\t%lu\nconsume\t%lu\nhelp\t%lu\nproduce\t%lu\nresume\t%lu\n",
	        assembles, switches, consumes, helps, produces, resumes);
	return 0;
}
