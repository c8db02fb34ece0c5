/*
 * Writes whole lines to its standard error, in many ways and by several threads:
 * lines THREADS LINES
 *
 * Each line begins with the number of the thread that writes it, so the output tells who
 * wrote what. Fails if a call changes errno.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int lines;

static int me(void)
{
	return (int)syscall(SYS_gettid);
}

static void in_handler(int signal)
{
	char line[32];
	int bytes = snprintf(line, sizeof(line), "%d handles %d\n", me(), signal);

	if (write(2, line, (size_t)bytes) != bytes)
		abort();
}

static void write_parts(int i)
{
	char head[16], tail[16];
	struct iovec parts[] = {{head, 0}, {tail, 0}, {"\n", 1}};

	parts[0].iov_len = (size_t)sprintf(head, "%d wri", me());
	parts[1].iov_len = (size_t)sprintf(tail, "tev %d", i);
	if (writev(2, parts, 3) < 0)
		abort();
}

static void *write_lines(void *unused)
{
	errno = EDOM;
	for (int i = 0; i < lines; i++) {
		fprintf(stderr, "%d fprintf %d\n", me(), i);
		dprintf(2, "%d dprintf %d\n", me(), i);
		write_parts(i);
		if (i % 16 == 0)
			raise(SIGUSR1);
	}
	if (errno != EDOM)
		abort();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int count = argc > 1 ? atoi(argv[1]) : 1, i;

	lines = argc > 2 ? atoi(argv[2]) : 1;
	signal(SIGUSR1, in_handler);
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, write_lines, NULL);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (fork() == 0)
		_exit(write_lines(NULL) != NULL);
	wait(NULL);
	return 0;
}
