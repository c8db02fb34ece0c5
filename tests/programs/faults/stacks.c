/*
 * Stacks that are as small as can be: of a signal handler, of threads; and one that is exhausted, which a
 * handler on another one finds out.
 */
#include "count.h"
#include <pthread.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096

static volatile int handled;

/* Room for a frame of the kernel's and what is called, with nothing behind it. */
UNTRACED static void *small_stack(size_t bytes)
{
	char *memory = mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(memory, PAGE, PROT_NONE);
	return memory + PAGE;
}

UNTRACED static void use_signal_stack(size_t bytes)
{
	sigaltstack(&(stack_t){.ss_sp = small_stack(bytes), .ss_size = bytes}, NULL);
}

UNTRACED static void handler(int number)
{
	(void)number;
	nest(2);
	handled++;
}

UNTRACED static void *call(void *unused)
{
	nest(8);
	return unused;
}

UNTRACED static void overflow(int number)
{
	(void)number;
	leaf();
	report();
	fflush(stdout);
	_exit(0);
}

static volatile int is_endless = 1;

KEPT static int dive(int depth)
{
	volatile char frame[200];

	frame[0] = (char)depth;
	return is_endless ? dive(depth + 1) + frame[0] : 0;
}

UNTRACED int main(void)
{
	size_t least = (size_t)sysconf(_SC_MINSIGSTKSZ);
	pthread_attr_t attributes;
	pthread_t thread;

	begin_counting();
	use_signal_stack((least + 2048 + PAGE - 1) / PAGE * PAGE);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL);
	for (int i = 0; i < 100; i++) {
		raise(SIGUSR1);
		nest(1);
	}
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (int i = 0; i < 20; i++)
		if (pthread_create(&thread, &attributes, call, NULL) == 0)
			pthread_join(thread, NULL);
	printf("%d handled\n", handled);
	use_signal_stack(64 << 10);
	sigaction(SIGSEGV, &(struct sigaction){.sa_handler = overflow, .sa_flags = SA_ONSTACK}, NULL);
	return dive(0);
}
