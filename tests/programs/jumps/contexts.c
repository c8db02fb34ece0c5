/*
 * Coroutines: generators by swapcontext, with stacks in a row in one block; contexts that a
 * second thread continues; one function that switches both ways; and a switch in assembly
 * that no library sees. Every kind has functions of its own, so that a call under a wrong
 * caller shows. Prints "function calls", tab-separated.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

enum { GENERATORS = 6, STEPS = 50, STACK = 16 << 10 };

static unsigned long trades, resumes, produces, helps, consumes, assembles, switches;
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

/* ---- the same function on both sides ---- */

static ucontext_t trader;

KEPT void trade(ucontext_t *from, ucontext_t *to)
{
	trades++;
	swapcontext(from, to);
}

UNTRACED static void trade_back(void)
{
	for (;;)
		trade(&trader, &resumer);
}

/* ---- a switch of our own ---- */

void switch_stacks(void **from, void *to);

/* SAVED: words on a stack that is left; RETURN: which of them is where it goes on. */
#if defined(__x86_64__)
enum { SAVED = 7, RETURN = 6 };
__asm__(".globl switch_stacks\n"
        "switch_stacks:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret");
#elif defined(__aarch64__)
enum { SAVED = 20, RETURN = 1 };
__asm__(".globl switch_stacks\n"
        "switch_stacks:\n"
        "stp x29, x30, [sp, #-160]!\n"
        "stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n stp x23, x24, [sp, #48]\n"
        "stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n stp d8, d9, [sp, #96]\n"
        "stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
        "mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        "ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n ldp x23, x24, [sp, #48]\n"
        "ldp x25, x26, [sp, #64]\n ldp x27, x28, [sp, #80]\n ldp d8, d9, [sp, #96]\n"
        "ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
        "ldp x29, x30, [sp], #160\n ret");
#endif

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
	/* On x86-64 a function begins 8 bytes off an address that 16 divides. */
	void **saved = (void **)((uintptr_t)stack + STACK - 64) - (SAVED & ~1);

	memset(saved, 0, SAVED * sizeof(*saved));
	saved[RETURN] = (void *)(uintptr_t)assembled_body;
	inside = saved;
	for (int i = 0; i < STEPS; i++)
		consume();
}

UNTRACED int main(void)
{
	char *stacks = malloc((GENERATORS + 2) * STACK);
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
	getcontext(&trader);
	trader.uc_stack.ss_sp = stacks + (GENERATORS + 1) * STACK;
	trader.uc_stack.ss_size = STACK;
	makecontext(&trader, trade_back, 0);
	for (int i = 0; i < STEPS; i++)
		trade(&resumer, &trader);
	printf("assembled\t%lu\nassembled_help\t%lu\nconsume\t%lu\nhelp\t%lu\nproduce\t%lu\nresume\t%"
	       "lu\ntrade\t%lu\n",
	        assembles, switches, consumes, helps, produces, resumes, trades);
	return 0;
}
