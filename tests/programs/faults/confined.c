/*
 * confined THREADS DEPTH [KIB]: in each of so many threads at the same time one call of leaf(), and of
 * nested() as many as it is deep. With a third argument the program first limits its own address space to so
 * much, and then uses 32 MiB. Prints "FUNCTION<tab>CALLS"; status 1: something could not be had.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SILENT __attribute__((no_instrument_function))

static pthread_barrier_t all;
static long leaves, nests;
static int depth;

__attribute__((noinline)) static void leaf(void)
{
	__atomic_fetch_add(&leaves, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static int nested(int inside)
{
	__atomic_fetch_add(&nests, 1, __ATOMIC_RELAXED);
	return inside > 1 ? nested(inside - 1) + 1 : 0;
}

SILENT static void *thread(void *unused)
{
	leaf();
	pthread_barrier_wait(&all);
	nested(depth);
	pthread_barrier_wait(&all);
	return unused;
}

SILENT static void limit_own(rlim_t kib)
{
	struct rlimit limit = {kib << 10, kib << 10};
	char *memory;

	if (setrlimit(RLIMIT_AS, &limit) != 0 || !(memory = malloc(32 << 20)))
		exit(1);
	memset(memory, 1, 32 << 20);
	free(memory);
}

SILENT int main(int argc, char **argv)
{
	int threads = atoi(argv[1]);
	pthread_t *ids = calloc((size_t)threads, sizeof(*ids));
	pthread_attr_t attributes;

	depth = atoi(argv[2]);
	if (argc > 3)
		limit_own((rlim_t)atol(argv[3]));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536 + (size_t)depth * 256);
	pthread_barrier_init(&all, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], &attributes, thread, NULL) != 0)
			return 1;
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("leaf\t%ld\nnested\t%ld\n", leaves, nests);
	return 0;
}
