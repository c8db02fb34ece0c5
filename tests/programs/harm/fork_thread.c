/* A forked child makes its first calls on a new thread, then also on the forked one. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) void in_thread(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void in_child(void)
{
	__asm__ volatile("");
}

static void *call(void *unused)
{
	for (int i = 0; i < 10; i++)
		in_thread();
	return unused;
}

int main(void)
{
	pid_t child = fork();
	pthread_t thread;

	if (child == 0) {
		for (int i = 0; i < 2; i++) {
			pthread_create(&thread, NULL, call, NULL);
			pthread_join(thread, NULL);
		}
		in_child();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
