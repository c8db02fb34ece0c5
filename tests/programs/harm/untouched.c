/*
 * Prints what a program has to itself, before, while and after it allocates deep in its calls, in threads and
 * in handlers: errno, descriptors, signal masks, keys, timers that start threads, and two files that have the
 * first numbers that are free.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int ticks;

static void print_state(const char *when)
{
	uint64_t mask = 0;

	printf("%s:", when);
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			printf(" %d", fd);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask)); /* libc's own signals too */
	printf(", mask %llx\n", (unsigned long long)mask);
}

static __attribute__((noinline)) int allocate(int depth)
{
	volatile char room[1000];
	void *block;

	room[0] = (char)depth;
	errno = 0;
	block = malloc(30);
	if (errno)
		printf("malloc left errno %d\n", errno);
	free(block);
	if (errno)
		printf("free left errno %d\n", errno);
	return depth ? allocate(depth - 1) + room[0] : 0;
}

static void *in_thread(void *unused)
{
	allocate(20);
	return unused;
}

static void tick(union sigval unused)
{
	(void)unused;
	allocate(5);
	ticks++;
}

static void allocate_everywhere(void)
{
	pthread_t threads[4];

	allocate(50);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void wait_for_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
	struct itimerspec every = {{0, 1000000}, {0, 1000000}};
	timer_t timer;

	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	while (ticks < 5)
		usleep(1000);
	timer_delete(timer);
}

static void use_first_numbers(void)
{
	struct stat status;
	int in, out;

	close_range(3, ~0u, 0);
	in = open("in", O_CREAT | O_TRUNC | O_RDWR, 0600);
	out = open("out", O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (write(in, "0123456789", 10) != 10)
		exit(1);
	lseek(in, 0, SEEK_SET);
	allocate_everywhere();
	fstat(out, &status);
	printf("files %d and %d: read up to %ld, has %ld bytes\n", in, out, (long)lseek(in, 0, SEEK_CUR),
	        (long)status.st_size);
}

int main(void)
{
	int at_start = errno, keys = 0;
	pthread_key_t key;

	printf("errno %d\n", at_start);
	print_state("at first");
	allocate_everywhere();
	print_state("later");
	wait_for_timer();
	use_first_numbers();
	print_state("at last");
	while (pthread_key_create(&key, NULL) == 0)
		keys++;
	printf("%d keys\n", keys);
	allocate_everywhere();
	return 0;
}
