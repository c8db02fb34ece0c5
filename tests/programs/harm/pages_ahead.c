/*
 * Fills so much of the trace buffer that pages are made ready ahead of it, and ends once at least READY_KIB
 * of the buffer are there, by the kernel's own account of this process's memory.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UNTRACED  __attribute__((no_instrument_function))
#define READY_KIB 6000L

static volatile long calls;

__attribute__((noinline)) static void leaf(void)
{
	calls++;
}

/* The size of the buffer in KiB: the memory that fxtrun hands over, or the shared memory
 * that the library maps. */
UNTRACED static long resident(void)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	char line[512];
	long sum = 0, here;
	int is_buffer = 0;

	while (fgets(line, sizeof(line), maps)) {
		if (strchr(line, '/') || strchr(line, '['))
			is_buffer = strstr(line, "fxt-buffer") || strstr(line, "/dev/zero");
		if (is_buffer && sscanf(line, "Rss: %ld kB", &here) == 1)
			sum += here;
	}
	fclose(maps);
	return sum;
}

UNTRACED int main(void)
{
	for (int i = 0; i < 60000; i++)
		leaf();
	while (resident() < READY_KIB) {
		leaf();
		usleep(1000);
	}
	printf("ready\n");
	return 0;
}
