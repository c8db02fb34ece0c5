/* Threads that come and go, one after the other, each with a block of its own. */
#include <pthread.h>
#include <stdlib.h>

static void *run(void *unused)
{
	free(malloc(10));
	return unused;
}

int main(void)
{
	for (int i = 0; i < 40; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}
