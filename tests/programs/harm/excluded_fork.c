/*
 * An excluded signal handler forks inside recorded calls, and libc calls recorded functions
 * around that. Ends after at least FORKS of these.
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

static void handler(int signal)
{
	int error = errno;
	pid_t child = fork();

	if (!child)
		_exit(1);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	forks++;
	errno = error;
	(void)signal;
}

int main(void)
{
	struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};

	pthread_atfork(prepare, parent, NULL);
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (forks < FORKS)
		work(50);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
