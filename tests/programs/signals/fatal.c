/*
 * fatal HOW: a second thread dies as HOW says, or makes the process die. Before that it
 * prints to descriptor 3 "tid address": its number, and the address that the signal will
 * have (0: none). On standard output it prints the handlers that the program finds, which
 * are only its own, traced or not.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define NOWHERE  ((volatile int *)0x1230)

static const char *how;
static volatile int zero;

UNTRACED static void tell(const volatile void *address)
{
	dprintf(3, "%d 0x%lx\n", gettid(), (unsigned long)(uintptr_t)address);
}

UNTRACED static int is(const char *name)
{
	return strcmp(how, name) == 0;
}

/* ---- handlers of the program's own ---- */

static void says_and_returns(int signal, siginfo_t *info, void *context)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, *volatile here = &standard;

	(void)context;
	dprintf(1, "handler: %d %d %p\n", signal, info->si_code, info->si_addr);
	sigaction(signal, &standard, here); /* the answer where the question was */
}

static void says_and_raises(int number)
{
	dprintf(1, "handler: %d, before it %s\n", number,
	        signal(number, SIG_DFL) == says_and_raises ? "this one" : "another");
	raise(number);
}

/* ---- deaths ---- */

static int overflow(volatile int *above)
{
	volatile int room[1000];

	room[0] = *above;
	return overflow(room) + room[0];
}

static void past_the_end_of_a_file(void)
{
	FILE *file = tmpfile();
	volatile char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);

	tell(map);
	*map = 1;
}

static void kill_parent(void)
{
	dprintf(3, "%d 0x0\n", getpid());
	kill(getppid(), SIGTERM);
}

static void child_kills(void)
{
	if (fork() == 0) {
		kill_parent();
		_exit(0);
	}
	for (;;)
		pause();
}

static void blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	*NOWHERE = 1;
}

static void *die(void *none)
{
	struct sigaction own = {.sa_sigaction = says_and_returns, .sa_flags = SA_SIGINFO};

	if (is("bus"))
		past_the_end_of_a_file();
	if (is("child"))
		child_kills();
	tell(is("nowhere") || is("own") || is("blocked") ? NOWHERE
	        : is("constant")                         ? (void *)"constant"
	                                                 : NULL);
	if (is("nowhere"))
		*NOWHERE = 1;
	if (is("constant"))
		*(volatile char *)(uintptr_t) "constant" = 1;
	if (is("divided"))
		dprintf(1, "%d\n", 7 / zero);
	if (is("trap"))
		__builtin_trap();
	if (is("abort"))
		abort();
	if (is("overflow"))
		overflow(&zero);
	if (is("raise"))
		raise(SIGTERM);
	if (is("kill"))
		kill(getpid(), SIGKILL);
	if (is("blocked"))
		blocked();
	if (is("own")) {
		sigaction(SIGSEGV, &own, NULL);
		*NOWHERE = 1;
	}
	if (is("raises")) {
		signal(SIGABRT, says_and_raises);
		abort();
	}
	for (;;)
		pause();
	return none;
}

/* ---- what the program finds ---- */

UNTRACED static void print_handler(const char *text, int signal, const struct sigaction *action)
{
	printf("%s %d: %d %x %d%d\n", text, signal, action->sa_handler == SIG_DFL, (unsigned)action->sa_flags,
	        sigismember(&action->sa_mask, SIGINT), sigismember(&action->sa_mask, SIGUSR1));
}

UNTRACED static void print_handlers(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL, .sa_flags = SA_NODEFER}, before;

	sigaddset(&standard.sa_mask, SIGINT);
	for (int signal = 1; signal < 32; signal++) {
		if (sigaction(signal, NULL, &before) == 0)
			print_handler("at first", signal, &before);
		if (sigaction(signal, &standard, &before) == 0)
			print_handler("replaced", signal, &before);
		if (sigaction(signal, NULL, &before) == 0)
			print_handler("then", signal, &before);
	}
	printf("%d", signal(SIGBUS, SIG_IGN) == SIG_DFL);
	printf("%d", signal(SIGBUS, SIG_DFL) == SIG_IGN);
	printf("%d\n", signal(SIGBUS, SIG_DFL) == SIG_DFL);
	fflush(stdout);
}

int main(int count, char **arguments)
{
	pthread_t thread;

	how = count > 1 ? arguments[1] : "";
	print_handlers();
	pthread_create(&thread, NULL, die, NULL);
	pthread_join(thread, NULL);
	return 0;
}
