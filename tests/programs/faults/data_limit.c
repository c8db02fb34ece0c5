/*
 * data_limit KIB THREADS [own]: allocates blocks of 1 KiB until there is no memory, and
 * calls leaf() after each. Then THREADS threads call it a hundred times each, all of them
 * alive at the same time; their stacks were there before. With "own" the program sets its
 * limit of data (RLIMIT_DATA) to KIB itself. Prints "FUNCTION<tab>CALLS" and, on standard
 * error, how many KiB it got and how many threads.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SILENT      __attribute__((no_instrument_function))
#define STACK_BYTES (64 << 10)

static long leaves, there, threads;

__attribute__((noinline)) static void leaf(void)
{
	__atomic_fetch_add(&leaves, 1, __ATOMIC_RELAXED);
}

/* Waits until all threads are there. A function that waits might be recorded or counted as lost, like a call. */
SILENT static void wait_for_all(void)
{
	__atomic_fetch_add(&there, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&there, __ATOMIC_RELAXED) < threads)
		sched_yield();
}

SILENT static void *thread(void *unused)
{
	for (int i = 0; i < 100; i++)
		leaf();
	wait_for_all();
	return unused;
}

/* Returns how many there were. Half of the blocks' memory is given back to malloc(), which keeps it. */
SILENT static long use_up(void)
{
	void **newest = NULL;
	long count = 0;

	for (void **block; (block = malloc(1 << 10)); count++) {
		*block = newest;
		newest = block;
		leaf();
	}
	for (int i = 0; newest && i < 1000; i++) {
		void **next = *newest;

		free(newest);
		newest = next && *next ? *next : NULL;
	}
	return count;
}

SILENT int main(int argc, char **argv)
{
	static char out[1 << 16], err[1 << 10];
	struct rlimit limit = {(rlim_t)atol(argv[1]) << 10, RLIM_INFINITY};
	long begun = 0, blocks;
	pthread_attr_t attributes;
	pthread_t *ids;
	char *stacks;

	threads = atol(argv[2]);
	ids = calloc((size_t)threads, sizeof(*ids));
	stacks = mmap(NULL, (size_t)threads * STACK_BYTES + 1, PROT_READ | PROT_WRITE,
	        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	setvbuf(stdout, out, _IOFBF, sizeof(out));
	setvbuf(stderr, err, _IOFBF, sizeof(err));
	pthread_attr_init(&attributes);
	if (argc > 3 && setrlimit(RLIMIT_DATA, &limit) != 0)
		return 1;
	blocks = use_up();
	for (; begun < threads; begun++) {
		pthread_attr_setstack(&attributes, stacks + begun * STACK_BYTES, STACK_BYTES);
		if (pthread_create(&ids[begun], &attributes, thread, NULL) != 0)
			return 1;
	}
	for (long i = 0; i < begun; i++)
		pthread_join(ids[i], NULL);
	printf("leaf\t%ld\n", leaves);
	fprintf(stderr, "%ld KiB, %ld threads\n", blocks, begun);
	return 0;
}
