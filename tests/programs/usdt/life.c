/*
 * Probes in threads, forked children and libraries that come and go, and one with a semaphore.
 * With "orders" it reads lines: each makes one tick, and a guarded one while the semaphore says
 * so, and prints the semaphore.
 *
 *     life LIBRARY THREADS TICKS    prints how many ticks it made, by process and thread number
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define _SDT_HAS_SEMAPHORES 1
unsigned short unit_guarded_semaphore __attribute__((section(".probes")));
unsigned short unit_tick_semaphore __attribute__((section(".probes")));
#include <sys/sdt.h>

static long ticks;

static __attribute__((noinline)) void tick(long thread, long number)
{
	STAP_PROBE2(unit, tick, thread, number);
}

static __attribute__((noinline)) void guarded(int value)
{
	if (__builtin_expect(unit_guarded_semaphore, 0))
		STAP_PROBE1(unit, guarded, value * 3);
}

static void *run(void *number)
{
	for (long i = 0; i < ticks; i++)
		tick((long)number, i);
	return NULL;
}

static void plug(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*function)(int) = library ? (int (*)(int))dlsym(library, "plugged") : NULL;

	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < 5; i++)
		function(i);
	dlclose(library);
}

static int follow_orders(void)
{
	char line[64];

	for (int i = 0; fgets(line, sizeof(line), stdin); i++) {
		printf("%s", line);
		tick(0, i);
		guarded(i);
		printf("semaphore %d\n", unit_guarded_semaphore);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	long threads;
	pthread_t ids[64];
	pid_t child;

	if (argc > 1 && strcmp(argv[1], "orders") == 0)
		return follow_orders();
	if (argc < 4)
		return 2;
	threads = atol(argv[2]);
	ticks = atol(argv[3]);
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, run, (void *)(i + 1));
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < 3; i++)
		plug(argv[1]);
	child = fork();
	run((void *)(child ? 100L : 200L));
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 7; i++)
		guarded(i);
	return 0;
}
