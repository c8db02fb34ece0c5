/*
 * rounds COUNTS [US]: two threads, "round 0" and "round 1", count rounds until the program
 * is killed, neither of them far ahead of the other: the last rounds of both fit into a
 * small buffer, whichever thread runs. A round calls digit_0 ... digit_f for each of the
 * eight hexadecimal digits of its number, the highest first; once it has returned, its
 * number is stored in the file COUNTS, four bytes a thread. Prints "ready" when both have
 * begun. Between rounds are US microseconds, or a millisecond: a trace does not grow large
 * while a busy machine has other things to do.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define CALL     __attribute__((noinline))

enum { AHEAD = 50 };

static volatile uint32_t *counts;
static volatile int sum;
static useconds_t pause_us = 1000;

#define DIGIT(d)                         \
	CALL static void digit_##d(void) \
	{                                \
		sum += #d[0];            \
	}
DIGIT(0)
DIGIT(1)
DIGIT(2)
DIGIT(3)
DIGIT(4)
DIGIT(5)
DIGIT(6)
DIGIT(7)
DIGIT(8)
DIGIT(9)
DIGIT(a)
DIGIT(b)
DIGIT(c)
DIGIT(d)
DIGIT(e)
DIGIT(f)

static void (*const digits[])(void) = {digit_0, digit_1, digit_2, digit_3, digit_4, digit_5, digit_6, digit_7,
        digit_8, digit_9, digit_a, digit_b, digit_c, digit_d, digit_e, digit_f};

CALL static void one_round(uint32_t number)
{
	for (int shift = 28; shift >= 0; shift -= 4)
		digits[number >> shift & 15]();
}

UNTRACED static void *work(void *own)
{
	long n = (long)own;
	char name[16];

	snprintf(name, sizeof(name), "round %ld", n);
	pthread_setname_np(pthread_self(), name);
	for (uint32_t number = 1;; number++) {
		one_round(number);
		counts[n] = number;
		do
			usleep(pause_us);
		while (number > counts[!n] + AHEAD);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc >= 2 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, 8) != 0)
		return 1;
	counts = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return 1;
	if (argc > 2)
		pause_us = (useconds_t)strtoul(argv[2], NULL, 10);
	for (long i = 0; i < 2; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	while (!counts[0] || !counts[1])
		usleep(1000);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
