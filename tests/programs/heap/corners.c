/*
 * Allocations where a stack is hard to walk, or short: each corner allocates and frees blocks of a size of
 * its own, and prints "size blocks". The last one ends with a stack that is used up.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096

static void allocate(size_t size)
{
	void *volatile block = malloc(size);

	free(block);
}

/* ---- assembly that says nothing of its frames ---- */

void bare_call(void (*function)(size_t), size_t size);

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl bare_call\n.type bare_call, @function\n"
        "bare_call:\n"
        "  push %rbp\n  push %rbx\n  mov %rsp, %rbx\n  xor %ebp, %ebp\n" /* no chain of frames either */
        "  sub $200, %rsp\n  and $-16, %rsp\n"
        "  mov %rdi, %rax\n  mov %rsi, %rdi\n  call *%rax\n"
        "  mov %rbx, %rsp\n  pop %rbx\n  pop %rbp\n  ret\n"
        ".size bare_call, . - bare_call\n");
#else
__asm__(".text\n"
        ".globl bare_call\n.type bare_call, %function\n"
        "bare_call:\n"
        "  sub sp, sp, #64\n  str x30, [sp, #40]\n  str x29, [sp, #24]\n  mov x29, xzr\n"
        "  mov x9, x0\n  mov x0, x1\n  blr x9\n"
        "  ldr x29, [sp, #24]\n  ldr x30, [sp, #40]\n  add sp, sp, #64\n  ret\n"
        ".size bare_call, . - bare_call\n");
#endif

/* ---- a stack of its own ---- */

static ucontext_t back, coroutine;

static void run_coroutine(void)
{
	allocate(50002);
	swapcontext(&coroutine, &back);
	allocate(50002);
}

static void run_on_own_stack(void)
{
	static char stack[65536];

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	coroutine.uc_link = &back;
	makecontext(&coroutine, run_coroutine, 0);
	swapcontext(&back, &coroutine);
	swapcontext(&back, &coroutine);
}

/* ---- the smallest signal stack, right above a page that may not be touched ---- */

static void handle(int signal)
{
	(void)signal;
	allocate(50003);
}

static void use_signal_stack(size_t bytes)
{
	char *memory = mmap(NULL, 17 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = memory + PAGE, .ss_size = bytes};

	mprotect(memory + PAGE, 16 * PAGE, PROT_READ | PROT_WRITE);
	if (sigaltstack(&stack, NULL) != 0)
		exit(2);
}

static void interrupt_on_small_stack(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	/* malloc() itself needs some, and the agent leaves alone what comes with less than 2 KiB left. */
	use_signal_stack((size_t)sysconf(_SC_MINSIGSTKSZ) + 3072);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

/* ---- a stack that is used up ---- */

static sigjmp_buf surface;

static void overflow(int signal)
{
	(void)signal;
	allocate(50005);
	siglongjmp(surface, 1);
}

static __attribute__((noinline)) int dive(volatile char *above)
{
	volatile char here[2000];

	here[0] = above[0];
	allocate(50004);
	return dive(here) + here[0];
}

static void use_up_stack(void)
{
	struct sigaction action = {.sa_handler = overflow, .sa_flags = SA_ONSTACK};
	char top = 0;

	use_signal_stack(16 * PAGE);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(surface, 1) == 0)
		dive(&top);
}

int main(void)
{
	bare_call(allocate, 50001);
	run_on_own_stack();
	interrupt_on_small_stack();
	puts("50001 1\n50002 2\n50003 1");
	fflush(stdout);
	use_up_stack();
	puts("50005 1");
	return 0;
}
