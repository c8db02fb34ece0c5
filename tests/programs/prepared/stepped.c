/* Steps through recorded calls, one instruction after the other, and unwinds the stack at
 * each. Prints the number of instructions, and of those at which the unwinder does not find
 * the caller of the calls. Instructions in memory of no file do not count: they are stubs,
 * which no unwind table describes. The calls are made before, so that all of them take the
 * short way, without system calls: those block the signal of the steps. */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#define CALLED   __attribute__((noinline))
#define QUIET    __attribute__((noinline, patchable_function_entry(0)))
#define TRAP_BIT 0x100

static volatile int is_stepping;
static int steps, lost, in_stubs;

CALLED static int leaf(int x)
{
	__asm__ volatile("");
	return x + 1;
}

CALLED static int tail(int x)
{
	__asm__ volatile("");
	return leaf(x + 2);
}

CALLED static int calls(int x)
{
	int result = tail(x);

	__asm__ volatile("");
	return result + leaf(result);
}

QUIET static int caller(int x);
QUIET static int behind_caller(void);

QUIET static void step(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	Dl_info file;
	void *addresses[64];
	int count, found = 0;

	(void)signal;
	(void)info;
	if (!is_stepping) {
		registers[REG_EFL] &= ~TRAP_BIT;
		return;
	}
	registers[REG_EFL] |= TRAP_BIT;
	steps++;
	count = backtrace(addresses, 64);
	for (int i = 0; i < count; i++)
		found += addresses[i] >= (void *)caller && addresses[i] < (void *)behind_caller;
	if (found == 1)
		return;
	if (dladdr((void *)registers[REG_RIP], &file))
		lost++;
	else
		in_stubs++;
}

QUIET static int caller(int x)
{
	int result;

	is_stepping = 1;
	__asm__ volatile("pushf\n\torl %0, (%%rsp)\n\tpopf" : : "i"(TRAP_BIT) : "memory", "cc");
	result = calls(x);
	is_stepping = 0;
	__asm__ volatile("nop");
	return result;
}

QUIET static int behind_caller(void)
{
	return 0;
}

QUIET int main(void)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
	void *addresses[4];
	int result = 0;

	backtrace(addresses, 4); /* loads the unwinder */
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < 3; i++)
		result += calls(i);
	for (int i = 0; i < 3; i++)
		result += caller(i);
	printf("%d\n%d lost, %d instructions\n", result + behind_caller(), lost, steps - in_stubs);
	return 0;
}
