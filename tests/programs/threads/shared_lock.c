/*
 * Two processes share a lock. A child holds it until the kernel shows that the parent waits
 * for it. Prints "waiter<tab>holder", the numbers of the two.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "asleep.h"

#define UNTRACED __attribute__((no_instrument_function))

static struct shared {
	pthread_mutex_t lock;
	volatile int is_held;
} * shared;

__attribute__((noinline)) static void hold(void)
{
	pthread_mutex_lock(&shared->lock);
	shared->is_held = 1;
	until_asleep_in(getppid(), getppid(), &shared->lock, sizeof(shared->lock));
	pthread_mutex_unlock(&shared->lock);
}

__attribute__((noinline)) static void want(void)
{
	pthread_mutex_lock(&shared->lock);
	pthread_mutex_unlock(&shared->lock);
}

int main(void)
{
	pthread_mutexattr_t attributes;
	pid_t child;
	int status;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->lock, &attributes);
	child = fork();
	if (child == 0) {
		hold();
		_exit(0);
	}
	while (!shared->is_held)
		sched_yield();
	want();
	waitpid(child, &status, 0);
	printf("%d\t%d\n", getpid(), child);
	return status;
}
