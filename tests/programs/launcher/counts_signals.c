/*
 * counts_signals N: handles signal N, any but SIGKILL and SIGSTOP, prints "ready", waits for it to come, and
 * a moment longer for it to come again. Prints how often it came, and ends with status 7.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As the kernel takes it: libc refuses two signals. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static volatile sig_atomic_t came;

__attribute__((no_instrument_function)) static void count(int number)
{
	(void)number;
	came++;
}

int main(int argc, char **argv)
{
	const struct timespec moment = {.tv_nsec = 50000000};
	int number = argc > 1 ? atoi(argv[1]) : 0;
	struct action action;

	/* The restorer is libc's. */
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = count}, NULL);
	if (syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, sizeof(uint64_t)) != 0 ||
	        syscall(SYS_rt_sigaction, number, &action, NULL, sizeof(uint64_t)) != 0)
		return 1;
	puts("ready");
	fflush(stdout);
	while (!came)
		nanosleep(&moment, NULL);
	nanosleep(&moment, NULL);
	printf("%d\n", (int)came);
	return 7;
}
