/*
 * Walks against the frames that libgcc's unwinder finds, in the same calls: functions of
 * any shape, signals that come at any instruction, tables with expressions; and against
 * tables and stacks that are damaged.
 */
#include "agent_rig.h"

#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "agent/heap/cfi.h"
#include "agent/heap/unwind.h"

#define NOINLINE __attribute__((noinline))
#define FRAMES   400

/* ---- both of them ---- */

static uint64_t stack_end; /* of the stack that is walked; 0: not told */
static unsigned walks, shortest;

/* The frames from the caller of this function on are the same, and errno is kept. */
static NOINLINE void same_walk(void)
{
	void *expected[FRAMES], *caller = __builtin_return_address(0);
	struct agent_walk walk;
	int count = backtrace(expected, FRAMES), first = 0;

	errno = EDOM;
	agent_unwind((uintptr_t)caller, stack_end, false, &walk);
	assert_int_equal(errno, EDOM);
	while (first < count && expected[first] != caller)
		first++;
	assert_int_equal(walk.count, count - first);
	for (unsigned i = 0; i < walk.count; i++) {
		uint64_t address = (uint64_t)(uintptr_t)expected[(unsigned)first + i];

		/* The walk takes the address after the first byte of an interrupted
		 * instruction. */
		assert_true(walk.addresses[i] == address || walk.addresses[i] == address + 1);
	}
	if (walks++ == 0 || walk.count < shortest)
		shortest = walk.count;
}

/* The end of the stack that this thread is on. */
static uint64_t own_end(void)
{
	pthread_attr_t attributes;
	size_t bytes;
	void *low;

	assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
	assert_int_equal(pthread_attr_getstack(&attributes, &low, &bytes), 0);
	pthread_attr_destroy(&attributes);
	return (uint64_t)(uintptr_t)low + bytes;
}

/* Runs it with the stack's bounds, and again without; then with what was remembered. */
static void walk_in(void (*function)(void))
{
	static int warm;

	if (!warm++) { /* it loads a library */
		void *one[1];

		backtrace(one, 1);
	}
	assert_true(agent_unwind_prepare());
	for (int round = 0; round < 3; round++) {
		stack_end = round == 1 ? 0 : own_end();
		walks = 0;
		function();
		assert_true(walks > 0 && shortest >= 2);
		if (round == 0)
			agent_unwind_forget();
	}
}

/* ---- functions of any shape ---- */

static volatile unsigned one = 1;

static NOINLINE int aligned(int depth)
{
	volatile char room[100] __attribute__((aligned(64)));

	room[depth] = 1;
	same_walk();
	return room[depth];
}

static NOINLINE int variable(int depth)
{
	volatile char *room = __builtin_alloca(one * 1000);

	room[0] = (char)aligned(depth);
	same_walk();
	return room[0];
}

/* More than a rule's offsets reach. */
static NOINLINE int large(int depth)
{
	volatile char room[3 << 20];

	room[depth] = (char)variable(depth);
	same_walk();
	return room[depth];
}

static NOINLINE int ordinary(int depth)
{
	int result = large(depth);

	same_walk();
	return result;
}

static NOINLINE int recursive(int depth)
{
	int result = depth ? recursive(depth - 1) : ordinary(7);

	same_walk();
	return result;
}

static int compare(const void *left, const void *right)
{
	same_walk();
	return *(const int *)left - *(const int *)right;
}

static void shapes(void)
{
	int items[] = {3, 1, 2};

	recursive(50);
	qsort(items, 3, sizeof(*items), compare); /* through libc */
}

static void functions_of_any_shape(void **state)
{
	(void)state;
	walk_in(shapes);
}

/* ---- other threads ---- */

static void *in_thread(void *unused)
{
	(void)unused;
	stack_end = stack_end ? own_end() : 0;
	recursive(3);
	return NULL;
}

static void thread(void)
{
	pthread_t number;

	assert_int_equal(pthread_create(&number, NULL, in_thread, NULL), 0);
	pthread_join(number, NULL);
}

static void threads(void **state)
{
	(void)state;
	walk_in(thread);
}

/* ---- signals ---- */

static void handle(int number)
{
	(void)number;
	same_walk();
}

static NOINLINE void raise_here(int on_stack)
{
	static char stack[65536];
	struct sigaction action = {.sa_handler = handle, .sa_flags = on_stack ? SA_ONSTACK : 0};

	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	same_walk();
}

static void signals_on_both_stacks(void)
{
	raise_here(0);
	raise_here(1);
}

static void signal_frames(void **state)
{
	(void)state;
	walk_in(signals_on_both_stacks);
}

#if defined(__x86_64__)

/* One instruction after the other, with a signal at each: also in prologues, epilogues, the
 * dynamic linker and PLT entries, with expressions in their tables. */
static void step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	same_walk();
}

static NOINLINE unsigned stepped(unsigned depth)
{
	volatile unsigned long long room[8] __attribute__((aligned(32)));
	char text[32];

	room[depth & 7] = depth;
	snprintf(text, sizeof(text), "%u", depth);
	return depth ? stepped(depth - 1) + text[0] : (unsigned)strtoul(text, NULL, 10) + (unsigned)room[0];
}

static void single_steps(void)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
	stepped(1);
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
	assert_true(walks > 500);
}

static void a_signal_at_every_instruction(void **state)
{
	(void)state;
	walk_in(single_steps);
}

/* ---- tables that compilers seldom write ---- */

/* Functions that call what they are given. */
#define FUNCTION(name, table)                                                                       \
	void name(void (*function)(void));                                                          \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
	        "  push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset rbx, -16\n" table                 \
	        "  call *%rdi\n  pop %rbx\n  ret\n.cfi_endproc\n.size " #name ", . - " #name "\n");

#define RARE(X)                                                                                             \
	X(by_expression, ".cfi_escape 0x0f, 2, 0x77, 16\n.cfi_escape 0x10, 16, 2, 0x77, 8\n")               \
	/* rsp + 8 + ((3 >= 2) + 7 & 15) */                                                                 \
	X(by_calculation,                                                                                   \
	        ".cfi_escape 0x0f, 11, 0x77, 8, 0x33, 0x32, 0x2a, 0x37, 0x22, 0x08, 15, 0x1a, 0x22\n")      \
	X(by_program_counter, ".cfi_escape 0x0f, 10, 0x77, 16, 0x80, 0, 0x80, 0, 0x1c, 0x22, 0x96, 0x96\n") \
	X(by_negative_offset, ".cfi_escape 0x12, 7, 0x7e\n.cfi_escape 0x2f, 16, 1\n")                       \
	X(by_memory,                                                                                        \
	        "  mov %rsp, -16(%rsp)\n  sub $32, %rsp\n  .cfi_escape 0x0f, 5, 0x77, 16, 6, 0x23, 16\n"    \
	        "  call *%rdi\n  add $32, %rsp\n.cfi_def_cfa rsp, 16\n  lea nothing_more(%rip), %rdi\n")    \
	X(by_other_register, "  lea 16(%rsp), %rbx\n.cfi_def_cfa %rbx, 0\n")                                \
	X(by_states, ".cfi_remember_state\n.cfi_def_cfa_offset 64\n.cfi_restore_state\n")

RARE(FUNCTION)

void nothing_more(void)
{
}

static void rare(void)
{
#define CALL(name, table) name(same_walk);
	RARE(CALL)
}

static void rare_tables(void **state)
{
	(void)state;
	walk_in(rare);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_any_shape),
		cmocka_unit_test(threads),
		cmocka_unit_test(signal_frames),
#if defined(__x86_64__)
		cmocka_unit_test(a_signal_at_every_instruction),
		cmocka_unit_test(rare_tables),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
