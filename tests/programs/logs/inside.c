/*
 * Three threads write lines to the standard error. Each line names the function that writes
 * it. Every second line is said by <fxt/trace.h> instead.
 */
#include <fxt/trace.h>
#include <pthread.h>
#include <stdio.h>

#define TIMES 50

static void leaf(int thread, int i)
{
	fprintf(stderr, "leaf %d %d\n", thread, i);
}

static void quiet(void)
{
	__asm__ volatile("");
}

static void outer(int thread, int i)
{
	char text[32];

	snprintf(text, sizeof(text), "outer %d %d", thread, i);
	quiet();
	leaf(thread, 2 * i);
	FXT_LOG(text);
	leaf(thread, 2 * i + 1);
	quiet();
}

static void *run(void *number)
{
	for (int i = 0; i < TIMES; i++)
		outer(*(int *)number, i);
	fputs("run\n", stderr);
	return NULL;
}

int main(void)
{
	static int numbers[3] = {0, 1, 2};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, &numbers[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	fputs("main\n", stderr);
	return 0;
}
