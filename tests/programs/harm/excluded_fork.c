/*
 * An excluded signal handler forks inside recorded calls, and libc calls recorded functions
 * around the fork. The program ends after FORKS of them. The handler sets the timer again, so
 * that the program goes on between two forks, however long a fork takes.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 60 };

static volatile sig_atomic_t forks;

static __attribute__((noinline)) int work(int depth)
{
	return depth ? work(depth - 1) + 1 : 0;
}

static void prepare(void)
{
	work(1);
}

static void parent(void)
{
	work(2);
}

static __attribute__((no_instrument_function)) void set_timer(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 3000}}, NULL);
}

static void handler(int signal)
{
	int error = errno;
	pid_t child = fork();

	if (!child)
		_exit(1);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (++forks < FORKS)
		set_timer();
	errno = error;
	(void)signal;
}

int main(void)
{
	pthread_atfork(prepare, parent, NULL);
	signal(SIGALRM, handler);
	set_timer();
	while (forks < FORKS)
		work(50);
	return 0;
}
