/*
 * handler_forks fork|_Fork|clone CHILDREN: the handler of a fast timer makes children
 * during calls and allocations of its parent, and so in its hooks; "clone" is the system
 * call alone. The children continue the interrupted code for a thousand calls. Every second
 * one calls in the handler first, and every fourth one has a child of its own in the same
 * way. Another thread calls and allocates at the same time. Prints a line for each process,
 * "PID CALLS INSIDE": how many calls began in it, and whether it was made inside a further
 * one; and "other CALLS" for that thread. Status 1: a child could not be made; 2: one did
 * not end as it should, which a message says.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "forks.h"

#define CALLS 1000

static volatile int generation, made; /* made: children of this process */
static volatile int wanted;
static volatile unsigned long others;
static volatile int is_over;

__attribute__((noinline)) static int nested(int inside)
{
	arrived++;
	CALL(leaf());
	return inside > 0 ? CALL(nested(inside - 1)) + 1 : 0;
}

__attribute__((noinline)) static void other(void)
{
	others++;
}

SILENT static void tick_every(int microseconds)
{
	struct itimerval every = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &every, NULL);
}

SILENT static void tick(int signal)
{
	unsigned place, before, inside;
	long child;

	(void)signal;
	if (made == wanted)
		return;
	place = next_place();
	made++;
	before = arrived;
	inside = begun - arrived;
	child = make_child();
	if (child < 0)
		_exit(1);
	if (child > 0)
		return;
	begin(place, before, inside);
	generation++;
	made = 0;
	wanted = generation == 1 && place % 4 == 0;
	if (place % 2)
		in_handler();
	if (wanted)
		tick_every(211);
}

SILENT static void *call_beside(void *unused)
{
	while (!is_over) {
		void *volatile memory = malloc(48);

		other();
		free(memory);
		usleep(20);
	}
	return unused;
}

SILENT static int children_died(void)
{
	int status, died = 0;
	pid_t child;

	while ((child = wait(&status)) > 0)
		if (status != 0) {
			fprintf(stderr, "%d: status %#x\n", (int)child, (unsigned)status);
			died++;
		}
	return died;
}

SILENT int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	sigset_t alarm_only;
	pthread_t thread;
	int died;

	if (argc != 3)
		return 1;
	begin_first(argv[1]);
	wanted = atoi(argv[2]);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_only, NULL);
	pthread_create(&thread, NULL, call_beside, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
	sigaction(SIGALRM, &action, NULL);
	tick_every(307);
	while (made < wanted || (generation && arrived + processes[own].calls < CALLS)) {
		void *volatile memory = malloc(64);

		CALL(nested(20));
		free(memory);
	}
	tick_every(0);
	died = children_died();
	processes[own].calls += arrived + handled;
	if (generation)
		_exit(died ? 2 : 0);
	is_over = 1;
	pthread_join(thread, NULL);
	report_processes();
	printf("other %lu\n", others);
	return died ? 2 : 0;
}
