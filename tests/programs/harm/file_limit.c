/*
 * file_limit BYTES CALLS: lets no file grow beyond so many bytes, makes that many calls, and tells how many
 * signals came. It writes no file itself.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define UNTRACED __attribute__((no_instrument_function))

static volatile sig_atomic_t signals;

UNTRACED static void note(int signal)
{
	(void)signal;
	signals++;
}

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

/* After the recorder's own work at the exit. */
UNTRACED __attribute__((destructor)) static void tell(void)
{
	printf("%d signals\n", (int)signals);
}

int main(int count, char **arguments)
{
	struct rlimit limit = {strtoul(arguments[1], NULL, 10), RLIM_INFINITY};

	if (count > 3) { /* else the kernel ends the process */
		signal(SIGXFSZ, note);
		signal(SIGPIPE, note);
	}
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = atoi(arguments[2]); i > 0; i--)
		work();
	return 4;
}
