/* Does N things of each kind for each number N on standard input: calls leaf(), allocates
 * and frees 100 bytes, waits for a time, and has a child that calls leaf() too and exits
 * with 3, and waits for it. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static void *volatile block;

__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}

QUIET static void do_each_kind(void)
{
	leaf();
	block = malloc(100);
	free(block);
	usleep(20);
	if (fork() == 0) {
		leaf();
		_exit(3);
	}
	wait(NULL);
}

QUIET int main(void)
{
	char line[16] = "";

	(void)!write(1, "ready\n", 6);
	while (read(0, line, sizeof(line) - 1) > 0) {
		for (int i = atoi(line); i > 0; i--)
			do_each_kind();
		(void)!write(1, "done\n", 5);
	}
	return 0;
}
