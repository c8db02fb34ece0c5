/*
 * Children of a process that is busy: eight threads call and fork at the same time, by fork() and by a raw
 * clone; and children that share the parent's memory, which call before they become or end.
 */
#include "count.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, FORKS = 12 };

extern char **environ;

UNTRACED static void *fork_often(void *unused)
{
	for (int i = 0; i < FORKS; i++) {
		nest(20);
		pid_t child = i % 2 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (child == 0) {
			nest(3);
			_exit(0);
		}
		nest(20);
		waitpid(child, NULL, 0);
	}
	return unused;
}

UNTRACED static int call_and_end(void *unused)
{
	(void)unused;
	nest(4);
	syscall(SYS_exit, 0);
	return 0;
}

/* Nothing here tells a tracer that the memory is the parent's. */
UNTRACED static void share_memory(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	char *const arguments[] = {"true", NULL};
	pid_t child;

	for (volatile int i = 0; i < FORKS; i++) {
		child = vfork();
		if (child == 0) {
			leaf();
			execv(i % 2 ? "/bin/true" : "/nowhere", arguments);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		leaf();
		child = clone(call_and_end, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
		waitpid(child, NULL, 0);
		leaf();
		posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ);
		waitpid(child, NULL, 0);
		leaf();
	}
}

UNTRACED int main(void)
{
	pthread_t threads[THREADS];

	begin_counting();
	share_memory();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fork_often, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	report();
	return 0;
}
