/* Allocates, and has a thread, thread-local storage and a destructor, of whatever libc is beside it. */
#include <pthread.h>
#include <stdlib.h>

static __thread int calls;

__attribute__((noinline)) static int inner(int x)
{
	void *volatile block = malloc(10);

	free(block);
	calls++;
	return x;
}

static void *thread(void *argument)
{
	inner(1);
	return argument;
}

int namespace_plugin(int x)
{
	pthread_t other;

	if (x % 10 == 5 && pthread_create(&other, NULL, thread, NULL) == 0)
		pthread_join(other, NULL);
	return inner(x) + calls;
}

__attribute__((destructor)) static void end(void)
{
	inner(0);
}
