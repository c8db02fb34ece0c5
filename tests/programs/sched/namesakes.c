/*
 * In a PID namespace, with the /proc of outside: a thread gets the number there that
 * another thread of the process has outside. The other one, "busy", leaves its CPU hundreds
 * of times. Its namesake, "idle", waits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { TURNS = 300 };

static sem_t is_there, go_on, turn[2];
static int outside;

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

UNTRACED static void *busy(void *unused)
{
	char link[64] = "";
	const char *number;

	prctl(PR_SET_NAME, "busy");
	work();
	if (readlink("/proc/thread-self", link, sizeof(link) - 1) > 0 && (number = strrchr(link, '/')))
		outside = atoi(number + 1);
	sem_post(&is_there);
	for (int i = 0; i < TURNS; i++) {
		sem_wait(&turn[0]);
		work();
		sem_post(&turn[1]);
	}
	return unused;
}

UNTRACED static void *idle(void *unused)
{
	prctl(PR_SET_NAME, "idle");
	work();
	printf("%s\n", syscall(SYS_gettid) == outside ? "namesakes" : "others");
	sem_post(&is_there);
	sem_wait(&go_on);
	return unused;
}

UNTRACED int main(void)
{
	pthread_t threads[2];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);

	pthread_create(&threads[0], NULL, busy, NULL);
	sem_wait(&is_there);
	if (fd < 0 || dprintf(fd, "%d", outside - 1) < 0)
		return 77;
	pthread_create(&threads[1], NULL, idle, NULL);
	sem_wait(&is_there);
	for (int i = 0; i < TURNS; i++) {
		sem_post(&turn[0]);
		sem_wait(&turn[1]);
	}
	sem_post(&go_on);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
