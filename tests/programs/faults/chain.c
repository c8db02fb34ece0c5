/*
 * chain GENERATIONS [KIB [DESCRIPTORS]]: a child that has a child, and so on, GENERATIONS
 * times. A second argument other than 0 limits the address space of each, a third one the
 * number of descriptors. All of them make one call of leaf() first. Prints how many there
 * were, and by how many KiB the address space of the last is larger than that of the first
 * child. Status 1: one could not be made, or died.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENT __attribute__((no_instrument_function))

struct count {
	long generations, first, last;
};

__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}

SILENT static long address_space(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld", &pages) != 1)
		exit(1);
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

SILENT static int descend(long generations, struct count *count, int pipe)
{
	for (long made = 0;; made++) {
		int status;
		pid_t child;

		leaf();
		count->generations = made;
		count->last = address_space();
		if (made == 1)
			count->first = count->last;
		if (made == generations)
			return write(pipe, count, sizeof(*count)) != sizeof(*count);
		child = fork();
		if (child > 0)
			return waitpid(child, &status, 0) != child || status != 0;
		if (child < 0)
			return 1;
	}
}

SILENT static int limit_own(int resource, rlim_t value)
{
	return value ? setrlimit(resource, &(struct rlimit){value, value}) : 0;
}

SILENT int main(int argc, char **argv)
{
	struct count count = {0};
	int ends[2], first = getpid();

	if (pipe(ends) != 0 || limit_own(RLIMIT_AS, argc > 2 ? (rlim_t)atol(argv[2]) << 10 : 0) != 0 ||
	        limit_own(RLIMIT_NOFILE, argc > 3 ? (rlim_t)atol(argv[3]) : 0) != 0 ||
	        descend(atol(argv[1]), &count, ends[1]) != 0)
		return 1;
	if (getpid() == first) {
		if (read(ends[0], &count, sizeof(count)) != sizeof(count))
			return 1;
		printf("%ld children, %ld KiB more\n", count.generations, count.last - count.first);
	}
	return 0;
}
