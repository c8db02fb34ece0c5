/* Whether a thread of this process waits for an object, by the kernel's word. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* Until the thread sleeps in a futex within the object: one of the tracer's own says nothing. */
__attribute__((no_instrument_function)) static void until_asleep(int tid, const void *object, size_t bytes)
{
	unsigned long address;
	char path[64], line[128];
	FILE *file;
	long number;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	do {
		sched_yield();
		number = -1;
		file = fopen(path, "r");
		if (!file || !fgets(line, sizeof(line), file))
			exit(2);
		fclose(file);
	} while (sscanf(line, "%ld %lx", &number, &address) != 2 || number != SYS_futex ||
	         address - (uintptr_t)object >= bytes);
}
