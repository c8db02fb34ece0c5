/*
 * generations COUNT: a line of COUNT children. The handler of a fast timer makes them
 * during calls of their parent, and so mostly in a hook, which continues in the child.
 * Every parent awaits its child. Prints how much more address space the last one has than
 * the first, in kB.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENT __attribute__((no_instrument_function))

static volatile int wanted, generation;
static volatile int is_armed;
static long first;

__attribute__((noinline)) static int call(int number)
{
	return number + 1;
}

SILENT static long address_space(void)
{
	char line[64];
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || !fgets(line, sizeof(line), file))
		_exit(1);
	fclose(file);
	pages = atol(line);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

SILENT static void tick_soon(void)
{
	const struct itimerval soon = {.it_value = {0, 500}};

	setitimer(ITIMER_REAL, &soon, NULL);
}

SILENT static void make_child(int signal)
{
	int status;
	pid_t child;

	(void)signal;
	if (generation == wanted)
		return;
	child = fork();
	if (child < 0)
		_exit(1);
	if (child > 0) {
		waitpid(child, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
	}
	generation++;
	is_armed = 0;
}

SILENT int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = make_child, .sa_flags = SA_RESTART};

	wanted = argc == 2 ? atoi(argv[1]) : 0;
	call(0);
	first = address_space();
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; generation < wanted; i++) {
		call(i); /* what is the child's own begins with its first call */
		if (is_armed)
			continue;
		is_armed = 1; /* before the handler may come, and be for a child that is not */
		tick_soon();
	}
	for (int i = 0; i < 1000; i++)
		call(i);
	printf("%ld\n", address_space() - first);
	return 0;
}
