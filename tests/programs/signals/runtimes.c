/*
 * runtimes HOW: handlers of fault signals as in runtimes and crash reporters. The handlers
 * print what they find, and end as without fxt.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define NOWHERE  ((volatile int *)0x1230)

/* As the kernel has it. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

int __sigaction(int, const struct sigaction *, struct sigaction *);

static sigjmp_buf target;
static struct sigaction found;
static struct action chained;

/* ---- handlers ---- */

static void jump(int signal)
{
	(void)signal;
	siglongjmp(target, 1);
}

static void abort_too(int signal)
{
	printf("signal %d\n", signal);
	abort();
}

static void give_back(int signal, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d, code %d\n", signal, info->si_code);
	sigaction(signal, &found, NULL);
}

static void chain(int signal, siginfo_t *info, void *context)
{
	static const struct action standard;

	printf("signal %d, code %d\n", signal, info->si_code);
	if (chained.handler)
		chained.handler(signal, info, context);
	else
		syscall(SYS_rt_sigaction, signal, &standard, NULL, 8);
}

/* The kernel cannot return over such a frame, and kills. */
static void destroy_frame(int signal, siginfo_t *info, void *context)
{
	ucontext_t *frame = context;

	(void)signal;
	(void)info;
#if defined(__x86_64__)
	frame->uc_mcontext.fpregs = (void *)8;
#elif defined(__aarch64__)
	frame->uc_mcontext.pstate = ~0ull;
#endif
}

/* ---- programs ---- */

static void ask(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction by_name;
		struct action by_number;

		__sigaction(signals[i], NULL, &by_name);
		syscall(SYS_rt_sigaction, signals[i], NULL, &by_number, 8);
		printf("%d: %d %x, %d %lx %lx\n", signals[i], by_name.sa_handler == SIG_DFL,
		        (unsigned)by_name.sa_flags, by_number.handler == NULL, by_number.flags,
		        (unsigned long)by_number.mask);
	}
}

static int overflow(volatile int *above)
{
	volatile int room[1000];

	room[0] = *above;
	return overflow(room) + room[0];
}

/* A signal stack, on which the end of the usual one is noticed; faults that are no deaths; then one that is.
 */
static void have_guards(void)
{
	struct sigaction guard = {.sa_handler = jump, .sa_flags = SA_ONSTACK | SA_NODEFER};
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	volatile int faults = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &guard, &found);
	if (sigsetjmp(target, 1) == 0)
		overflow(&faults);
	for (volatile int i = 0; i < 1000; i++)
		if (sigsetjmp(target, 0) == 0)
			*NOWHERE = 1;
		else
			faults++;
	printf("%d faults\n", faults);
	guard.sa_sigaction = give_back;
	guard.sa_flags |= SA_SIGINFO;
	sigaction(SIGSEGV, &guard, NULL);
	*NOWHERE = 1;
}

/* As who knows no sigaction(): what was there before is asked for, and called. */
static void have_chain(void)
{
	struct sigaction own = {.sa_sigaction = chain, .sa_flags = SA_SIGINFO};
	struct action action;

	sigaction(SIGUSR1, &own, NULL);
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 8);
	syscall(SYS_rt_sigaction, SIGSEGV, &action, &chained, 8);
	printf("before: %s\n", chained.handler ? "a handler" : "none");
	*NOWHERE = 1;
}

UNTRACED static void child(pid_t pid)
{
	int status;

	if (pid == 0) {
		*NOWHERE = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child: %d\n", WTERMSIG(status));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct sigaction breaks = {.sa_sigaction = destroy_frame, .sa_flags = SA_SIGINFO};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(how, "ask") == 0)
		ask();
	if (strcmp(how, "guards") == 0)
		have_guards();
	if (strcmp(how, "chain") == 0)
		have_chain();
	if (strcmp(how, "aborts") == 0) {
		signal(SIGSEGV, abort_too);
		*NOWHERE = 1;
	}
	if (strcmp(how, "frame") == 0) {
		sigaction(SIGUSR1, &breaks, NULL);
		raise(SIGUSR1);
	}
	if (strcmp(how, "ignored") == 0) {
		signal(SIGSEGV, SIG_IGN);
		raise(SIGSEGV);
		puts("it was ignored");
		*NOWHERE = 1;
	}
	if (strcmp(how, "children") == 0) {
		child(fork());
		child((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	}
	if (strcmp(how, "general") == 0)
		*(volatile int *)(uintptr_t)0x8000000000001230 = 1;
	puts("end");
	return 0;
}
