/*
 * A library that works in its constructor, as EARLY says, and counts what it does: early_report() prints
 * "function calls", then the blocks it allocated and their bytes. With RESOLVES a resolver of an indirect
 * function calls and allocates too, while the loader relocates the library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline, unused, visibility("hidden")))

static struct counts {
	unsigned long steps, threads, blocks, bytes;
} own, *counts = &own;

KEPT void early_step(void)
{
	__atomic_add_fetch(&counts->steps, 1, __ATOMIC_RELAXED);
}

UNTRACED static void *keep(size_t bytes)
{
	counts->blocks++;
	counts->bytes += bytes;
	return malloc(bytes);
}

UNTRACED static void work(void)
{
	static void *volatile kept[100];

	for (int i = 0; i < 1000; i++)
		early_step();
	for (size_t i = 0; i < 100; i++)
		kept[i] = keep(50000 + i);
	for (size_t i = 0; i < 50; i++)
		free(kept[i]);
}

static void *early_thread(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&counts->threads, 1, __ATOMIC_RELAXED);
	early_step();
	return NULL;
}

UNTRACED static void thread(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, early_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* The child counts in the same memory. */
UNTRACED static void divide(void)
{
	struct counts *shared =
	        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*shared = own;
	counts = shared;
	if (fork() == 0) {
		early_step();
		_exit(0);
	}
	wait(NULL);
}

UNTRACED void early_report(void)
{
	if (counts->threads)
		printf("early_thread\t%lu\n", counts->threads);
	printf("early_step\t%lu\n", counts->steps);
	printf("%lu %lu\n", counts->blocks, counts->bytes);
	fflush(stdout);
}

UNTRACED __attribute__((constructor)) static void early_construct(void)
{
	const char *how = getenv("EARLY");

	how = how ? how : "";
	if (strstr(how, "setenv"))
		setenv("EARLY_TOO", "1", 1);
	if (strstr(how, "clearenv"))
		clearenv();
	if (strstr(how, "open") && !dlopen("../opened.so", RTLD_NOW))
		abort();
	if (strstr(how, "thread"))
		thread();
	if (strstr(how, "fork"))
		divide();
	work();
	if (strstr(how, "exit")) {
		early_report();
		exit(3);
	}
}

#ifdef RESOLVES
UNTRACED static void implementation(void)
{
}

UNTRACED static __attribute__((used)) void (*resolve(void))(void)
{
	early_step();
	early_step();
	free(malloc(100));
	return implementation;
}

/* The last of the library that the loader relocates, if no call goes by way of a table of its own
 * (-fno-plt). */
static void early_indirect(void) __attribute__((ifunc("resolve")));
void (*early_pointer)(void) = early_indirect;
#endif
