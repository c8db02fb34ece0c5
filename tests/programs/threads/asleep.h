/* Waits until a thread sleeps, by what the kernel says of it. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns when the thread of a process sleeps in a futex within the object. A futex of the
 * tracer's own does not count. */
__attribute__((no_instrument_function)) static void until_asleep_in(
        int process, int tid, const void *object, size_t bytes)
{
	unsigned long address;
	char path[64], line[128];
	FILE *file;
	long number;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", process, tid);
	do {
		sched_yield();
		number = -1;
		file = fopen(path, "r");
		if (!file || !fgets(line, sizeof(line), file))
			_exit(2);
		fclose(file);
	} while (sscanf(line, "%ld %lx", &number, &address) != 2 || number != SYS_futex ||
	         address - (uintptr_t)object >= bytes);
}

/* The same for a thread of this process. */
__attribute__((no_instrument_function, unused)) static void until_asleep(
        int tid, const void *object, size_t bytes)
{
	until_asleep_in(getpid(), tid, object, bytes);
}
