/*
 * Calls that wait, and do not return as usual: left by a jump out of a handler, interrupted, restarted, left
 * by the end of their thread; and those of children. Prints what each came to, which is the same without a
 * tracer.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { JUMPS = 100 };

static int ends[2];
static volatile int tid, jumps, is_cleaned, is_done;
static sigjmp_buf target;

/* Until the thread sleeps in a system call that is not of the tracer. */
UNTRACED static void until_asleep(void)
{
	char path[64], line[128];
	long number = -1;

	do {
		sched_yield();
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
		FILE *file = tid ? fopen(path, "r") : NULL;

		if (file) {
			if (!fgets(line, sizeof(line), file) || sscanf(line, "%ld", &number) != 1)
				number = -1;
			fclose(file);
		}
	} while (number < 0 || number == SYS_futex);
}

static void jump(int number)
{
	jumps++;
	(void)number;
	siglongjmp(target, 1);
}

static void note(int number)
{
	(void)number;
}

UNTRACED static void on(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(signal, &action, NULL);
}

static void wait_and_jump(void)
{
	char byte;

	if (sigsetjmp(target, 1) == 0 && read(ends[0], &byte, 1) != -2)
		abort();
}

static ssize_t wait_once(void)
{
	char byte;

	errno = 0;
	return read(ends[0], &byte, 1);
}

static void clean_up(void *unused)
{
	(void)unused;
	is_cleaned = write(ends[1], "c", 1) == 1;
}

static void wait_for_cancellation(void)
{
	struct pollfd none = {.fd = -1};

	pthread_cleanup_push(clean_up, NULL);
	poll(&none, 1, -1);
	pthread_cleanup_pop(0);
}

static void *thread(void *unused)
{
	ssize_t result;

	(void)unused;
	tid = gettid();
	for (int i = 0; i < JUMPS; i++)
		wait_and_jump();
	on(SIGUSR1, note, 0);
	is_done = 1;
	result = wait_once();
	printf("interrupted: %zd, %s\n", result, strerror(errno));
	on(SIGUSR1, note, SA_RESTART);
	is_done = 2;
	result = wait_once();
	printf("restarted: %zd, %s\n", result, strerror(errno));
	is_done = 3;
	wait_for_cancellation();
	return NULL;
}

static void in_children(void)
{
	char bytes[3] = "";
	int status;

	/* vfork is what this is about. */
	pid_t child = vfork();
	if (child == 0)
		_exit(write(ends[1], "v", 1) == 1 ? 3 : 4);
	waitpid(child, &status, 0);
	printf("vfork: %d\n", WEXITSTATUS(status));
	child = fork();
	if (child == 0) {
		usleep(1000);
		_exit(write(ends[1], "f", 1) == 1 ? 5 : 6);
	}
	waitpid(child, &status, 0);
	if (read(ends[0], bytes, 2) != 2)
		abort();
	printf("fork: %d, %s\n", WEXITSTATUS(status), bytes);
}

int main(void)
{
	pthread_t other;
	char byte;
	void *end;

	if (pipe(ends) != 0)
		return 2;
	on(SIGUSR1, jump, 0);
	pthread_create(&other, NULL, thread, NULL);
	for (int i = 0; i < JUMPS; i++) {
		until_asleep();
		pthread_kill(other, SIGUSR1);
		while (jumps == i)
			sched_yield();
	}
	printf("jumps: %d\n", jumps);
	fflush(stdout);
	while (is_done < 1)
		sched_yield();
	until_asleep();
	pthread_kill(other, SIGUSR1);
	while (is_done < 2)
		sched_yield();
	until_asleep();
	pthread_kill(other, SIGUSR1);
	if (write(ends[1], "r", 1) != 1)
		return 2;
	while (is_done < 3)
		sched_yield();
	until_asleep();
	pthread_cancel(other);
	pthread_join(other, &end);
	printf("cancelled: %d, cleaned up: %d\n", end == PTHREAD_CANCELED, is_cleaned);
	if (read(ends[0], &byte, 1) != 1 || byte != 'c')
		return 2;
	in_children();
	fflush(stdout);
	pthread_exit(NULL);
}
