/*
 * many N ALIVE: N children, each a new image that calls work() once and ends with a status of its own. They
 * come ALIVE at a time: none of those ends before all are ready. Prints how many ended as they should.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

/* Its standard output is a pipe of the parent's, and so is its standard input. */
UNTRACED static int child(int number)
{
	char byte = 0;

	work();
	return write(1, &byte, 1) == 1 && read(0, &byte, 1) == 1 ? number % 100 : 100;
}

UNTRACED static pid_t have_child(int number, int go, int ready)
{
	char text[16];
	pid_t pid;

	snprintf(text, sizeof(text), "%d", number);
	pid = vfork();
	if (pid == 0) {
		dup2(go, 0);
		dup2(ready, 1);
		execl("/proc/self/exe", "child", text, NULL);
		_exit(101);
	}
	return pid;
}

UNTRACED int main(int argc, char **argv)
{
	int go[2], ready[2], good = 0;

	if (argc == 2)
		return child(atoi(argv[1]));
	if (argc != 3 || pipe2(go, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0)
		return 102;
	int count = atoi(argv[1]), alive = atoi(argv[2]);
	pid_t *pids = calloc((size_t)alive, sizeof(*pids));

	for (int first = 0; first < count; first += alive) {
		char byte = 0;
		int status;

		for (int i = 0; i < alive; i++)
			pids[i] = have_child(first + i, go[0], ready[1]);
		for (int i = 0; i < alive; i++)
			if (read(ready[0], &byte, 1) != 1)
				return 103;
		for (int i = 0; i < alive; i++)
			if (write(go[1], &byte, 1) != 1)
				return 104;
		for (int i = 0; i < alive; i++)
			good += waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) &&
			        WEXITSTATUS(status) == (first + i) % 100;
	}
	printf("%d\n", good);
	return 7;
}
