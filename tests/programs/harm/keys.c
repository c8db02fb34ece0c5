/* Takes all keys for thread-specific data that there are, and uses the last one in a thread. Prints how many
 * they were. */
#include <pthread.h>
#include <stdio.h>

static pthread_key_t last;
static int destroyed;

static void destroy(void *value)
{
	destroyed += *(int *)value;
}

static void *run(void *value)
{
	void *before = pthread_getspecific(last);

	pthread_setspecific(last, value);
	return before;
}

int main(void)
{
	int keys = 0, one = 1;
	pthread_key_t key;
	pthread_t thread;
	void *before = &one;

	while (pthread_key_create(&key, destroy) == 0) {
		last = key;
		keys++;
	}
	printf("%d keys\n", keys);
	if (pthread_getspecific(last) || pthread_create(&thread, NULL, run, &one) != 0)
		return 1;
	pthread_join(thread, &before);
	printf("before: %s, destroyed: %d\n", before ? "something" : "nothing", destroyed);
	return 0;
}
