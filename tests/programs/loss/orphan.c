/*
 * orphan child|grandchild|image: a child outlives its parent and makes calls. It has no
 * descriptor left to ask for memory of its own.
 *
 *   child       it is the program's
 *   grandchild  it has a child in turn, which outlives it in the same way
 *   image       the same as child, of a new image of the program
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CALLS   1000
#define QUIETLY __attribute__((no_instrument_function))

static volatile int sum;

__attribute__((noinline)) void in_orphan(int i)
{
	sum += i;
}

/* Whether who has us now, fxtrun, still has the memory of a process that it recorded. */
QUIETLY static bool is_memory_kept(void)
{
	static char maps[1 << 20], path[64];
	ssize_t bytes, all = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", getppid());
	fd = open(path, O_RDONLY);
	while (fd >= 0 && (bytes = read(fd, maps + all, sizeof(maps) - 1 - (size_t)all)) > 0)
		all += bytes;
	if (fd >= 0)
		close(fd);
	maps[all] = 0;
	return strstr(maps, "fxt-buffer");
}

/* Nothing in here has the child recorded yet. */
QUIETLY static void await_end_of_parent(pid_t parent)
{
	while (getppid() == parent || is_memory_kept())
		sched_yield();
}

/* Returns only in a child, after its parent has ended. */
QUIETLY static void become_orphan(void)
{
	const struct rlimit none = {3, 3};
	pid_t parent = getpid();

	if (fork() != 0)
		_exit(0);
	await_end_of_parent(parent);
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		_exit(1);
	for (int i = 0; i < CALLS; i++)
		in_orphan(i);
}

QUIETLY int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (strcmp(argv[1], "image") == 0) {
		execl(argv[0], argv[0], "child", NULL);
		return 1;
	}
	become_orphan();
	if (strcmp(argv[1], "grandchild") == 0)
		become_orphan();
	return 0;
}
