/* counted: for each line "N" of its standard input, four threads call called() N times
 * each, and it prints how often called() was called in all since it started, by its own
 * count. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ulong calls;
static long wanted;

__attribute__((noinline)) void called(void);
void called(void)
{
	calls++;
}

static void *call(void *unused)
{
	for (long i = 0; i < wanted; i++)
		called();
	return unused;
}

int main(void)
{
	pthread_t threads[4];
	char line[32];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		wanted = atol(line);
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, call, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		printf("%lu\n", (unsigned long)calls);
		fflush(stdout);
	}
	return 0;
}
