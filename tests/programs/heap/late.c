/* Blocks from before the recording, from between two recordings and from before a fork, freed later: late
 * START STOP, two commands for the shell. Prints of each process, as it ends, its pid and what lives in it:
 * bytes as the allocator counts them, and blocks. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 1000 };

static void *blocks[BLOCKS];
static size_t live_bytes, live_blocks;

static void allocate(int first, int end)
{
	for (int i = first; i < end; i++) {
		blocks[i] = malloc(500 + (size_t)i);
		live_bytes += malloc_usable_size(blocks[i]);
		live_blocks++;
	}
}

static void release(int first, int end)
{
	for (int i = first; i < end; i++) {
		live_bytes -= malloc_usable_size(blocks[i]);
		live_blocks--;
		free(blocks[i]);
	}
}

static void command(const char *text)
{
	if (system(text) != 0)
		abort();
}

static void say(void)
{
	dprintf(1, "%d %zu %zu\n", (int)getpid(), live_bytes, live_blocks);
}

/* The children end one after the other, so that each has books of its own. `is_raw`: made
 * by the system call itself; no function stands before it. */
static void child(int is_raw, int last)
{
	pid_t pid = is_raw ? (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0) : fork();

	if (pid == 0) {
		release(last - 250, last);
		allocate(last - 250, last - 200);
		if (last > 500)
			child(is_raw, last - 250);
		say();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		abort();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	allocate(0, 600);
	release(0, 100);
	command(argv[1]);
	release(100, 300);
	command(argv[2]);
	release(300, 400);
	allocate(0, 400);
	allocate(600, 1000);
	child(0, 1000);
	command(argv[1]);
	child(0, 1000);
	child(1, 750);
	release(0, 900);
	say();
	return 0;
}
