/*
 * In a PID namespace of its own: the kernel gives the same number to threads that run one
 * after the other. The n-th is named "n" and calls n times.
 */
#include "count.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 300, NUMBER = 1000 };

static volatile int others;

UNTRACED static void *live(void *argument)
{
	int n = (int)(long)argument;
	char name[16];

	others += syscall(SYS_gettid) != NUMBER;
	snprintf(name, sizeof(name), "%d", n);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < n; i++)
		leaf();
	return NULL;
}

UNTRACED int main(void)
{
	pthread_t thread;

	begin_counting();
	for (int i = 1; i <= THREADS; i++) {
		char text[16];
		int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
		int bytes = snprintf(text, sizeof(text), "%d", NUMBER - 1);

		if (fd < 0 || write(fd, text, (size_t)bytes) != bytes)
			return 77;
		close(fd);
		pthread_create(&thread, NULL, live, (void *)(long)i);
		pthread_join(thread, NULL);
		/* The kernel still holds the number of a thread that was joined a moment ago. */
		while (syscall(SYS_tgkill, getpid(), NUMBER, 0) == 0)
			sched_yield();
	}
	printf("%d others\n", others);
	return 0;
}
