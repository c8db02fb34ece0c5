/*
 * An independent count of calls: preloaded into a program built with
 * -finstrument-functions, it counts the entries of every function. At the program's exit it
 * writes "offset calls" for each to the file COUNTER_OUTPUT names. The offset counts from
 * where the function's module is loaded, as nm prints it for a position-independent
 * program.
 *
 * Works with programs of one thread with fewer than TABLE_SIZE functions.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TABLE_SIZE 65536u

static struct {
	void *function;
	uint64_t calls;
} table[TABLE_SIZE];

void __cyg_profile_func_enter(void *function, void *call_site)
{
	uint32_t at = (uint32_t)((uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15) >> 48);

	(void)call_site;
	while (table[at].function && table[at].function != function)
		at = (at + 1) % TABLE_SIZE;
	table[at].function = function;
	table[at].calls++;
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
}

static __attribute__((destructor)) void write_counts(void)
{
	const char *path = getenv("COUNTER_OUTPUT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;

	if (fd < 0) {
		dprintf(STDERR_FILENO, "counter: cannot write to COUNTER_OUTPUT\n");
		_exit(125);
	}
	for (uint32_t i = 0; i < TABLE_SIZE; i++) {
		Dl_info module;

		if (!table[i].function)
			continue;
		if (!dladdr(table[i].function, &module))
			module.dli_fbase = NULL;
		dprintf(fd, "%016lx %lu\n", (uintptr_t)table[i].function - (uintptr_t)module.dli_fbase,
		        table[i].calls);
	}
	close(fd);
}
