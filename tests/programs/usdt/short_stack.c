/*
 * Comes to a probe with little of its stack left: 1 KiB, and a bit more each time up to 8
 * KiB. The first byte below the stack cannot be written. Prints how often it came to the
 * probe.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sdt.h>

#define PAGE  4096
#define BYTES (256 << 10)

static char *low;
static char text[2000];
static long count;

static __attribute__((noinline)) long leaf(long left, const char *first, const char *second)
{
	STAP_PROBE3(unit, deep, left, first, second);
	count++;
	return 3 * left + 1;
}

static __attribute__((noinline)) long come_to(long left)
{
	volatile char *here =
	        alloca((uintptr_t)__builtin_frame_address(0) - (uintptr_t)low - (uintptr_t)left);

	here[0] = 1;
	return leaf(left, text, text) + here[0];
}

static void *run(void *unused)
{
	(void)unused;
	leaf(BYTES, text, text);
	for (long left = 1024; left < 8192; left += 40)
		come_to(left);
	leaf(BYTES, text, text);
	return NULL;
}

int main(void)
{
	char *memory = mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	memset(text, 'a', sizeof(text) - 1);
	mprotect(memory, PAGE, PROT_NONE);
	low = memory + PAGE;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, low, BYTES);
	pthread_create(&thread, &attributes, run, NULL);
	pthread_join(thread, NULL);
	printf("%ld\n", count);
	return 0;
}
